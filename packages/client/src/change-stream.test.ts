import { type Change, ConnectionError, type Connector, type JsonObject, type RequestId, RpcError } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { everything, modernServer, type Subscription, type Tell } from '../test/listened-server.ts'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { createChangeQueue } from './change-queue.ts'
import { connect } from './connect.ts'

/** A legacy server and the subscriptions of its session. */
function legacyServer(capabilities: JsonObject = everything) {
  const uris: string[] = []
  const server = scriptedServer('2025-11-25', {
    capabilities,
    answers: {
      'resources/subscribe': ({ params }) => {
        uris.push(params.uri as string)
        return {}
      },
      'resources/unsubscribe': ({ params }) => {
        uris.splice(uris.indexOf(params.uri as string), 1)
        return {}
      },
    },
  })
  const connector = connectorTo(() => server)
  const tell: Tell = (method, params) => void connector.server.notify(`notifications/${method}`, params)
  return { connector, uris, tell }
}

/** A connector whose attempts fail with the error that `problemOf` returns for their number, which begins at 1. */
function failWhen(connector: Connector, problemOf: (attempt: number) => Error | undefined) {
  let attempts = 0
  const failing: Connector = {
    connect(options) {
      attempts += 1
      const problem = problemOf(attempts)
      if (problem !== undefined) throw problem
      return connector.connect(options)
    },
  }
  return { failing, attempts: () => attempts }
}

async function take(changes: AsyncIterator<Change>, count: number): Promise<Change[]> {
  const taken: Change[] = []
  for (let index = 0; index < count; index += 1) taken.push((await changes.next()).value)
  return taken
}

