import { createMemoryEventBus } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import type { EndpointOptions } from './options.ts'
import { eventsOf, gate, get, HandWritten, json, MODERN, modern, post, request } from './server.fixture.ts'

const FIRST = '2024-11-05'

function serve(options: EndpointOptions = {}) {
  const server = new HandWritten({
    'tools/list': (_params, { session }) => ({ tools: [], revision: session?.state.revision }),
    'tools/call': async (_params, { session }) => ({ answer: await session?.request('roots/list') }),
    slow: (_params, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({}))),
    large: () => ({ text: 'x'.repeat(2_000_000) }),
    huge: () => ({ text: 'x'.repeat(6_000_000) }),
    progress: async (_params, exchange) => {
      await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
      return {}
    },
    broken: () => Promise.reject(Object.assign(new Error('The store is away'), { retryable: true })),
  })
  return { app: mcp(server, { sse: '/sse', ...options }), server }
}

type App = ReturnType<typeof serve>['app']

async function open(app: App, headers: Record<string, string> = {}) {
  const response = await app.request('/api/sse', { headers: { accept: 'text/event-stream', ...headers } })
  const events = eventsOf(response)
  const first = await events.next()
  const url = first?.data ?? ''
  const send = async (body: unknown, more: Record<string, string> = {}) =>
    (
      await app.request(url, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers, ...more },
      })
    ).status
  return { response, events, first, url, send }
}

/** A bus that accepts no subscription before `accept` is called. */
function createSlowBus() {
  const inner = createMemoryEventBus()
  const [asked, accepted] = [gate(), gate()]
  const subscriptions = new Set<string>()
  return {
    ...inner,
    subscriptions,
    isAsked: asked.promise,
    accept: () => accepted.open(),
    async subscribe(topic: string, listener: (message: string) => void) {
      asked.open()
      await accepted.promise
      subscriptions.add(topic)
      const unsubscribe = await inner.subscribe(topic, listener)
      return () => {
        subscriptions.delete(topic)
        return unsubscribe()
      }
    },
  }
}

const handshake = request('initialize', { protocolVersion: FIRST, capabilities: {}, clientInfo: {} }, 0)

