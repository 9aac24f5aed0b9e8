/** The memory of nodes while clients connect and disconnect, some without closing their session, and while another node is killed. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientName, connectBy } from './clients.fixture.ts'
import { type Cluster, hasRedis, startCluster } from './cluster.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = 300_000
const SESSION_TTL = 1_000
/** The garbage collector and the compiler of Node account for less. */
const MOST_GROWTH = 2 * 2 ** 20

const names: readonly ClientName[] = ['our client, legacy era', 'our client, modern era', 'our client, HTTP+SSE']
/** The node that is killed. */
const VICTIM = 2

describe.skipIf(!hasRedis)('three nodes', { timeout: TIMEOUT }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster({ sessionTtl: SESSION_TTL, eventTtl: SESSION_TTL, keepAlive: 200 })
  }, TIMEOUT)
  afterAll(() => cluster?.close(), TIMEOUT)

  async function visit(name: ClientName): Promise<void> {
    const client = await connectBy[name](cluster.balancer.url)
    await client.listen(['note://1', 'note://2'], () => {})
    await client.call('ask')
    const call = client.call('count', { times: 5, pause: 5 }, { onProgress() {} }).catch(() => '')
    await client.call('touch', { uri: 'note://1' })
    // The client of the modern era reports the response as lost. The client of the legacy era resumes the stream.
    cluster.balancer.cutAll()
    await call
    await client.close()
  }

  async function visitTimes(times: number): Promise<void> {
    for (let n = 0; n < times; n++) for (const name of names) await visit(name)
  }

  /** The heap of each node that is not killed, after everything has expired. */
  async function heaps(): Promise<number[]> {
    await delay(SESSION_TTL * 2)
    const others = cluster.nodes.filter((_, index) => index !== VICTIM)
    return Promise.all(others.map(async ({ look }) => (await look()).heap))
  }

  async function expectFlat(run: (times: number) => Promise<void>): Promise<void> {
    await run(20)
    const before = await heaps()
    await run(40)
    const after = await heaps()
    const grown = after.map((heap, index) => heap - (before[index] as number))
    console.log(`heaps: ${before.map(megabytes)} MB, grown by ${grown.map(megabytes)} MB`)
    for (const bytes of grown) expect(bytes).toBeLessThan(MOST_GROWTH)
  }

  it('keep nothing of clients that have left', () => expectFlat(visitTimes))

  it('keep nothing of a node that is killed and started again', () =>
    expectFlat(async (times) => {
      let kills = 0
      let isOver = false
      const killing = (async () => {
        while (!isOver || kills < 3) {
          await cluster.kill(VICTIM)
          await cluster.restart(VICTIM)
          kills += 1
        }
      })()
      // The calls and connections at the killed node fail.
      for (let n = 0; n < times; n++) for (const name of names) await visit(name).catch(() => {})
      isOver = true
      await killing
    }))
})

const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(2)
