/** Two server objects that share one store, as two processes would: changes, gaps of the bus, and the commands of calls. */

import { connect, proxy } from '@mcpx/client'
import type { Store } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import { createServer, rateLimit, type Server } from '@mcpx/server'
import { catchError, delay } from '@mcpx/testing'
import { type EndpointOptions, type McpApp, mcp } from '@mcpx/transport-http'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { describe, expect, it, onTestFinished } from 'vitest'

const secrets = ['known to all processes of this endpoint']
const URI = 'note://1'

type Send = NonNullable<HttpOptions['fetch']>

interface Node {
  readonly server: Server
  readonly app: McpApp
  readonly errors: unknown[]
}

function createNode(store: Store | undefined, options: EndpointOptions = {}): Node {
  const errors: unknown[] = []
  const server = createServer(
    { name: 'node', version: '1' },
    { secrets, store, onError: (error) => void errors.push(error) },
  )
    .resource(URI, { subscribe: true }, 'x')
    .tool('ping', {}, () => 'pong')
    .tool('ask', {}, async (_args, ctx) => {
      const schema = { type: 'object', properties: {} } as const
      return (await ctx.elicit('ok', { message: 'Go on?', schema })).action
    }) as unknown as Server
  const app = mcp(server, { allowedHosts: '*', onWarning: (warning) => void errors.push(warning), ...options })
  onTestFinished(() => {
    app.close()
    server.close()
  })
  return { server, app, errors }
}

/** Sends all requests to one node. */
const at =
  ({ app }: Node): Send =>
  async (input, init) =>
    app.fetch(new Request(input, init))

/** Connects a client whose requests reach the given node, and collects the changes that it receives. */
async function listen(era: 'legacy' | 'modern', fetch: Send, url = 'http://x.test/mcp') {
  const client = await connect(http(url, { fetch }), { era })
  onTestFinished(() => client.close())
  const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: [URI] })
  await listening.ready
  await delay(20)
  const heard: string[] = []
  void (async () => {
    for await (const change of listening) heard.push(change.kind === 'resource' ? change.uri : change.kind)
  })()
  onTestFinished(() => void listening.close())
  return { client, heard }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(2)
}

/** A bus whose connection can be lost: messages are then lost, and publishing fails. */
function createLossyStore() {
  const store = memoryStore()
  const gaps = new Set<() => void>()
  let isLost = false
  const lossy: Store = {
    ...store,
    bus: {
      publish(topic, message) {
        if (isLost) throw new Error('the bus is lost')
        return store.bus.publish(topic, message)
      },
      subscribe(topic, listener, onGap) {
        if (onGap !== undefined) gaps.add(onGap)
        return store.bus.subscribe(topic, (message) => isLost || listener(message))
      },
    },
  }
  return {
    store: lossy,
    lose() {
      isLost = true
    },
    restore() {
      isLost = false
      for (const onGap of gaps) onGap()
    },
  }
}

