import { type Responder, resultMessage } from '@mcpx/protocol'
import { createMemoryEventBus, createMemorySessionStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import type { EndpointOptions } from './options.ts'
import { eventsOf, gate, get, HandWritten, json, LEGACY, modern, openSession, post, request } from './server.fixture.ts'

const tick = () => new Promise((resolve) => setTimeout(resolve, 5))

function simple() {
  return new HandWritten({
    'tools/list': (_params, { session }) => ({ tools: [], revision: session?.state.revision }),
    'logging/setLevel': async (params, { session }) => {
      await session?.update((state) => void Object.assign(state, { logLevel: params.level }))
      return { level: session?.state.logLevel }
    },
  })
}

describe('a session', () => {
  it('is opened by the handshake, named by a header, and ended by DELETE [S-131, S-132]', async () => {
    const app = mcp(simple())
    const id = await openSession(app)
    expect(id).toMatch(/^[\x21-\x7e]{20,}$/)
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const listed = await post(app, request('tools/list'), headers)
    expect([listed.status, listed.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await json(listed)).toMatchObject({ id: 1, result: { revision: '2025-11-25' } })
    expect((await get(app, headers, { method: 'DELETE' })).status).toBe(204)
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { body: JSON.stringify(request('tools/list')) } : {}
      expect((await get(app, headers, { method, ...body })).status).toBe(404)
    }
  })

  it('stores changes of one request for the next one', async () => {
    const app = mcp(simple())
    const headers = { 'mcp-session-id': await openSession(app) }
    await post(app, request('logging/setLevel', { level: 'error' }), headers)
    expect(await json(await post(app, request('logging/setLevel', {}), headers))).toMatchObject({ result: {} })
  })

  it.each([
    ['there are no sessions', { sessions: false }, false],
    ['all responses are JSON', { responses: 'json' }, false],
    ['clients can listen', {}, true],
  ] as const)('offers to tell of changes only where it can: %s', async (_, options, tells) => {
    const others = { logging: {}, experimental: { 'acme/feed': { listChanged: true, subscribe: true } } }
    const offered = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, ...others }
    const opened = { protocolVersion: LEGACY, capabilities: offered, serverInfo: { name: 'a', version: '1' } }
    const server: Responder = {
      respond: async (message) => ('id' in message ? resultMessage(message.id, opened) : undefined),
    }
    const answer = await json(await post(mcp(server, options), request('initialize', { protocolVersion: LEGACY })))
    const capabilities = tells ? offered : { tools: {}, resources: {}, ...others }
    expect(answer.result).toEqual({ ...opened, capabilities })
  })

  it('is not opened by a failed handshake', async () => {
    const response = await post(mcp(simple()), request('initialize'))
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null])
    expect(await json(response)).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  it.each([
    ['POST', { body: JSON.stringify(request('tools/list')) }, 400],
    ['GET', {}, 405],
    ['DELETE', {}, 400],
  ])(
    'is refused if it is missing, and causes 404 if it is unknown: %s [S-130, S-132]',
    async (method, init, status) => {
      const app = mcp(simple())
      expect((await get(app, {}, { method, ...init })).status).toBe(status)
      expect((await get(app, { 'mcp-session-id': 'x' }, { method, ...init })).status).toBe(404)
    },
  )

  it('causes an error with the code and the words of the official SDKs if it is unknown', async () => {
    const response = await post(mcp(simple()), request('tools/list'), { 'mcp-session-id': 'x' })
    expect(await json(response)).toMatchObject({
      error: { code: -32001, message: expect.stringMatching(/^Session not found/) },
    })
  })

  it('rejects unknown versions, and modern ones without metadata [S-133]', async () => {
    const app = mcp(simple())
    const session = { 'mcp-session-id': await openSession(app) }
    const odd = await post(app, request('tools/list'), { ...session, 'mcp-protocol-version': '1999-01-01' })
    expect([odd.status, (await json(odd)).id]).toEqual([400, 1])
    const modern = await post(app, request('tools/list'), { ...session, 'mcp-protocol-version': '2026-07-28' })
    expect([modern.status, (await json(modern)).error]).toMatchObject([400, { code: -32602 }])
  })

  it('expires if it is not used for its ttl', async () => {
    const app = mcp(simple(), { sessions: { ttl: 30 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await post(app, request('tools/list'), headers)).status).toBe(404)
  })

  it('is extended by each use for its ttl', async () => {
    const app = mcp(simple(), { sessions: { ttl: 250 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    for (let n = 0; n < 3; n++) {
      await new Promise((resolve) => setTimeout(resolve, 125))
      expect((await post(app, request('tools/list'), headers)).status).toBe(200)
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect((await post(app, request('tools/list'), headers)).status).toBe(404)
  })

  it('belongs to its principal [S-142]', async () => {
    const app = mcp(simple(), {
      authenticate: ({ headers }) => ({ subject: headers.get('authorization') ?? '', scopes: [] }),
    })
    const id = await openSession(app, '2025-11-25', { authorization: 'ann' })
    const asked = (authorization: string) => post(app, request('tools/list'), { 'mcp-session-id': id, authorization })
    expect((await asked('ann')).status).toBe(200)
    expect((await asked('bob')).status).toBe(404)
  })

  it('uses status 200 for errors of methods, because 404 means that the session has ended', async () => {
    const app = mcp(simple())
    const response = await post(app, request('nope'), { 'mcp-session-id': await openSession(app) })
    expect([response.status, (await json(response)).error]).toMatchObject([200, { code: -32601 }])
  })

  it('accepts notifications and responses with 202 [S-134]', async () => {
    const server = simple()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    expect((await post(app, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(202)
    expect((await post(app, { jsonrpc: '2.0', id: 'x', result: {} }, headers)).status).toBe(202)
    expect(server.notifications).toHaveLength(1)
  })

  it('continues in another process with the same store', async () => {
    const store = createMemorySessionStore()
    const headers = { 'mcp-session-id': await openSession(mcp(simple(), { sessions: { store } })) }
    const other = await post(mcp(simple(), { sessions: { store } }), request('tools/list'), headers)
    expect(await json(other)).toMatchObject({ result: { revision: '2025-11-25' } })
  })
})

describe('a running request', () => {
  function slow(options: EndpointOptions = {}) {
    const held = gate()
    const started = gate()
    const signals: AbortSignal[] = []
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        signals.push(exchange.signal)
        started.open()
        await held.promise
        if (exchange.signal.aborted) await exchange.notify('notifications/message', { level: 'info', data: 'late' })
        return { content: [] }
      },
    })
    return { app: mcp(server, options), held, started, signals }
  }

  it('blocks its id for other requests', async () => {
    const { app, held, started } = slow()
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = post(app, request('tools/call', {}, 7), headers)
    await started.promise
    const second = await post(app, request('tools/call', {}, 7), headers)
    expect([second.status, await json(second)]).toMatchObject([400, { id: 7, error: { code: -32600 } }])
    const other = { 'mcp-session-id': await openSession(app) }
    const third = post(app, request('tools/call', {}, 7), other)
    held.open()
    expect([(await first).status, (await third).status]).toEqual([200, 200])
  })

  it('is cancelled by a notification, has no response, and frees its id [S-137]', async () => {
    const { app, held, started, signals } = slow()
    const headers = { 'mcp-session-id': await openSession(app) }
    const running = post(app, request('tools/call', {}, 7), headers)
    await started.promise
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await post(app, cancelled, headers)).status).toBe(202)
    expect(signals[0]?.aborted).toBe(true)
    held.open()
    expect(await (await running).text()).toBe('')
  })

  it('continues if its client disconnects [S-137]', async () => {
    const { app, held, started, signals } = slow()
    const headers = { 'mcp-session-id': await openSession(app) }
    const client = new AbortController()
    const running = post(app, request('tools/call'), headers, { signal: client.signal }).catch(() => {})
    await started.promise
    client.abort()
    await tick()
    expect(signals[0]?.aborted).toBe(false)
    held.open()
    await running
  })

  it('is one of a limited number', async () => {
    const { app, held, started } = slow({ limits: { sessionRequests: 1 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = post(app, request('tools/call', {}, 1), headers)
    await started.promise
    const second = await post(app, request('tools/call', {}, 2), headers)
    expect(second.status).toBe(429)
    expect(await second.text()).toContain('at most 1')
    held.open()
    await first
  })

  it('ends with its session', async () => {
    const { app, held, started, signals } = slow()
    const headers = { 'mcp-session-id': await openSession(app) }
    const running = post(app, request('tools/call'), headers)
    await started.promise
    await get(app, headers, { method: 'DELETE' })
    expect(signals[0]?.aborted).toBe(true)
    held.open()
    await running
  })
})

describe('input requests', () => {
  function asking() {
    const outcomes: unknown[] = []
    const server = new HandWritten({
      'tools/call': async (params, { session }) => {
        try {
          const answer = await session?.request('elicitation/create', { message: 'Sure?' }, { ...params })
          outcomes.push(answer)
          return { answer }
        } catch (error) {
          outcomes.push(error)
          return { failed: (error as Error).message }
        }
      },
    })
    return { server, outcomes }
  }

  it('are sent on the stream of their request, and answered by a POST [S-135]', async () => {
    const { server } = asking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call', {}, 9), headers))
    const asked = await events.message()
    expect(asked).toMatchObject({ method: 'elicitation/create', params: { message: 'Sure?' } })
    const answer = { jsonrpc: '2.0', id: asked?.id, result: { action: 'accept' } }
    expect((await post(app, answer, headers)).status).toBe(202)
    expect(await events.rest()).toEqual([{ jsonrpc: '2.0', id: 9, result: { answer: { action: 'accept' } } }])
  })

  it('reject with the error of the client', async () => {
    const { server, outcomes } = asking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call'), headers))
    const asked = await events.message()
    await post(app, { jsonrpc: '2.0', id: asked?.id, error: { code: -1, message: 'no' } }, headers)
    await events.rest()
    expect(outcomes).toMatchObject([{ name: 'RpcError', code: -1, message: 'no' }])
  })

  it('are answered only by their own session', async () => {
    const { server } = asking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call', { timeout: 40 }), headers))
    const asked = await events.message()
    const stranger = { 'mcp-session-id': await openSession(app) }
    await post(app, { jsonrpc: '2.0', id: asked?.id, result: { action: 'accept' } }, stranger)
    const [given, last] = await events.rest()
    expect(given).toMatchObject({ method: 'notifications/cancelled', params: { requestId: asked?.id } })
    expect(last).toMatchObject({ result: { failed: expect.stringContaining('No response to') } })
  })

  it('are answered through the bus if the answer reaches another process', async () => {
    const { server } = asking()
    const sessions = { store: createMemorySessionStore(), bus: createMemoryEventBus() }
    const [here, there] = [mcp(server, { sessions }), mcp(simple(), { sessions })]
    const headers = { 'mcp-session-id': await openSession(here) }
    const events = eventsOf(await post(here, request('tools/call'), headers))
    const asked = await events.message()
    await post(there, { jsonrpc: '2.0', id: asked?.id, result: { action: 'decline' } }, headers)
    expect(await events.rest()).toMatchObject([{ result: { answer: { action: 'decline' } } }])
  })

  it('fail at once without a stream', async () => {
    const { server, outcomes } = asking()
    const app = mcp(server, { responses: 'json' })
    await post(app, request('tools/call'), { 'mcp-session-id': await openSession(app) })
    expect(outcomes).toMatchObject([{ name: 'ConnectionError', reason: 'unreachable' }])
  })

  it('fail if the stream is lost and not stored', async () => {
    const { server, outcomes } = asking()
    const app = mcp(server, { sessions: { events: false } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call'), headers))
    await events.message()
    await events.cancel()
    await tick()
    expect(outcomes).toMatchObject([{ reason: 'unreachable' }])
  })
})

describe('batches', () => {
  const batch = [
    request('tools/list', {}, 1),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    request('nope', {}, 2),
  ]

  it('are answered by batches in the only revision that supports them [S-140]', async () => {
    const app = mcp(simple())
    const headers = { 'mcp-session-id': await openSession(app, '2025-03-26') }
    const response = await post(app, batch, headers)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      [
        { id: 1, result: {} },
        { id: 2, error: { code: -32601 } },
      ],
    ])
    expect((await post(app, [batch[1]], headers)).status).toBe(202)
    const mixed = await post(app, [7, request('tools/list', {}, 3)], headers)
    expect(await mixed.json()).toMatchObject([{ error: { code: -32600 } }, { id: 3 }])
    const twice = await post(app, [request('tools/list', {}, 4), request('tools/list', {}, 4)], headers)
    expect(await twice.json()).toMatchObject([
      { id: 4, result: {} },
      { id: 4, error: { code: -32600 } },
    ])
  })

  it('are answered whole when the store cannot be reached for one of their requests', async () => {
    const problems: Error[] = []
    const lost = Object.assign(new Error('no connection'), { retryable: true })
    const server = new HandWritten({
      'tools/list': () => ({ tools: [] }),
      'prompts/list': () => Promise.reject(lost),
    })
    const app = mcp(server, { onWarning: (problem) => problems.push(problem) })
    const headers = { 'mcp-session-id': await openSession(app, '2025-03-26') }
    const response = await post(app, [request('tools/list', {}, 1), request('prompts/list', {}, 2)], headers)
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'Internal error' } },
    ])
    expect(problems).toEqual([lost])
  })

  it('are rejected in other revisions, and without a session [S-140]', async () => {
    const app = mcp(simple())
    expect((await post(app, batch, { 'mcp-session-id': await openSession(app) })).status).toBe(400)
    expect((await post(app, batch)).status).toBe(400)
    const headers = { 'mcp-session-id': await openSession(app, '2025-03-26') }
    const mixed = await post(app, [request('tools/list'), modern('tools/list')], headers)
    expect([mixed.status, await json(mixed)]).toMatchObject([400, { error: { code: -32600 } }])
  })
})

describe('without sessions', () => {
  it('each request is independent [S-133]', async () => {
    const app = mcp(simple(), { sessions: false })
    const params = { protocolVersion: '2025-06-18', capabilities: {} }
    const opened = await post(app, request('initialize', params))
    expect([opened.status, opened.headers.get('mcp-session-id')]).toEqual([200, null])
    const listed = await post(app, request('tools/list'), { 'mcp-protocol-version': '2025-06-18' })
    expect(await json(listed)).toMatchObject({ result: { revision: '2025-06-18' } })
    expect(await json(await post(app, request('tools/list')))).toMatchObject({ result: { revision: '2025-03-26' } })
    for (const method of ['GET', 'DELETE']) expect((await get(app, {}, { method })).status).toBe(405)
  })
})

describe('an error response', () => {
  it('has the id of the request, and none for other messages', async () => {
    const app = mcp(new HandWritten({ 'tools/list': () => ({ tools: [] }) }), { limits: { sessionRequests: 0 } })
    const session = { 'mcp-session-id': await openSession(app) }
    const ask = (headers: Record<string, string>) => post(app, request('tools/list', {}, 'of-mine'), headers)
    for (const [headers, status] of [
      [{}, 400],
      [{ 'mcp-session-id': 'no-such' }, 404],
      [{ ...session, 'mcp-protocol-version': '1999-01-01' }, 400],
      [session, 429],
    ] as const) {
      const response = await ask(headers)
      expect([response.status, await json(response)]).toMatchObject([status, { id: 'of-mine' }])
    }
    const told = await post(app, { jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': 'no' })
    expect([told.status, await json(told)]).toEqual([404, expect.not.objectContaining({ id: expect.anything() })])
  })

  it('has the id of a request above the stream limit', async () => {
    const app = mcp(new HandWritten({ 'tools/list': () => ({ tools: [] }) }), { limits: { sessionStreams: 0 } })
    const session = { 'mcp-session-id': await openSession(app) }
    const response = await post(app, request('tools/list', {}, 7), session)
    expect([response.status, await json(response)]).toMatchObject([429, { id: 7 }])
  })

  it('has the id of a request that is rejected while draining', async () => {
    const held = gate<object>()
    const begun = gate<void>()
    const list = () => {
      begun.open()
      return held.promise
    }
    const app = mcp(new HandWritten({ 'tools/list': list }))
    const session = { 'mcp-session-id': await openSession(app) }
    const first = post(app, request('tools/list', {}, 1), session)
    await begun.promise
    const drained = app.drain()
    const late = await post(app, request('tools/list', {}, 2), session)
    expect([late.status, late.headers.get('retry-after'), await json(late)]).toMatchObject([503, '1', { id: 2 }])
    held.open({ tools: [] })
    expect(await json(await first)).toMatchObject({ id: 1, result: {} })
    await drained
  })
})
