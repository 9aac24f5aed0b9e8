/** Checks that closed and dropped connections leak no memory, listeners or timers. */

import { getEventListeners, setMaxListeners } from 'node:events'
import { getActiveResourcesInfo } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from '@mcpx/client'
import { createDuplex, type Revision } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { createServer, type Server } from '@mcpx/server'
import { waitForTasks } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length

/** The allowed growth per connection in bytes; less is noise. */
const MOST_BYTES = 64

/** Returns the smallest heap size of several garbage collections. */
async function heap(): Promise<number> {
  const sizes: number[] = []
  for (let times = 0; times < 4; times += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    sizes.push(process.memoryUsage().heapUsed)
  }
  return Math.min(...sizes)
}

/** Deliberate leaks, which show that the check finds them. */
interface Leak {
  /** Keeps the metadata of each call. */
  readonly calls?: boolean
  /** Does not remove listeners for changes. */
  readonly listeners?: boolean
  /** Does not remove a listener on the application's signal. */
  readonly signals?: boolean
  /** Does not clear a timer. */
  readonly timers?: ReturnType<typeof setTimeout>[]
}

/** A server that counts its change listeners. */
function createCountingServer(leak: Leak) {
  const counts = { listeners: 0, most: 0, subscribed: 0, calls: 0 }
  const kept: unknown[] = []
  const handler = {
    changes(_listener: unknown) {
      counts.listeners += 1
      counts.subscribed += 1
      counts.most = Math.max(counts.most, counts.listeners)
      return () => {
        if (leak.listeners !== true) counts.listeners -= 1
      }
    },
  }
  const server = createServer({ name: 'leaks', version: '1' }, handler).tool('t', {}, async (_args, ctx) => {
    counts.calls += 1
    if (leak.calls === true) kept.push(ctx.meta, {})
    await ctx.progress(1)
    return 'x'
  })
  return { server: server as unknown as Server, counts, kept }
}

interface Use {
  readonly server: Server
  readonly revision: Revision
  /** The signal of an application, which exists longer than its connections. */
  readonly signal: AbortSignal
  readonly leak: Leak
}

/** How a connection ends: the client closes it, the server drops it, or both in that order. */
type End = 'closed' | 'dropped' | 'dropped and closed'
const ends: readonly End[] = ['closed', 'dropped', 'dropped and closed']

async function useOnce({ server, revision, signal, leak }: Use, end: End | undefined): Promise<void> {
  const [clientEnd, serverEnd] = createChannelPair()
  const serverConnection = createDuplex(serverEnd, { responder: server })
  const connector = { connect: (options: object) => createDuplex(clientEnd, options) }
  const client = await connect(connector, { era: revision, signal })
  const listening = client.listen({ toolsListChanged: true }, { signal })
  await listening.ready
  await client.callTool('t', {}, { onProgress: () => {}, signal })
  if (leak.signals === true) signal.addEventListener('abort', () => {})
  leak.timers?.push(setTimeout(() => {}, 60_000))
  if (end !== 'closed') {
    await serverEnd.close()
    await serverConnection.closed
  }
  if (end !== 'dropped') {
    await client.close()
    await client.close()
  }
  if (end === 'closed') await listening.next()
}

async function useMany(use: Use, count: number): Promise<void> {
  for (let done = 0; done < count; done += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, n) => useOnce(use, ends[n % ends.length])))
  }
  await waitForTasks()
}

/** Waits until dropped clients have stopped reconnecting; returns the number of timers above `initial`. */
async function countTimersAbove(initial: number): Promise<number> {
  for (let times = 0; times < 40 && timers() > initial; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return timers() - initial
}

/** The connections that are made before measuring, to fill caches. */
const WARM_UP = 3_000

/** Measures the memory, timers and listeners that remain after the given number of connections. */
async function measureLeaks(count: number, revision: Revision, leak: Leak = {}, warmUp = WARM_UP) {
  const { server, counts, kept } = createCountingServer(leak)
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const use: Use = { server, revision, signal: controller.signal, leak }
  const initial = timers()
  await useMany(use, warmUp)
  await countTimersAbove(initial)
  const before = await heap()
  await useMany(use, count)
  const timersAfter = await countTimersAbove(initial)
  const after = await heap()
  return {
    calls: counts.calls,
    most: counts.most,
    listeners: counts.listeners,
    subscribed: counts.subscribed,
    signalListeners: getEventListeners(controller.signal, 'abort').length,
    timers: timersAfter,
    kept: kept.length,
    megabytes: before / 2 ** 20,
    /** Growth of the heap as a fraction. */
    grown: after / before - 1,
    bytesEach: (after - before) / count,
  }
}

export function findLeaks(revision: Revision): void {
  describe(`10,000 connections in ${revision}, most of them dropped`, () => {
    it('leave no listeners, timers or memory behind', async () => {
      const left = await measureLeaks(10_000, revision)
      const { megabytes, grown, bytesEach } = left
      console.log(
        `${revision}: ${megabytes.toFixed(1)} MiB, grown by ${(grown * 100).toFixed(2)} %, ${bytesEach.toFixed(0)} B each`,
      )
      expect(left).toMatchObject({ calls: WARM_UP + 10_000, listeners: 0, signalListeners: 0 })
      expect(left.timers).toBeLessThanOrEqual(0)
      expect(left.most).toBeGreaterThan(0)
      expect(grown).toBeLessThan(0.05)
      expect(bytesEach).toBeLessThan(MOST_BYTES)
    }, 120_000)

    it('are measured precisely enough to find a leak of two small objects each', async () => {
      const few = 500
      const timers: ReturnType<typeof setTimeout>[] = []
      expect((await measureLeaks(few, revision, { calls: true }, few)).bytesEach).toBeGreaterThan(MOST_BYTES)
      const left = await measureLeaks(few, revision, { listeners: true, signals: true, timers }, few)
      timers.forEach(clearTimeout)
      // Concurrent subscriptions share one listener.
      expect(left.subscribed).toBeGreaterThan(0)
      expect(left).toMatchObject({ listeners: left.subscribed, signalListeners: 2 * few })
      expect(left.timers).toBeGreaterThan(few)
    }, 120_000)
  })
}
