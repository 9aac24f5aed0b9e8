/** Connections that came and went leave nothing behind, however they went. */

import { getEventListeners, setMaxListeners } from 'node:events'
import { getActiveResourcesInfo } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from '@mcpx/client'
import { createDuplex, type Revision } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { createServer, type Server } from '@mcpx/server'
import { settled } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length

/** More than so many bytes for each connection are a leak; fewer are noise. */
const MOST_BYTES = 64

/** The smallest of several: what waits to be collected is no leak. */
async function heap(): Promise<number> {
  const sizes: number[] = []
  for (let times = 0; times < 4; times += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    sizes.push(process.memoryUsage().heapUsed)
  }
  return Math.min(...sizes)
}

/** What is kept of each connection, on purpose: the leak that has to be seen. */
interface Leak {
  /** Keeps what a call was made with, for as long as the server lives. */
  readonly calls?: boolean
  /** Leaves a listener on the changes behind. */
  readonly listeners?: boolean
  /** Leaves a listener on the signal of the application behind. */
  readonly signals?: boolean
  /** Leaves a timer behind. */
  readonly timers?: ReturnType<typeof setTimeout>[]
}

/** A server that counts who listens to its changes. */
function counted(leak: Leak) {
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
  /** The signal of an application that outlives all of its connections. */
  readonly signal: AbortSignal
  readonly leak: Leak
}

/** How a connection ends: by the client, by the server that goes without a word, or by that and then the client. */
type End = 'closed' | 'dropped' | 'dropped and closed'
const ends: readonly End[] = ['closed', 'dropped', 'dropped and closed']

async function useOnce({ server, revision, signal, leak }: Use, end: End | undefined): Promise<void> {
  const [here, there] = createChannelPair()
  const far = createDuplex(there, { responder: server })
  const connector = { connect: (options: object) => createDuplex(here, options) }
  const client = await connect(connector, { era: revision, signal })
  const listening = client.listen({ toolsListChanged: true }, { signal })
  await listening.ready
  await client.callTool('t', {}, { onProgress: () => {}, signal })
  if (leak.signals === true) signal.addEventListener('abort', () => {})
  leak.timers?.push(setTimeout(() => {}, 60_000))
  if (end !== 'closed') {
    await there.close()
    await far.closed
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
  await settled()
}

/** A dropped client that was listening tries again for a while before it gives up; how many timers are left then. */
async function timersLeft(armed: number): Promise<number> {
  for (let times = 0; times < 40 && timers() > armed; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return timers() - armed
}

/** How many connections show what stays warm before anything is counted. */
const WARM_UP = 1_000

/** What so many connections leave behind. */
async function leftBy(count: number, revision: Revision, leak: Leak = {}, warmUp = WARM_UP) {
  const { server, counts, kept } = counted(leak)
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const use: Use = { server, revision, signal: controller.signal, leak }
  const armed = timers()
  await useMany(use, warmUp)
  await timersLeft(armed)
  const before = await heap()
  await useMany(use, count)
  const timersThen = await timersLeft(armed)
  const after = await heap()
  return {
    calls: counts.calls,
    most: counts.most,
    listeners: counts.listeners,
    subscribed: counts.subscribed,
    signalListeners: getEventListeners(controller.signal, 'abort').length,
    timers: timersThen,
    kept: kept.length,
    megabytes: before / 2 ** 20,
    /** As a share of what there was before. */
    grown: after / before - 1,
    bytesEach: (after - before) / count,
  }
}

export function findLeaks(revision: Revision): void {
  describe(`10,000 connections in ${revision}, most of them dropped`, () => {
    it('leave no listener, no timer and no memory', async () => {
      const left = await leftBy(10_000, revision)
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

    it('are seen to leave what they leave, be it two small objects each', async () => {
      const few = 500
      const timers: ReturnType<typeof setTimeout>[] = []
      expect((await leftBy(few, revision, { calls: true }, few)).bytesEach).toBeGreaterThan(MOST_BYTES)
      const left = await leftBy(few, revision, { listeners: true, signals: true, timers }, few)
      timers.forEach(clearTimeout)
      // Those who listen at one time share one listener.
      expect(left.subscribed).toBeGreaterThan(0)
      expect(left).toMatchObject({ listeners: left.subscribed, signalListeners: 2 * few })
      expect(left.timers).toBeGreaterThan(few)
    }, 120_000)
  })
}