const all = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a:/x'],
}
const told: [string, JsonObject?][] = [
  ['tools/list_changed'],
  ['prompts/list_changed'],
  ['resources/list_changed'],
  ['resources/updated', { uri: 'a:/x/y' }],
]
const changes = [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resources' }, { kind: 'resource', uri: 'a:/x/y' }]

describe('a stream of changes of a modern server', () => {
  it('yields changes until it is closed', async () => {
    const { server, open, tell } = modernServer()
    await using client = await connect(server)
    const listening = client.listen(all)
    expect(await listening.ready).toEqual(all)
    for (const [method, params] of told) tell(method, params)
    expect(await take(listening, 4)).toEqual(changes)
    listening.close()
    expect(await listening.next()).toEqual({ done: true, value: undefined })
    await expect.poll(() => open.size).toBe(0)
  })

  it('ends with the loop that reads it', async () => {
    const { server, open, tell } = modernServer()
    await using client = await connect(server)
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    tell('tools/list_changed')
    for await (const change of listening) {
      expect(change).toEqual({ kind: 'tools' })
      break
    }
    await expect.poll(() => open.size).toBe(0)
  })

  it('ends with its signal, and with the client', async () => {
    const { server, open } = modernServer()
    const client = await connect(server)
    const stop = new AbortController()
    const one = client.listen(all, { signal: stop.signal })
    const other = client.listen(all)
    await Promise.all([one.ready, other.ready])
    stop.abort()
    expect(await one.next()).toEqual({ done: true, value: undefined })
    await expect.poll(() => open.size).toBe(1)
    await client.close()
    expect(await other.next()).toEqual({ done: true, value: undefined })
  })

  it.each([
    ['its result', ({ end }: Subscription) => end()],
    ['a cancellation', ({ tell }: Subscription, requestId: RequestId) => tell('cancelled', { requestId })],
  ])('ends when the server ends it by %s [C-093]', async (_, end) => {
    const fixture = modernServer()
    await using client = await connect(fixture.server)
    const listening = client.listen(all)
    await listening.ready
    for (const [id, subscription] of fixture.open) end(subscription, id)
    expect(await listening.next()).toEqual({ done: true, value: undefined })
  })

  it('requests only changes that the server supports, and reports the others [C-090, C-091]', async () => {
    const { server, open } = modernServer({ tools: { listChanged: true }, prompts: {}, resources: {} })
    const problems: string[] = []
    await using client = await connect(server, { onWarning: (problem) => problems.push(problem.message) })
    const listening = client.listen(all)
    expect(await listening.ready).toEqual({ toolsListChanged: true })
    expect([...open.values()][0]?.filter).toEqual({ toolsListChanged: true })
    expect(problems).toEqual([
      'The server does not announce promptsListChanged, resourcesListChanged, resourceSubscriptions',
    ])
    await using other = await connect(modernServer({ tools: {}, prompts: { listChanged: true } }).server)
    expect(await other.listen({ toolsListChanged: true, promptsListChanged: true }).ready).toEqual({
      promptsListChanged: true,
    })
    const nothing = client.listen({ promptsListChanged: true })
    await expect(nothing.ready).rejects.toMatchObject({ reason: 'unsupported' })
    await expect(nothing.next()).rejects.toMatchObject({ reason: 'unsupported' })
    expect(await nothing.next()).toEqual({ done: true, value: undefined })
  })

  it('rejects when the server does not confirm', async () => {
    const server = scriptedServer('2026-07-28', {
      capabilities: everything,
      answers: { 'subscriptions/listen': () => new Promise(() => {}) },
    })
    await using client = await connect(server)
    const listening = client.listen(all, { timeout: 20 })
    await expect(listening.ready).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('rejects when the server refuses', async () => {
    const server = scriptedServer('2026-07-28', { capabilities: everything })
    await using client = await connect(server)
    await expect(client.listen(all).next()).rejects.toMatchObject({ code: -32601 })
  })

  it('drops cached lists that changed [C-083]', async () => {
    const { server, tell } = modernServer()
    await using client = await connect(server)
    const listening = client.listen(all)
    await listening.ready
    await client.listTools().all()
    tell('tools/list_changed')
    await listening.next()
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(2)
  })

  it('drops lists that were cached before it was opened [C-083]', async () => {
    const { server } = modernServer()
    await using client = await connect(server)
    await client.listTools().all()
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(2)
    listening.close()
    expect(await listening.next()).toEqual({ done: true, value: undefined })
  })

  it('rejects after eight attempts to reach the server', async () => {
    const { server } = modernServer()
    const connector = connectorTo(() => server)
    const { failing, attempts } = failWhen(connector, (attempt) => {
      return attempt > 1 ? new ConnectionError('unreachable', 'Nobody is there') : undefined
    })
    await using client = await connect(failing)
    const listening = client.listen(all)
    await listening.ready
    vi.useFakeTimers()
    try {
      await connector.server.close()
      const end = expect(listening.next()).rejects.toMatchObject({ reason: 'unreachable' })
      await vi.advanceTimersByTimeAsync(200_000)
      await end
      expect(attempts()).toBe(9)
    } finally {
      vi.useRealTimers()
    }
  })

  it('continues over a new connection and counts everything as changed [C-034, C-094]', async () => {
    const { server, open } = modernServer()
    const connector = connectorTo(() => server)
    await using client = await connect(connector)
    const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['a:/x'] })
    await listening.ready
    await connector.server.close()
    expect(await take(listening, 2)).toEqual([{ kind: 'resource', uri: 'a:/x' }, { kind: 'tools' }])
    expect(connector.connections).toBe(2)
    listening.close()
    await expect.poll(() => open.size).toBe(0)
  })

  it('continues when a proxy fails while the connection to a server that has confirmed before is opened again', async () => {
    const { server } = modernServer()
    const connector = connectorTo(() => server)
    const { failing, attempts } = failWhen(connector, (attempt) => {
      return attempt === 2 ? new ConnectionError('refused', 'Bad gateway', { status: 502 }) : undefined
    })
    await using client = await connect(failing)
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await connector.server.close()
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    expect(attempts()).toBe(3)
  })

  it('continues when a server that has confirmed before fails for a moment', async () => {
    const { server, follow } = modernServer()
    const connector = connectorTo(() => server)
    await using client = await connect(connector)
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    follow(new RpcError(-32603, 'Internal error'))
    await connector.server.close()
    await expect.poll(() => server.asked('subscriptions/listen')).toHaveLength(2)
    follow(undefined)
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
  })
})

describe('a stream of changes of a legacy server', () => {
  it('yields the notifications of the session, and subscribes to resources', async () => {
    const { connector, uris, tell } = legacyServer()
    await using client = await connect(connector)
    const listening = client.listen(all)
    expect(await listening.ready).toEqual(all)
    expect(uris).toEqual(['a:/x'])
    tell('resources/updated', { uri: 'b:/' })
    for (const [method, params] of told) tell(method, params)
    expect(await take(listening, 4)).toEqual(changes)
    listening.close()
    await expect.poll(() => uris).toEqual([])
  })

  it('counts everything as changed when the connection may have missed notifications', async () => {
    const { connector, uris } = legacyServer()
    let miss = () => {}
    const lossy: Connector = {
      async connect(options) {
        const connection = await connector.connect(options)
        const negotiated = (_revision: unknown, onMissed = () => {}) => {
          miss = onMissed
        }
        return Object.assign(connection, { negotiated })
      },
    }
    await using client = await connect(lossy)
    const [listening, closed] = [client.listen(all), client.listen(all)]
    await Promise.all([listening.ready, closed.ready])
    closed.close()
    expect(await closed.next()).toEqual({ done: true, value: undefined })
    miss()
    const [resource, ...lists] = await take(listening, 4)
    expect([...lists, resource]).toEqual([...changes.slice(0, 3), { kind: 'resource', uri: 'a:/x' }])
    expect(uris).toEqual(['a:/x'])
    listening.close()
    expect(await listening.next()).toEqual({ done: true, value: undefined })
  })

  it('shares one subscription to a resource with other streams', async () => {
    const { connector, uris } = legacyServer()
    await using client = await connect(connector)
    const [one, other] = [client.listen(all), client.listen(all)]
    await Promise.all([one.ready, other.ready])
    expect(uris).toEqual(['a:/x'])
    one.close()
    await one.next()
    expect(uris).toEqual(['a:/x'])
    other.close()
    await expect.poll(() => uris).toEqual([])
  })

  it('continues over a new connection', async () => {
    const { connector, uris } = legacyServer()
    await using client = await connect(connector)
    const listening = client.listen(all)
    await listening.ready
    await connector.server.close()
    expect(await take(listening, 4)).toHaveLength(4)
    expect(uris).toEqual(['a:/x', 'a:/x'])
  })

  it('subscribes to at most ten resources at once', async () => {
    let running = 0
    let most = 0
    const subscribed = new Set<unknown>()
    const work = async (change: () => unknown) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve))
      running -= 1
      change()
      return {}
    }
    const server = scriptedServer('2025-11-25', {
      capabilities: everything,
      answers: {
        'resources/subscribe': ({ params }) => work(() => subscribed.add(params.uri)),
        'resources/unsubscribe': ({ params }) => work(() => subscribed.delete(params.uri)),
      },
    })
    await using client = await connect(server, { era: 'legacy' })
    const listening = client.listen({ resourceSubscriptions: Array.from({ length: 200 }, (_, n) => `a:/${n}`) })
    await listening.ready
    expect(subscribed.size).toBe(200)
    listening.close()
    await expect.poll(() => subscribed.size).toBe(0)
    expect(most).toBeLessThanOrEqual(10)
  })

  it('continues without a refused resource, and has its error', async () => {
    const server = scriptedServer('2025-11-25', { capabilities: everything })
    await using client = await connect(server)
    const listening = client.listen(all)
    expect(await listening.ready).not.toHaveProperty('resourceSubscriptions')
    expect([...(listening.refused ?? [])]).toMatchObject([['a:/x', { code: -32601 }]])
    listening.close()
  })

  it('rejects when everything is refused', async () => {
    const server = scriptedServer('2025-11-25', { capabilities: everything })
    await using client = await connect(server)
    const { ready } = client.listen({ resourceSubscriptions: ['a:/x'] })
    await expect(ready).rejects.toMatchObject({ code: -32601 })
  })
})

