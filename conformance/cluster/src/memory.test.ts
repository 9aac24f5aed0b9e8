/** The memory of nodes while clients connect and disconnect, some without closing their session. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientName, connectBy } from './clients.fixture.ts'
import { type Cluster, hasRedis, startCluster } from './cluster.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = 120_000
const SESSION_TTL = 1_000
/** The garbage collector and the compiler of Node account for less. */
const MOST_GROWTH = 2 * 2 ** 20

const names: readonly ClientName[] = ['our client, legacy era', 'our client, modern era']

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

  /** The heap of each node, after everything has expired. */
  async function heaps(): Promise<number[]> {
    await delay(SESSION_TTL * 2)
    return Promise.all(cluster.nodes.map(async ({ look }) => (await look()).heap))
  }

  it('keep nothing of clients that have left', async () => {
    await visitTimes(30)
    const before = await heaps()
    await visitTimes(60)
    const after = await heaps()
    const grown = after.map((heap, index) => heap - (before[index] as number))
    console.log(`heaps: ${before.map(megabytes)} MB, grown by ${grown.map(megabytes)} MB`)
    for (const bytes of grown) expect(bytes).toBeLessThan(MOST_GROWTH)
  })
})

const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(2)
