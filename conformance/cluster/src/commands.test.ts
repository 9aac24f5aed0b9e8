/** The number of commands that each kind of request sends to Redis. */

import { connect, type TaskHandle } from '@mcpx/client'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { connectBy, type TestClient } from './clients.fixture.ts'
import { type Cluster, hasRedis, startCluster } from './cluster.fixture.ts'

const TIMEOUT = 60_000

interface Kind {
  readonly what: string
  readonly era: 'legacy' | 'modern'
  /** The commands that one request sends. */
  readonly expected: Readonly<Record<string, number>>
  /** Whether each request reaches another node. Default: all requests reach the same node. */
  readonly isSpread?: boolean
  request(client: TestClient, url: string): Promise<unknown>
}

/** A script stores each event. A stream has one event more than messages, and the end of the stream is stored too. */
const kinds: readonly Kind[] = [
  { what: 'call', era: 'modern', expected: {}, request: (client) => client.call('who') },
  {
    what: 'call with 5 progress notifications',
    era: 'modern',
    expected: {},
    request: (client) => client.call('count', { times: 5 }, { onProgress() {} }),
  },
  { what: 'call with an input request', era: 'modern', expected: {}, request: (client) => client.call('ask') },
  {
    what: 'change of a resource',
    era: 'modern',
    expected: { 'PUBLISH to all nodes': 1 },
    async request(client) {
      await client.call('touch', { uri: 'note://1' })
      // Changes that happen while a change is being published are published together in one message.
      await delay(50)
    },
  },
  { what: 'call', era: 'legacy', expected: { GETEX: 1 }, request: (client) => client.call('who') },
  {
    what: 'call with 5 progress notifications',
    era: 'legacy',
    expected: { GETEX: 1, EVAL: 8 },
    request: (client) => client.call('count', { times: 5 }, { onProgress() {} }),
  },
  {
    what: 'call with an input request, answered at the same node',
    era: 'legacy',
    expected: { GETEX: 2, EVAL: 4 },
    request: (client) => client.call('ask'),
  },
  {
    what: 'call with an input request, answered at another node',
    era: 'legacy',
    expected: { GETEX: 2, EVAL: 4, PUBLISH: 2 },
    isSpread: true,
    request: (client) => client.call('ask'),
  },
  {
    what: 'session with its stream, opened and closed',
    era: 'legacy',
    // Three of the scripts replace the record of the session: after the handshake, for the stream and for the subscription.
    expected: { SET: 1, GETEX: 4, GET: 3, EVAL: 4, 'PUBLISH to all nodes': 1, UNLINK: 1 },
    async request(_client, url) {
      const opened = await connectBy['our client, legacy era'](url)
      await opened.listen(['note://1'], () => {})
      await delay(200)
      await opened.close()
    },
  },
]

interface TaskKind {
  readonly what: string
  /** The commands that one request and its effects send. */
  readonly expected: Readonly<Record<string, number>>
  /** The tool that begins the task. Default: a tool that waits for its user. */
  readonly tool?: string
  readonly args?: Readonly<Record<string, string | number>>
  /** The counted operation on an existing task. Default: a task from its beginning to its end. */
  request?(task: TaskHandle): Promise<unknown>
}

/** Each change of a task is a script and a message, which the node that works on it and subscribed clients receive. */
const taskKinds: readonly TaskKind[] = [
  {
    what: 'task without steps, from its call to its end',
    tool: 'work',
    args: { key: 'a', steps: 0, pause: 0 },
    expected: { EVAL: 2, PUBLISH: 1, SUBSCRIBE: 1, UNSUBSCRIBE: 1 },
  },
  {
    what: 'task with 5 steps, from its call to its end',
    tool: 'work',
    args: { key: 'a', steps: 5, pause: 0 },
    expected: { EVAL: 7, PUBLISH: 6, SUBSCRIBE: 1, UNSUBSCRIBE: 1 },
  },
  { what: 'poll', expected: { EVAL: 1 }, request: (task) => task.status() },
  {
    what: 'cancellation',
    expected: { EVAL: 3, PUBLISH: 1, UNSUBSCRIBE: 1 },
    request: (task) => task.cancel(),
  },
]

const REPEATS = 10

describe.skipIf(!hasRedis)('commands to Redis', { timeout: TIMEOUT }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  }, TIMEOUT)
  afterAll(() => cluster?.close(), TIMEOUT)

  /** Counts the commands of all nodes while a function runs. Commands inside of scripts are not counted. */
  async function count(run: () => Promise<unknown>): Promise<Record<string, number>> {
    const monitor = cluster.admin.duplicate()
    monitor.on('error', () => {})
    await monitor.connect()
    const counts: Record<string, number> = {}
    await monitor.monitor((line) => {
      const [, sender = '', command = ''] = /\[\d+ ([^\]]+)\] "(\w+)"/.exec(line.toString()) ?? []
      const isToAll = /"mcpx:bus:mcpx\/(?:processes|changes)"/.test(line.toString())
      const name = command.toUpperCase() + (command === 'PUBLISH' && isToAll ? ' to all nodes' : '')
      if (sender !== 'lua') counts[name] = (counts[name] ?? 0) + 1
    })
    await run()
    // The end of a stream is stored after its response was sent.
    await delay(200)
    monitor.destroy()
    return counts
  }

  it.each(kinds)('$what, $era era', async ({ what, era, expected, request, isSpread = false }) => {
    const { url } = cluster.balancer
    cluster.balancer.pin(isSpread ? undefined : 0)
    const client = await connectBy[`our client, ${era} era`](url)
    onTestFinished(() => client.close())
    // The nodes connect to the bus, and the session opens its stream.
    for (let n = 0; n < 3; n++) await request(client, url)
    await delay(300)
    const counts = await count(async () => {
      for (let n = 0; n < REPEATS; n++) await request(client, url)
    })
    const perRequest = Object.fromEntries(Object.entries(counts).map(([name, total]) => [name, total / REPEATS]))
    console.log(`${era}: ${what}: ${JSON.stringify(perRequest)}`)
    expect(perRequest).toEqual(expected)
  })

  it.each(taskKinds)('of tasks: $what', async ({ what, expected, tool = 'confirm', args = {}, request }) => {
    cluster.balancer.pin(0)
    const client = await connect(http(cluster.balancer.url), { onElicit: () => ({ action: 'accept', content: {} }) })
    onTestFinished(() => client.close())
    const start = () => client.callTool(tool, args, { task: 'handle' })
    // The node checks once for tasks of other nodes.
    const [first] = await Promise.all(Array.from({ length: 3 }, start))
    await first?.status()
    await first?.cancel()
    const tasks = request === undefined ? [] : await Promise.all(Array.from({ length: REPEATS }, start))
    await delay(300)
    const counts = await count(async () => {
      for (let n = 0; n < REPEATS; n++) await (request === undefined ? start() : request(tasks[n] as TaskHandle))
    })
    const perRequest = Object.fromEntries(Object.entries(counts).map(([name, total]) => [name, total / REPEATS]))
    console.log(`tasks: ${what}: ${JSON.stringify(perRequest)}`)
    expect(perRequest).toEqual(expected)
  })
})