describe.each(['legacy', 'modern'] as const)('subscribing to resources (%s)', (era) => {
  function setUp() {
    if (era === 'legacy') {
      const { connector, uris, tell } = legacyServer()
      return { target: connector, tell, uris: () => uris }
    }
    const { server, open, tell } = modernServer()
    const uris = () => [...open.values()].flatMap(({ filter }) => (filter.resourceSubscriptions ?? []) as string[])
    return { target: connectorTo(() => server), tell, uris }
  }

  it('reports updates of all resources by one stream', async () => {
    const { target, tell, uris } = setUp()
    const heard: Change[] = []
    await using client = await connect(target, { onChange: (change) => heard.push(change) })
    await Promise.all([client.subscribe('a:/1'), client.subscribe('a:/2'), client.subscribe('a:/1')])
    await expect.poll(() => [...uris()].sort()).toEqual(['a:/1', 'a:/2'])
    tell('resources/updated', { uri: 'a:/2' })
    tell('tools/list_changed')
    await expect.poll(() => heard).toEqual([{ kind: 'resource', uri: 'a:/2' }, { kind: 'tools' }])
    await client.unsubscribe('a:/2')
    await expect.poll(uris).toEqual(['a:/1'])
    await client.unsubscribe('a:/1')
    await expect.poll(uris).toEqual([])
  })

  it('rejects when the server does not support it', async () => {
    const capabilities = { tools: { listChanged: true } }
    const target = era === 'legacy' ? legacyServer(capabilities).connector : modernServer(capabilities).server
    await using client = await connect(target as never, { onChange: () => {} })
    await expect(client.subscribe('a:/1')).rejects.toMatchObject({ reason: 'unsupported' })
  })
})

describe('the queue of changes', () => {
  it('keeps one of each change, in the order of their first occurrence', async () => {
    const queue = createChangeQueue(10)
    for (const kind of ['tools', 'prompts', 'tools'] as const) queue.push({ kind })
    queue.end()
    expect(await queue.next()).toMatchObject({ value: { kind: 'tools' } })
    expect(await queue.next()).toMatchObject({ value: { kind: 'prompts' } })
    expect(await queue.next()).toEqual({ done: true, value: undefined })
  })

  it('has a limit', () => {
    const queue = createChangeQueue(2)
    expect(['1', '2', '3'].map((uri) => queue.push({ kind: 'resource', uri }))).toEqual([true, true, false])
  })

  it('has a limit of characters, and counts waiting changes only', async () => {
    const queue = createChangeQueue()
    const uris = Array.from({ length: 1_000 }, (_, n) => `note://${n}/`.padEnd(8_000, 'x'))
    const accepted = uris.filter(
      (uri) => queue.push({ kind: 'resource', uri }) && queue.push({ kind: 'resource', uri }),
    )
    expect(accepted.length).toBeGreaterThan(500)
    expect(accepted.length).toBeLessThan(530)
    for (let n = 0; n < 600; n++) await queue.next()
    expect(queue.push({ kind: 'resource', uri: 'note://last' })).toBe(true)
  })
})
