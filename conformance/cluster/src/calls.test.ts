/** Clients of three nodes behind a balancer without sticky sessions: calls, input requests, progress and changes. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type ClientName, connectBy } from './clients.fixture.ts'
import { type Cluster, hasRedis, startCluster } from './cluster.fixture.ts'

const names = Object.keys(connectBy) as ClientName[]
/** The machine may be busy. */
const TIMEOUT = 60_000

describe.skipIf(!hasRedis)('three nodes with one Redis', { timeout: TIMEOUT }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  }, TIMEOUT)
  afterAll(() => cluster?.close(), TIMEOUT)
  beforeEach(() => cluster.balancer.pin(undefined))

  async function connect(name: ClientName) {
    const client = await connectBy[name](cluster.balancer.url)
    onTestFinished(() => client.close())
    return client
  }

  describe.each(names)('%s', (name) => {
    it('reaches all nodes by plain calls', async () => {
      const client = await connect(name)
      const pids = new Set<string>()
      cluster.balancer.seen.length = 0
      for (let n = 0; n < 9; n++) pids.add(await client.call('who'))
      for (const node of [0, 1, 2]) expect(cluster.balancer.seen).toContain(`POST ${node}`)
      // Nodes forward the calls of HTTP+SSE to the node of the stream.
      if (name.endsWith('HTTP+SSE')) expect(pids.size).toBe(1)
      else expect(pids).toEqual(new Set(cluster.nodes.map(({ pid }) => String(pid))))
    })

    it('answers an input request at another node', async () => {
      const client = await connect(name)
      for (let n = 0; n < 4; n++) {
        cluster.balancer.seen.length = 0
        expect(await client.call('ask')).toMatch(/^accept received by /)
        const posts = cluster.balancer.seen.filter((each) => each.startsWith('POST'))
        expect(new Set(posts).size).toBeGreaterThan(1)
      }
    })

    it('receives progress in order and once', async () => {
      const client = await connect(name)
      const received: number[] = []
      await client.call('count', { times: 20, pause: 5 }, { onProgress: (progress) => void received.push(progress) })
      expect(received).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    })

    it('receives each change once, whichever node it happens at', async () => {
      const client = await connect(name)
      const received: string[] = []
      await client.listen(['note://1', 'note://2'], (change) => void received.push(change))
      // The stream of a legacy session opens after the subscriptions.
      await delay(500)
      received.length = 0
      const caller = await connect('our client, modern era')
      for (const node of [0, 1, 2]) {
        cluster.balancer.pin(node)
        await caller.call('touch', { uri: 'note://1' })
        await caller.call('touch', { uri: 'note://3' })
        await caller.call('grow')
        while (received.length < (node + 1) * 2) await delay(10)
      }
      await delay(100)
      expect(received.sort()).toEqual(['note://1', 'note://1', 'note://1', 'tools', 'tools', 'tools'])
    })
  })

  describe.each(names.filter((name) => name.includes('legacy')))('%s', (name) => {
    it('resumes a stream that was cut at another node', async () => {
      const client = await connect(name)
      const received: number[] = []
      cluster.balancer.pin(0)
      const call = client.call('count', { times: 40, pause: 25 }, { onProgress: (n) => void received.push(n) })
      while (received.length < 3) await delay(5)
      cluster.balancer.pin(1)
      cluster.balancer.seen.length = 0
      cluster.balancer.cutAll()
      expect(await call).toBe(`counted by ${cluster.nodes[0]?.pid}`)
      expect(received).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
      expect(cluster.balancer.seen).toContain('GET 1')
    })
  })
})
