import { errorMessage } from '@mcpx/protocol'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import {
  eventsOf,
  gate,
  get,
  HandWritten,
  json,
  LEGACY,
  MODERN,
  modern,
  post,
  postModern,
  request,
} from './server.fixture.ts'

const KEY = 'io.modelcontextprotocol'
const echo = new HandWritten({
  'tools/call': (params) => ({ content: [], said: params.arguments }),
  'prompts/get': () => ({ messages: [] }),
  'resources/read': () => ({ contents: [] }),
  'server/discover': () => ({ supportedVersions: [MODERN] }),
  'subscriptions/listen': () => ({}),
})

describe('a modern POST', () => {
  it('is answered with JSON if the handler sends no notifications [S-110, S-113, S-127]', async () => {
    const response = await postModern(mcp(echo), modern('tools/call', { name: 'a', arguments: { x: 1 } }, 'id-7'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('mcp-session-id')).toBeNull()
    expect(await json(response)).toEqual({ jsonrpc: '2.0', id: 'id-7', result: { content: [], said: { x: 1 } } })
  })

  it('is answered with a stream of one event with `responses: events`, except for errors and clients that do not accept streams', async () => {
    const app = mcp(echo, { responses: 'events' })
    const response = await postModern(app, modern('tools/call', { name: 'a', arguments: { x: 1 } }, 7))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await eventsOf(response).rest()).toMatchObject([{ id: 7, result: { said: { x: 1 } } }])
    const refused = await postModern(app, modern('tools/none'))
    expect([refused.status, refused.headers.get('content-type')]).toEqual([404, 'application/json'])
    const plain = await postModern(app, modern('tools/call', { name: 'a' }), { accept: 'application/json' })
    expect(plain.headers.get('content-type')).toBe('application/json')
  })

  it('becomes a stream if the handler sends notifications, without ids or retry [S-113, S-115, S-124, S-127, S-128]', async () => {
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
          return { content: [] }
        },
      }),
    )
    const response = await postModern(app, modern('tools/call', { name: 'a' }))
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    const text = await response.text()
    expect(text).not.toMatch(/^(?:id|retry|event):/m)
    expect(text.split('\n\n').filter(Boolean)).toHaveLength(2)
    expect(text).toContain('"result":{"content":[]}')
  })

  it('sends an error as the last event once the stream has begun, and 200 stays the status [S-126]', async () => {
    const app = mcp({
      async respond(message, exchange) {
        if (!('id' in message)) return undefined
        await exchange.notify('notifications/message', { level: 'info', data: 1 })
        throw new Error('secret')
      },
    })
    const events = eventsOf(await postModern(app, modern('tools/call', { name: 'a' })))
    const [, last] = await events.rest()
    expect(last).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } })
  })

  it('is answered with 200 for errors of handlers, and with a specific status for transport errors [S-126]', async () => {
    const failing = (code: number) =>
      mcp({
        respond: (message) => ('id' in message ? errorMessage(message.id, { code, message: 'no' }) : undefined),
      })
    for (const [code, status] of [
      [-32602, 200],
      [-32603, 200],
      [-32000, 200],
      [-32601, 404],
      [-32021, 400],
    ] as const) {
      const response = await postModern(failing(code), modern('tools/call', { name: 'a' }))
      expect([response.status, await json(response)]).toMatchObject([status, { id: 1, error: { code } }])
    }
  })

  it('is answered with 202 and no body for a notification [S-114]', async () => {
    const server = new HandWritten()
    const response = await post(
      mcp(server),
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
      { 'mcp-protocol-version': MODERN },
    )
    expect([response.status, await response.text()]).toEqual([202, ''])
    expect(server.notifications).toHaveLength(1)
  })

  it('ignores session ids and Last-Event-ID [S-123]', async () => {
    const response = await postModern(mcp(echo), modern('server/discover'), {
      'mcp-session-id': 'x',
      'last-event-id': 'y',
    })
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null])
  })

  it('reports a disconnected client with the same error on every runtime', async () => {
    const started = gate()
    const aborted = gate<unknown>()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, { signal }) => {
          signal.addEventListener('abort', () => aborted.open(signal.reason))
          started.open()
          await aborted.promise
          return {}
        },
      }),
    )
    const gone = new AbortController()
    const answer = postModern(app, modern('tools/call', { name: 'a' }), {}, { signal: gone.signal })
    await started.promise
    gone.abort()
    expect(await aborted.promise).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    await answer
  })

  it('is aborted when the client disconnects, and drops later messages [S-092]', async () => {
    const started = gate()
    const aborted = gate<unknown>()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          exchange.signal.addEventListener('abort', () => aborted.open(exchange.signal.reason))
          await exchange.notify('notifications/message', { level: 'info', data: 1 })
          started.open()
          await aborted.promise
          await exchange.notify('notifications/message', { level: 'info', data: 2 })
          return {}
        },
      }),
    )
    const response = await postModern(app, modern('tools/call', { name: 'a' }))
    await started.promise
    await response.body?.cancel()
    expect(await aborted.promise).toBeInstanceOf(Error)
  })

  it('is aborted when the client disconnects before the first message [S-092]', async () => {
    const client = new AbortController()
    const aborted = gate()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          exchange.signal.addEventListener('abort', () => aborted.open())
          client.abort()
          await aborted.promise
          return {}
        },
      }),
    )
    const message = modern('tools/call', { name: 'a' })
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'a' }
    await post(app, message, headers, { signal: client.signal }).catch(() => {})
    await aborted.promise
  })

  it('keeps a silent stream open with comments [S-078, S-124]', async () => {
    const app = mcp(
      new HandWritten({
        'subscriptions/listen': async (_params, exchange) => {
          await exchange.notify('notifications/subscriptions/acknowledged', {})
          await new Promise((resolve) => exchange.signal.addEventListener('abort', resolve))
          return {}
        },
      }),
      { keepAlive: 5 },
    )
    const events = eventsOf(await postModern(app, modern('subscriptions/listen')))
    expect(await events.message()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
    expect(await events.comment()).toBe('')
    await events.cancel()
  })

  it('cuts the stream of a client that does not read, and aborts the call', async () => {
    const gone = gate<unknown>()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, { signal, notify }) => {
          signal.addEventListener('abort', () => gone.open(signal.reason))
          void notify
          return {}
        },
        'prompts/get': async (_params, exchange) => {
          const { signal } = exchange
          signal.addEventListener('abort', () => gone.open(signal.reason))
          for (let n = 0; n < 100 && !signal.aborted; n++) {
            void exchange.notify('notifications/message', { level: 'info', data: 'x'.repeat(10_000) })
          }
          return {}
        },
      }),
      { limits: { unsent: 100_000 } },
    )
    const response = await postModern(app, modern('prompts/get', { name: 'a' }))
    expect(await gone.promise).toMatchObject({ reason: 'limit' })
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a mounted app', () => {
  it('answers only at its path', async () => {
    const app = new Hono().route('/api/mcp', mcp(echo))
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN }
    const body = JSON.stringify(modern('server/discover'))
    const status = async (path: string) => {
      const request = { method: 'POST', body, headers: { ...headers, 'mcp-method': 'server/discover' } }
      return (await app.request(path, request)).status
    }
    expect([await status('/api/mcp'), await status('/api/mcp/'), await status('/api')]).toEqual([200, 200, 404])
  })
})

