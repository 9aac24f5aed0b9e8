/** Connections that came and went leave nothing behind, however they went. */

import { getActiveResourcesInfo } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from '@mcpx/client'
import { type Channel, createDuplex, type Revision } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { createServer, type Server } from '@mcpx/server'
import { settled } from '@mcpx/testkit'
import { describe, expect, it } from 'vitest'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length

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

/** A server that counts who listens to its changes. */
function counted() {
  const counts = { listeners: 0, most: 0, calls: 0 }
  const handler = {
    changes(_listener: unknown) {
      counts.listeners += 1
      counts.most = Math.max(counts.most, counts.listeners)
      return () => {
        counts.listeners -= 1
      }
    },
  }
  const server = createServer({ name: 'leaks', version: '1' }, handler).tool('t', {}, async (_args, ctx) => {
    counts.calls += 1
    await ctx.progress(1)
    return 'x'
  })
  return { server: server as unknown as Server, counts }
}

async function useOnce(server: Server, revision: Revision, isDropped: boolean): Promise<void> {
  const [here, there] = createChannelPair()
  const far = createDuplex(there, { responder: server })
  const connector = { connect: (options: object) => createDuplex(here, options) }
  const client = await connect(connector, { era: revision })
  const listening = client.listen({ toolsListChanged: true })
  await listening.ready
  await client.callTool('t', {}, { onProgress: () => {} })
  if (isDropped) await drop(there)
  else await client.close()
  await (isDropped ? far.closed : listening.next())
}

/** The other side is gone without a word. */
async function drop(end: Channel): Promise<void> {
  await end.close()
}

async function useMany(server: Server, revision: Revision, count: number): Promise<void> {
  for (let done = 0; done < count; done += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, n) => useOnce(server, revision, n % 2 === 0)))
  }
  await settled()
}

/** A dropped client that was listening tries again for a while before it gives up; how many timers are left then. */
async function timersLeft(armed: number): Promise<number> {
  for (let times = 0; times < 40 && timers() > armed; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return timers()
}

describe.each(['2025-11-25', '2026-07-28'] as const)('5,000 connections in %s, half of them dropped', (revision) => {
  it('leave no listener, no timer and no memory', async () => {
    const { server, counts } = counted()
    const armed = timers()
    await useMany(server, revision, 1_000)
    await timersLeft(armed)
    const before = await heap()
    await useMany(server, revision, 5_000)
    const left = await timersLeft(armed)
    const grown = (await heap()) / before - 1
    console.log(`${revision}: ${(before / 2 ** 20).toFixed(1)} MiB, grown by ${(grown * 100).toFixed(2)} %`)
    expect(counts).toEqual({ listeners: 0, most: expect.any(Number), calls: 6_000 })
    expect(counts.most).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(armed)
    expect(grown).toBeLessThan(0.05)
  }, 30_000)
})