describe.each(['modern', 'legacy'] as const)('changes in the %s era', (era) => {
  it('are sent once to each listener of every node', async () => {
    const store = memoryStore()
    const nodes = [createNode(store), createNode(store), createNode(store)]
    const listeners = await Promise.all([...nodes, ...nodes].map((node) => listen(era, at(node))))
    for (const [n, { server }] of nodes.entries()) {
      server.resourceUpdated(URI)
      server.tool(`new-${n}`, {}, () => '')
      await delay(30)
    }
    const expected = [URI, 'tools', URI, 'tools', URI, 'tools']
    for (const { heard } of listeners) expect(heard).toEqual(expected)
    expect(nodes.map(({ errors }) => errors)).toEqual([[], [], []])
  })

  it('are sent by a process that serves no clients', async () => {
    const store = memoryStore()
    const { heard } = await listen(era, at(createNode(store)))
    const job = createServer({ name: 'job', version: '1' }, { store })
      .resource(URI, {}, '')
      .tool('run', {}, () => '')
    job.resourceUpdated(URI)
    await until(() => heard.length > 0)
    await delay(20)
    // Its earlier registrations are not sent, because clients cannot have read its lists before.
    expect(heard).toEqual([URI])
  })

  it('count everything as changed after a gap of the bus', async () => {
    const { store, lose, restore } = createLossyStore()
    const [here, there] = [createNode(store), createNode(store)]
    const { heard } = await listen(era, at(here))
    lose()
    there.server.resourceUpdated(URI)
    await delay(20)
    expect(heard).toEqual([])
    restore()
    await until(() => heard.length >= 2)
    expect(new Set(heard)).toEqual(new Set(['tools', URI]))
  })

  it('are published again after the bus has failed', async () => {
    const { store, lose, restore } = createLossyStore()
    const [here, there] = [createNode(store), createNode(store)]
    const { heard } = await listen(era, at(here))
    lose()
    for (let n = 0; n < 5; n++) there.server.resourceUpdated(URI)
    await delay(20)
    restore()
    await until(() => heard.length >= 2)
    heard.length = 0
    await until(() => heard.length > 0)
    expect(heard).toEqual([URI])
    expect(there.errors).toMatchObject([{ message: 'the bus is lost' }])
  })

  it('of mounted servers are sent once, whether the mounted server has no store, another one or the same', async () => {
    const store = memoryStore()
    for (const inner of [undefined, memoryStore(), store]) {
      const nodes = [0, 1].map(() => {
        const node = createNode(store)
        const mounted = createServer({ name: 'inner', version: '1' }, { store: inner }).resource(
          'note://inner',
          { subscribe: true },
          '',
        )
        node.server.mount('inner', mounted)
        return { ...node, mounted }
      })
      const uri = 'inner.note://inner'
      const client = await connect(http('http://x.test/mcp', { fetch: at(nodes[0] as Node) }), { era })
      onTestFinished(() => client.close())
      const listening = client.listen({ resourceSubscriptions: [uri] })
      await listening.ready
      await delay(20)
      const heard: unknown[] = []
      void (async () => {
        for await (const change of listening) heard.push(change)
      })()
      onTestFinished(() => void listening.close())
      nodes[1]?.mounted.resourceUpdated('note://inner')
      await delay(50)
      expect(heard).toEqual([{ kind: 'resource', uri }])
    }
  })
})

describe('changes of a proxy', () => {
  it('are sent once, because each node is notified by the remote server', async () => {
    const remote = createServer({ name: 'remote', version: '1' }).resource(URI, { subscribe: true }, '')
    const store = memoryStore()
    const nodes = await Promise.all(
      [0, 1, 2].map(async () => {
        const client = await connect(remote)
        onTestFinished(() => client.close())
        const node = createNode(store)
        node.server.mount('remote', proxy(client))
        return node
      }),
    )
    const client = await connect(http('http://x.test/mcp', { fetch: at(nodes[0] as Node) }))
    onTestFinished(() => client.close())
    const listening = client.listen({ toolsListChanged: true, resourcesListChanged: true })
    await listening.ready
    // The other nodes listen to the remote server as well.
    for (const node of nodes) await listen('modern', at(node))
    const heard: unknown[] = []
    void (async () => {
      for await (const { kind } of listening) heard.push(kind)
    })()
    onTestFinished(() => void listening.close())
    remote.resource('note://2', {}, '')
    await until(() => heard.length > 0)
    await delay(50)
    expect(heard).toEqual(['resources'])
  })
})

describe('changes over HTTP+SSE', () => {
  it('are sent once to each connection of every node', async () => {
    const store = memoryStore()
    const nodes = [createNode(store, { sse: '/sse' }), createNode(store, { sse: '/sse' })]
    const heard = await Promise.all(nodes.map((node) => openSse(at(node))))
    nodes[0]?.server.tool('new', {}, () => '')
    await until(() => heard.every(({ length }) => length > 0))
    await delay(20)
    expect(heard).toEqual([['notifications/tools/list_changed'], ['notifications/tools/list_changed']])
  })
})