describe('the transport of the first revision', () => {
  it('sends its endpoint, and responds on the stream [S-141]', async () => {
    const { events, first, send, response } = await open(serve().app)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(first).toMatchObject({ event: 'endpoint', data: expect.stringMatching(/^\/api\/sse\?sessionId=\S+$/) })
    expect(await send(handshake)).toBe(202)
    expect(await events.next()).toMatchObject({ event: 'message', data: expect.stringContaining(FIRST) })
    expect(await send(request('tools/list'))).toBe(202)
    expect(await events.message()).toMatchObject({ id: 1, result: { revision: FIRST } })
    await events.cancel()
  })

  it('sends input requests on the same stream', async () => {
    const { events, send } = await open(serve().app)
    await send(handshake)
    await events.message()
    await send(request('tools/call'))
    const asked = await events.message()
    expect(asked).toMatchObject({ method: 'roots/list' })
    await send({ jsonrpc: '2.0', id: asked?.id, result: { roots: [] } })
    expect(await events.message()).toMatchObject({ id: 1, result: { answer: { roots: [] } } })
    await events.cancel()
  })

  it('aborts running calls when the stream is closed', async () => {
    const { app, server } = serve()
    const { events, send } = await open(app)
    await send(request('slow'))
    const signal = server.exchanges[0]?.signal
    await events.cancel()
    expect(signal?.aborted).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(await send(request('tools/list'))).toBe(404)
  })

  it('accepts batches only in the revision that supports them', async () => {
    const { events, send } = await open(serve().app)
    const items = [request('tools/list', {}, 1), { jsonrpc: '2.0', method: 'n' }, request('none', {}, 2), 7]
    await send(handshake)
    await events.message()
    expect(await send(items)).toBe(400)
    await send(request('initialize', { protocolVersion: '2025-03-26' }, 3))
    await events.message()
    expect(await send(items)).toBe(202)
    expect(await events.message()).toMatchObject([{ id: 1, result: {} }, { id: 2, error: {} }, { error: {} }])
    expect(await send([{ jsonrpc: '2.0', method: 'n' }])).toBe(202)
    expect(await send(request('tools/list', {}, 4))).toBe(202)
    expect(await events.message()).toMatchObject({ id: 4 })
    await events.cancel()
  })

  it('runs a batch up to the concurrency limit of a session', async () => {
    const { events, send } = await open(serve({ limits: { sessionRequests: 2 } }).app)
    await send(request('initialize', { protocolVersion: '2025-03-26' }, 0))
    await events.message()
    await send([1, 2, 3].map((id) => request('tools/call', {}, id)))
    for (const asked of [await events.message(), await events.message()]) {
      await send({ jsonrpc: '2.0', id: asked?.id, result: { roots: [] } })
    }
    const tooMany = { id: 3, error: { message: expect.stringContaining('limits.sessionRequests') } }
    expect(await events.message()).toMatchObject([{ id: 1, result: {} }, { id: 2, result: {} }, tooMany])
    await events.cancel()
  })

  it('is drained while it has running calls', async () => {
    const { app } = serve()
    const { events, send } = await open(app)
    await send(handshake)
    await events.message()
    await send(request('tools/call'))
    const asked = await events.message()
    const drained = app.drain(5_000)
    await send({ jsonrpc: '2.0', id: asked?.id, result: { roots: [] } })
    expect(await events.message()).toMatchObject({ id: 1, result: { answer: { roots: [] } } })
    await drained
    expect(await events.next()).toBeUndefined()
  })

  it('answers modern requests on its stream, so that the client goes on with the handshake', async () => {
    const { events, send } = await open(serve().app)
    expect(await send(modern('server/discover', {}, 'probe'))).toBe(202)
    expect(await events.message()).toMatchObject({ id: 'probe', error: { code: -32601 } })
    expect(await send(modern('server/discover', {}, 2), { 'mcp-protocol-version': MODERN })).toBe(202)
    expect(await events.message()).toMatchObject({ id: 2, error: { code: -32601 } })
    expect(await send(handshake)).toBe(202)
    expect(await events.message()).toMatchObject({ result: { protocolVersion: FIRST } })
    await events.cancel()
  })

  it('has the same path with a slash at the end', async () => {
    const { app } = serve()
    const response = await app.request('/api/sse/', { headers: { accept: 'text/event-stream' } })
    const events = eventsOf(response)
    const url = (await events.next())?.data ?? ''
    const headers = { 'content-type': 'application/json' }
    expect((await app.request(url, { method: 'POST', body: JSON.stringify(handshake), headers })).status).toBe(202)
    expect(await events.message()).toMatchObject({ result: { protocolVersion: FIRST } })
    await events.cancel()
  })

  it('rejects a request with an id in use, and supports cancellation', async () => {
    const { app, server } = serve()
    const { events, send } = await open(app)
    await send(request('slow'))
    const signal = server.exchanges[0]?.signal
    expect(await send(request('tools/list'))).toBe(202)
    expect(await events.message()).toMatchObject({ id: 1, error: { message: expect.stringContaining('in flight') } })
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    expect(signal?.aborted).toBe(true)
    await events.cancel()
  })

  it('rejects POST requests without a stream, and to the stream of another caller', async () => {
    const { app } = serve({ authenticate: ({ headers }) => ({ subject: headers.get('x-who') ?? '', scopes: [] }) })
    const { events, send } = await open(app, { 'x-who': 'ann' })
    expect(await send(handshake, { 'x-who': 'bob' })).toBe(404)
    expect(await send(handshake)).toBe(202)
    const headers = { 'content-type': 'application/json' }
    const posted = await app.request('/sse', { method: 'POST', body: JSON.stringify(handshake), headers })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await app.request('/sse', { method: 'DELETE' })).status).toBe(405)
    await events.cancel()
  })

  it('is guarded like the other endpoint [S-141]', async () => {
    const { app } = serve()
    expect((await app.request('/sse', { headers: { host: 'evil.example.com' } })).status).toBe(403)
    expect((await app.request('/sse', { headers: { accept: 'text/html' } })).status).toBe(406)
  })

  it('sends the large answers of several calls, which together exceed the limit of a stream', async () => {
    const { events, send } = await open(serve().app)
    for (let id = 1; id <= 5; id++) await send(request('large', {}, id))
    for (let id = 1; id <= 5; id++) expect(await events.message()).toMatchObject({ id, result: {} })
    await events.cancel()
  })

  it('is drained after the client has read the answers', async () => {
    const { app } = serve()
    const { events, send } = await open(app)
    for (let id = 1; id <= 3; id++) await send(request('large', {}, id))
    const drained = app.drain(5_000)
    for (let id = 1; id <= 3; id++) expect(await events.message()).toMatchObject({ id, result: {} })
    await drained
    expect(await events.next()).toBeUndefined()
  })

  it('sends notifications while the client still reads an answer that is larger than the limit of a stream', async () => {
    const { events, send } = await open(serve().app)
    await send(request('huge', {}, 1))
    await send(request('progress', {}, 2))
    expect(await events.message()).toMatchObject({ id: 1, result: {} })
    expect(await events.message()).toMatchObject({ method: 'notifications/progress' })
    expect(await events.message()).toMatchObject({ id: 2, result: {} })
    await events.cancel()
  })

  it('counts the answers that a client does not read, and refuses its next requests', async () => {
    const authenticate = () => ({ subject: 'ann', scopes: [] })
    const { events, send } = await open(serve({ authenticate, limits: { unreadBytes: 8_000_000 } }).app)
    for (let id = 1; id <= 3; id++) expect(await send(request('large', {}, id))).toBe(202)
    await expect.poll(() => send(request('tools/list', {}, 4))).toBe(429)
    for (let id = 1; id <= 3; id++) expect(await events.message()).toMatchObject({ id, result: {} })
    await expect.poll(() => send(request('tools/list', {}, 5)), { timeout: 3_000 }).toBe(202)
    await events.cancel()
  })

  it('answers a request on its stream if the store cannot be reached, and the id can be used again', async () => {
    const { events, send } = await open(serve().app)
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await send(request('broken'))).toBe(202)
      expect(await events.message()).toMatchObject({ id: 1, error: { code: -32603 } })
    }
    await events.cancel()
  })

  it('is not opened by a client that connects while the endpoint is closed', async () => {
    const bus = createSlowBus()
    const { app } = serve({ sessions: { bus } })
    const opening = app.request('/sse', { headers: { accept: 'text/event-stream' } })
    await bus.isAsked
    app.close()
    bus.accept()
    expect((await opening).status).toBe(503)
    await expect.poll(() => bus.subscriptions.size).toBe(0)
  })

  it('ends with the server', async () => {
    const { app } = serve()
    const { events } = await open(app)
    app.close()
    expect(await events.next()).toBeUndefined()
  })

  it('is disabled by default', async () => {
    const app = mcp(new HandWritten())
    expect((await app.request('/sse')).status).toBe(405)
    expect(await json(await post(app, handshake))).toMatchObject({ result: { protocolVersion: FIRST } })
    expect((await get(app)).status).toBe(405)
  })
})