describe('JSON mode', () => {
  it('drops notifications, and supports no subscriptions [S-127]', async () => {
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          await exchange.notify('notifications/message', { level: 'info', data: 1 })
          return { content: [] }
        },
      }),
      { responses: 'json' },
    )
    const response = await postModern(app, modern('tools/call', { name: 'a' }))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await json(response)).toMatchObject({ result: { content: [] } })
    expect((await postModern(app, modern('subscriptions/listen'))).status).toBe(404)
  })

  it('is used for clients that accept only JSON', async () => {
    const response = await postModern(mcp(echo), modern('subscriptions/listen'), { accept: 'application/json' })
    expect(response.status).toBe(404)
  })
})

describe('the headers and metadata of a modern request', () => {
  const call = modern('tools/call', { name: 'a' })
  const { [`${KEY}/clientCapabilities`]: _, ...halfMeta } = (call.params as { _meta: Record<string, unknown> })._meta

  it.each([
    ['no capabilities', request('tools/call', { name: 'a', _meta: halfMeta }), {}, 400, -32602],
    [
      'missing capabilities before a wrong header',
      request('tools/call', { _meta: halfMeta }),
      { 'mcp-method': 'x' },
      400,
      -32602,
    ],
    ['no metadata with a modern header', request('tools/call', { name: 'a' }), {}, 400, -32602],
    ['no version header', call, { 'mcp-protocol-version': undefined }, 400, -32020],
    ['another version in the header', call, { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    ['no method header', call, { 'mcp-method': undefined }, 400, -32020],
    ['another method', call, { 'mcp-method': 'tools/list' }, 400, -32020],
    ['the method in another case', call, { 'mcp-method': 'Tools/Call' }, 400, -32020],
    ['no name header', call, { 'mcp-name': undefined }, 400, -32020],
    ['another name', call, { 'mcp-name': 'b' }, 400, -32020],
    ['a name with invalid Base64', call, { 'mcp-name': '=?base64?YQ?=' }, 400, -32020],
    ['a name sent twice', call, { 'mcp-name': 'a, a' }, 400, -32020],
    ['an unknown method', modern('nope'), {}, 404, -32601],
    ['initialize', modern('initialize'), {}, 404, -32601],
  ])('%s [S-116, S-117, S-118, S-119, S-122]', async (_what, message, headers, status, code) => {
    const response = await postModern(mcp(echo), message, headers)
    expect(response.status).toBe(status)
    expect(await json(response)).toMatchObject({ id: 1, error: { code } })
  })

  it('reject an unsupported revision before other headers are checked', async () => {
    const meta = { [`${KEY}/protocolVersion`]: '2099-01-01', [`${KEY}/clientCapabilities`]: {} }
    const response = await post(mcp(echo), request('tools/list', { _meta: meta }), {
      'mcp-protocol-version': '2099-01-01',
    })
    expect(response.status).toBe(400)
    expect(await json(response)).toMatchObject({
      error: { code: -32022, data: { supported: [MODERN], requested: '2099-01-01' } },
    })
  })

  it.each([
    ['white space around', { 'mcp-name': '  a\t' }],
    ['base64', { 'mcp-name': '=?base64?YQ==?=' }],
    ['another case of the header name', { 'mcp-name': undefined, 'MCP-NAME': 'a' }],
  ])('accept the name with %s [S-118, S-119]', async (_what, headers) => {
    expect((await postModern(mcp(echo), call, headers)).status).toBe(200)
  })

  it('compare non-ASCII names by their Base64 [S-119]', async () => {
    const message = modern('resources/read', { uri: 'x:日本語' })
    const headers = { 'mcp-name': `=?base64?${Buffer.from('x:日本語').toString('base64')}?=` }
    expect((await postModern(mcp(echo), message, headers)).status).toBe(200)
  })
})

describe('an endpoint with the modern era only', () => {
  const app = mcp(echo, { legacy: false })

  it.each([
    [{}],
    [{ 'mcp-protocol-version': LEGACY }],
    [{ 'mcp-protocol-version': MODERN }],
    [{ 'mcp-session-id': 'of-another-server' }],
  ])('returns its versions for a handshake with %j [S-125]', async (headers) => {
    const response = await post(app, request('initialize', { protocolVersion: LEGACY }), headers)
    expect(response.status).toBe(400)
    expect(await json(response)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32022,
        message: `Unsupported protocol version "${LEGACY}"; supported: ${MODERN}`,
        data: { supported: [MODERN], requested: LEGACY },
      },
    })
  })

  it('returns its versions for a handshake without a version', async () => {
    const response = await post(app, request('initialize'))
    expect(await json(response)).toMatchObject({ error: { code: -32022, data: { supported: [MODERN] } } })
  })

  it.each([
    [{}, -32020],
    [{ 'mcp-session-id': 'of-another-server' }, -32020],
    [{ 'mcp-protocol-version': LEGACY }, -32022],
    [{ 'mcp-protocol-version': LEGACY, 'mcp-session-id': 'of-another-server' }, -32022],
    [{ 'mcp-protocol-version': 'no-version' }, -32022],
  ])('returns its versions for other legacy requests, with %j [S-117, S-125]', async (headers, code) => {
    const response = await post(app, request('tools/list'), headers)
    expect(response.status).toBe(400)
    const { error } = (await json(response)) as { error: { code: number; message: string; data: object } }
    expect(error).toMatchObject({ code, data: { supported: [MODERN] } })
    expect(error.message).toContain(MODERN)
    expect(error.message).not.toContain('initialize')
  })

  it('supports only POST [S-123]', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await get(app, {}, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  it.each([
    ['an array', [modern('tools/list')]],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }],
  ])('rejects %s with 400', async (_what, body) => {
    const response = await post(app, body)
    expect(response.status).toBe(400)
    expect(await json(response)).toMatchObject({ error: { code: -32600 } })
  })
})

describe('an endpoint of a server with `legacy: false`', () => {
  const server = Object.assign(new HandWritten({ 'tools/list': () => ({ tools: [] }) }), { legacy: false })

  it.each([undefined, true])('has the modern era only, with the option %s [S-123]', async (legacy) => {
    const app = mcp(server, { legacy, sse: '/sse' })
    expect((await postModern(app, modern('tools/list'))).status).toBe(200)
    for (const [method, code] of [
      ['initialize', -32022],
      ['tools/list', -32020],
    ] as const) {
      const response = await post(app, request(method, { protocolVersion: LEGACY }), { 'mcp-session-id': 'x' })
      expect([response.status, await json(response)]).toMatchObject([
        400,
        { error: { code, data: { supported: [MODERN] } } },
      ])
    }
    for (const method of ['GET', 'DELETE']) {
      const response = await get(app, { 'mcp-session-id': 'x' }, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect(server.exchanges.every(({ session }) => session === undefined)).toBe(true)
  })
})