/** Opens a connection of revision 2024-11-05 and collects the methods of its notifications. */
async function openSse(fetch: Send): Promise<string[]> {
  const stream = await fetch('http://x.test/sse', { headers: { accept: 'text/event-stream' } })
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel())
  const decoder = new TextDecoder()
  const [, path] = /data: (\S+)/.exec(decoder.decode((await reader.read()).value)) ?? []
  const post = (message: object) =>
    fetch(`http://x.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  await post({ id: 1, method: 'initialize', params })
  await reader.read()
  await post({ method: 'notifications/initialized' })
  await delay(20)
  const heard: string[] = []
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      for (const [, method] of decoder.decode(value).matchAll(/"method":"([^"]+)"/g)) heard.push(method as string)
    }
  })()
  return heard
}

/** A store that counts its commands. */
function createCountingStore() {
  const commands: string[] = []
  const count = <Part extends object>(name: string, part: Part): Part =>
    new Proxy(part, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          commands.push(`${name}.${String(member)}`)
          return value.apply(target, args)
        }
      },
    })
  const { sessions, records, events, bus, counters, replays } = memoryStore()
  const store: Store = {
    sessions: count('sessions', sessions),
    records: count('records', records),
    events: count('events', events),
    bus: count('bus', bus),
    counters: count('counters', counters),
    replays: count('replays', replays),
  }
  return { store, commands }
}

describe('the commands of a store', () => {
  it.each([
    ['modern', []],
    ['legacy', ['sessions.get']],
  ] as const)('are few for a call of the %s era: %j', async (era, expected) => {
    const { store, commands } = createCountingStore()
    const client = await connect(http('http://x.test/mcp', { fetch: at(createNode(store)) }), { era })
    onTestFinished(() => client.close())
    await client.callTool('ping')
    await delay(20)
    commands.length = 0
    await client.callTool('ping')
    await delay(20)
    expect(commands).toEqual(expected)
  })

  it('include one count for a rate limit', async () => {
    const { store, commands } = createCountingStore()
    const node = createNode(store)
    node.server.use(rateLimit({ limit: 100, window: 1_000 }))
    const client = await connect(http('http://x.test/mcp', { fetch: at(node) }), { era: 'modern' })
    onTestFinished(() => client.close())
    commands.length = 0
    await client.callTool('ping')
    expect(commands).toEqual(['counters.increment'])
  })

  it('include one subscription per process, whatever the number of clients', async () => {
    for (const [era, most] of [
      ['modern', 1],
      ['legacy', 3],
    ] as const) {
      const { store, commands } = createCountingStore()
      const node = createNode(store)
      for (let n = 0; n < 5; n++) await listen(era, at(node))
      expect(commands.filter((command) => command === 'bus.subscribe')).toHaveLength(most)
    }
  })
})

describe('a rate limit', () => {
  it('counts the calls of all nodes', async () => {
    const store = memoryStore()
    const nodes = [createNode(store), createNode(store)]
    const results: unknown[] = []
    for (const node of nodes) {
      node.server.use(
        rateLimit({ limit: 3, window: 60_000, key: ({ method }) => (method === 'tools/call' ? 'a' : undefined) }),
      )
      const client = await connect(http('http://x.test/mcp', { fetch: at(node) }), { era: 'modern' })
      onTestFinished(() => client.close())
      for (let n = 0; n < 2; n++) results.push((await client.callTool('ping')).isError ?? false)
    }
    expect(results).toEqual([false, false, false, true])
  })
})

describe('a response of the client', () => {
  const elicitation = { onElicit: () => ({ action: 'accept' as const, content: {} }) }

  it('that reaches another node is delivered after the bus has recovered', async () => {
    const { store, lose, restore } = createLossyStore()
    const [here, there] = [createNode(store), createNode(store)]
    const client = await connect(
      http('http://x.test/mcp', { fetch: splitAnswers(here, there, () => void setTimeout(restore, 1_200), lose) }),
      { era: 'legacy', ...elicitation },
    )
    onTestFinished(() => client.close())
    expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'accept' }])
  })

  it('is refused with 503 if the node that waits for it has gone', async () => {
    const store = memoryStore()
    const there = createNode(store)
    const refused: Response[] = []
    const session = await openSession(there)
    const id = '0123456789abcdef-00000000-1'
    refused.push(await postTo(there, { id, result: {} }, session))
    expect(refused[0]?.status).toBe(503)
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect(await refused[0]?.json()).toMatchObject({
      error: { message: 'The process that waits for this response does not reply; send the response again' },
    })
  }, 10_000)
})

/** Sends responses of the client to `there`, all other messages to `here`. */
function splitAnswers(here: Node, there: Node, onAnswer: () => void, beforeAnswer: () => void): Send {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === 'POST' ? await request.clone().text() : ''
    const isAnswer = body.includes('"result"')
    if (!isAnswer) return here.app.fetch(request)
    beforeAnswer()
    onAnswer()
    return there.app.fetch(request)
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function postTo({ app }: Node, message: object, session?: string) {
  const headers = session === undefined ? HEADERS : { ...HEADERS, 'mcp-session-id': session }
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return app.request('http://x.test/mcp', { method: 'POST', headers, body })
}

async function openSession(node: Node): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const opened = await postTo(node, { id: 1, method: 'initialize', params })
  return opened.headers.get('mcp-session-id') ?? ''
}

/** Opens or resumes the GET stream of a session, and reads its events. */
async function openStream({ app }: Node, session: string, lastEventId?: string) {
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
  const resumed = lastEventId === undefined ? headers : { ...headers, 'last-event-id': lastEventId }
  const response = await app.request('http://x.test/mcp', { headers: resumed })
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel().catch(() => {}))
  const stream = { text: '', hasEnded: false, cancel: () => reader.cancel(), lastId: () => '', methods: () => [''] }
  stream.lastId = () => [...stream.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  stream.methods = () =>
    [...stream.text.matchAll(/"method":"notifications\/([^"]+)"/g)].map(([, method]) => method as string)
  const decoder = new TextDecoder()
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      stream.text += decoder.decode(value)
    }
    stream.hasEnded = true
  })()
  await until(() => stream.text.includes('id: ') || lastEventId !== undefined)
  return stream
}

describe('a GET stream of a session', () => {
  async function openSubscribed() {
    const store = memoryStore()
    const [here, there] = [createNode(store), createNode(store)] as const
    const session = await openSession(here)
    await postTo(here, { method: 'notifications/initialized' }, session)
    await postTo(there, { id: 2, method: 'resources/subscribe', params: { uri: URI } }, session)
    return { here, there, session }
  }

  it('ends when it is resumed at another node, where changes are sent once', async () => {
    const { here, there, session } = await openSubscribed()
    const first = await openStream(here, session)
    here.server.resourceUpdated(URI)
    await until(() => first.methods().length === 1)
    const second = await openStream(there, session, first.lastId())
    await until(() => first.hasEnded)
    // The changes between the two streams are unknown, so everything counts as changed.
    await until(() => second.methods().length === 3)
    expect(second.methods().sort()).toEqual(['resources/list_changed', 'resources/updated', 'tools/list_changed'])
    here.server.resourceUpdated(URI)
    await until(() => second.methods().length === 4)
    await delay(30)
    expect(second.methods().at(-1)).toBe('resources/updated')
    expect(second.methods()).toHaveLength(4)
  })

  it('sends what its client has subscribed to, also if another node publishes an older record late', async () => {
    const store = memoryStore()
    const [here, there] = [createNode(store), createNode(store)]
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = createNode({
      ...store,
      bus: {
        ...store.bus,
        async publish(topic, message) {
          await released
          await store.bus.publish(topic, message)
        },
      },
    })
    const session = await openSession(here)
    await postTo(here, { method: 'notifications/initialized' }, session)
    const stream = await openStream(here, session)
    const late = postTo(slow, { id: 2, method: 'logging/setLevel', params: { level: 'error' } }, session)
    await delay(20)
    await postTo(there, { id: 3, method: 'resources/subscribe', params: { uri: URI } }, session)
    release()
    await late
    there.server.resourceUpdated(URI)
    await until(() => stream.methods().length > 0)
    expect(stream.methods()).toEqual(['resources/updated'])
  })

  it('reports a change that happened while the client was disconnected', async () => {
    const { here, there, session } = await openSubscribed()
    const first = await openStream(here, session)
    await first.cancel()
    await delay(20)
    there.server.resourceUpdated(URI)
    await delay(20)
    const second = await openStream(there, session, first.lastId())
    await until(() => second.methods().includes('resources/updated'))
  })
})

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('a stream of a call', () => {
  it('is followed live at another node', async () => {
    const { store, commands } = createCountingStore()
    const [here, there] = [createNode(store), createNode(store)] as const
    const steps = Array.from({ length: 3 }, createGate)
    here.server.tool('steps', {}, async (_args, ctx) => {
      for (const [n, { opened }] of steps.entries()) {
        await opened
        await ctx.progress(n + 1)
      }
      return 'done'
    })
    const session = await openSession(here)
    const params = { name: 'steps', arguments: {}, _meta: { progressToken: 'p' } }
    steps[0]?.open()
    const call = await postTo(here, { id: 7, method: 'tools/call', params }, session)
    const reader = (call.body as ReadableStream<Uint8Array>).getReader()
    const text = new TextDecoder().decode((await reader.read()).value)
    const [, id = ''] = /^id: (.*)$/m.exec(text) ?? []
    await reader.cancel()
    const resumed = await openStream(there, session, id)
    await until(() => resumed.methods().length === 1)
    for (const { open } of steps.slice(1)) {
      const before = resumed.text.length
      open()
      await until(() => resumed.text.length > before)
    }
    await until(() => resumed.hasEnded)
    expect(resumed.text).toContain('"done"')
    // The stream is read only twice, not for each event: once to find it, and once after its end.
    expect(commands.filter((command) => command === 'events.follow')).toHaveLength(1)
    expect(commands.filter((command) => command === 'events.replay').length).toBeLessThanOrEqual(2)
  })
})

describe('a store that fails', () => {
  it.each([
    [true, 503],
    [false, 500],
  ])('refuses requests of sessions; retryable: %s, status %s', async (retryable, status) => {
    const store = memoryStore()
    const problem = Object.assign(new Error('no connection'), { retryable })
    let isBroken = false
    const get = (id: string, ttl?: number) => (isBroken ? Promise.reject(problem) : store.sessions.get(id, ttl))
    const node = createNode({ ...store, sessions: { ...store.sessions, get } })
    const session = await openSession(node)
    isBroken = true
    const refused = await postTo(node, { id: 2, method: 'ping' }, session)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([status, retryable ? '1' : null])
    expect(await refused.text()).not.toContain('no connection')
    expect(node.errors).toEqual([problem])
    isBroken = false
    expect((await postTo(node, { id: 2, method: 'ping' }, session)).status).toBe(200)
  })

  it('refuses listening with 503 for a moment, and then reports that everything may have changed', async () => {
    const store = memoryStore()
    const problem = Object.assign(new Error('no connection'), { retryable: true })
    let isBroken = false
    const subscribe: Store['bus']['subscribe'] = (...args) => {
      return isBroken ? Promise.reject(problem) : store.bus.subscribe(...args)
    }
    const nodes = [0, 1].map(() => createNode({ ...store, bus: { ...store.bus, subscribe } })) as [Node, Node]
    let node = nodes[0]
    const statuses: number[] = []
    const { heard } = await listen('modern', async (input, init) => {
      const response = await at(node)(input, init)
      statuses.push(response.status)
      return response
    })
    isBroken = true
    node = nodes[1]
    nodes[0].app.close()
    await until(() => statuses.includes(503))
    isBroken = false
    await until(() => heard.length === 2)
    expect(heard.sort()).toEqual([URI, 'tools'])
    expect(nodes[1].errors).toEqual(statuses.filter((status) => status === 503).map(() => problem))
  })

  it('lets listening fail, and leaves no stream behind', async () => {
    const { store } = createLossyStore()
    const failing: Store = { ...store, bus: { ...store.bus, subscribe: () => Promise.reject(new Error('no bus')) } }
    const node = createNode(failing)
    const client = await connect(http('http://x.test/mcp', { fetch: at(node), reconnect: { attempts: 0 } }), {
      era: 'modern',
    })
    onTestFinished(() => client.close())
    const listening = client.listen({ toolsListChanged: true })
    expect(await catchError(() => listening.ready)).toBeInstanceOf(Error)
    expect((await client.callTool('ping')).content).toEqual([{ type: 'text', text: 'pong' }])
  })
})