describe('a POST that reaches another process than its stream', () => {
  const authenticate = ({ headers }: Request) => ({
    subject: headers.get('x-who') ?? 'ann',
    scopes: (headers.get('x-scopes') ?? '').split(' '),
  })

  /** Opens a stream at one of two processes. Its messages are sent to the other process. */
  async function openElsewhere(limits: EndpointOptions['limits'] = {}) {
    const sessions = { bus: createMemoryEventBus() }
    const here = serve({ sessions, authenticate, limits })
    const there = serve({ sessions, authenticate })
    const { events, url } = await open(here.app)
    const send = async (body: unknown, headers: Record<string, string> = {}, to = url) => {
      const init = { method: 'POST', body: JSON.stringify(body) }
      return (await there.app.request(to, { ...init, headers: { 'content-type': 'application/json', ...headers } }))
        .status
    }
    return { here, there, events, send, url }
  }

  it('is handled by the process of the stream, with the caller of the POST', async () => {
    const { here, there, events, send } = await openElsewhere()
    expect(await send(handshake)).toBe(202)
    expect(await events.message()).toMatchObject({ result: { protocolVersion: FIRST } })
    expect(await send(request('tools/call'), { 'x-scopes': 'read write' })).toBe(202)
    const asked = await events.message()
    expect(asked).toMatchObject({ method: 'roots/list' })
    expect(await send({ jsonrpc: '2.0', id: asked?.id, result: { roots: [] } })).toBe(202)
    expect(await events.message()).toMatchObject({ id: 1, result: { answer: { roots: [] } } })
    expect(here.server.exchanges.at(-1)?.auth?.scopes).toEqual(['read', 'write'])
    expect(there.server.exchanges).toEqual([])
    await events.cancel()
  })

  it('may be a batch, in the revision that supports batches', async () => {
    const { events, send } = await openElsewhere()
    expect(await send([request('tools/list')])).toBe(400)
    await send(request('initialize', { protocolVersion: '2025-03-26' }, 0))
    await events.message()
    expect(await send([request('tools/list'), { jsonrpc: '1.0', id: 2, method: 'tools/list' }])).toBe(202)
    expect(await events.message()).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32600 } },
    ])
    await events.cancel()
  })

  it.each([
    ['running', { running: 2 }],
    ['receivedBytes', { receivedBytes: 8_000, perCaller: 1 }],
    ['perCaller of limits.receivedBytes', { receivedBytes: 30_000 }],
    ['sessionRequests', { sessionRequests: 2 }],
  ])('counts in limits.%s of the process of the stream, until it is answered', async (_, limits) => {
    const { events, send } = await openElsewhere(limits)
    const slow = (id: number) => send(request('slow', { text: 'x'.repeat(1_000) }, id))
    expect([await slow(1), await slow(2)]).toEqual([202, 202])
    expect([429, 503]).toContain(await slow(3))
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    expect(await slow(3)).toBe(202)
    await events.cancel()
  })

  it('is rejected while the client does not read its stream', async () => {
    const { events, send } = await openElsewhere({ unreadBytes: 8_000_000 })
    for (let id = 1; id <= 3; id++) expect(await send(request('large', {}, id))).toBe(202)
    await expect.poll(() => send(request('tools/list', {}, 4))).toBe(429)
    for (let id = 1; id <= 3; id++) expect(await events.message()).toMatchObject({ id, result: {} })
    await events.cancel()
  })

  it('is rejected by a draining process, except for responses', async () => {
    const { here, events, send } = await openElsewhere()
    await send(handshake)
    await events.message()
    await send(request('tools/call'))
    const asked = await events.message()
    const drained = here.app.drain(5_000)
    expect(await send(request('tools/list', {}, 2))).toBe(503)
    expect(await send({ jsonrpc: '2.0', id: asked?.id, result: { roots: [] } })).toBe(202)
    expect(await events.message()).toMatchObject({ id: 1, result: { answer: { roots: [] } } })
    await drained
  })

  it('is rejected with 504 if the process of the stream does not reply', { timeout: 20_000 }, async () => {
    const { send, url } = await openElsewhere()
    const gone = url.replace(/=[0-9a-f]{16}-/, '=0000000000000000-')
    expect(await send(handshake, {}, gone)).toBe(504)
  })

  it('is rejected for another caller, for an unknown connection, and after the end of the stream', async () => {
    const { events, send, url } = await openElsewhere()
    expect(await send(handshake, { 'x-who': 'bob' })).toBe(404)
    expect(await send(handshake, {}, url.slice(0, -1))).toBe(404)
    expect(await send(handshake)).toBe(202)
    await events.cancel()
    expect(await send(request('tools/list'))).toBe(404)
  })
})
