import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { gate, get, HandWritten, json, MODERN, modern, post, postModern, request } from './server.fixture.ts'

const server = new HandWritten({ 'tools/list': () => ({ tools: [] }), 'tools/call': () => ({ content: [] }) })
const list = modern('tools/list')

describe('hosts and origins', () => {
  it.each([
    [{ host: 'localhost' }],
    [{ host: 'LOCALHOST:3000' }],
    [{ host: '127.0.0.1:80' }],
    [{ host: '[::1]:3000' }],
    [{ host: 'localhost', origin: 'http://localhost:5173' }],
    [{ host: 'localhost', origin: 'https://127.0.0.1' }],
  ])('are allowed for loopback names by default: %j [S-111, S-112]', async (headers) => {
    expect((await postModern(mcp(server), list, headers)).status).toBe(200)
  })

  it.each([
    [{ host: 'evil.example.com' }, 'allowedHosts'],
    [{ host: 'localhost.evil.example.com' }, 'allowedHosts'],
    [{ host: 'evil.example.com:3000', origin: 'http://evil.example.com:3000' }, 'allowedHosts'],
    [{ host: 'localhost', origin: 'http://evil.example.com' }, 'allowedOrigins'],
    [{ host: 'localhost', origin: 'http://localhost.evil.example.com' }, 'allowedOrigins'],
    [{ host: 'localhost', origin: 'null' }, 'allowedOrigins'],
    [{ host: 'localhost', origin: '' }, 'allowedOrigins'],
    [{ host: 'localhost', origin: 'chrome-extension://localhost' }, 'allowedOrigins'],
    [{ host: 'localhost', origin: 'app://localhost' }, 'allowedOrigins'],
  ])('are rejected with 403 and the option for %j [S-111, S-112]', async (headers, option) => {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const response = await mcp(server).request('/', { method, headers })
      expect(response.status).toBe(403)
      const body = await json(response)
      expect(body).not.toHaveProperty('id')
      expect((body.error as { message: string }).message).toContain(option)
    }
  })

  it('are allowed if they are configured [S-111, S-112]', async () => {
    const app = mcp(server, { allowedHosts: ['mcp.example.com:8443'], allowedOrigins: ['https://app.example.com'] })
    const status = async (host: string, origin?: string) => (await postModern(app, list, { host, origin })).status
    expect(await status('mcp.example.com:8443')).toBe(200)
    expect(await status('mcp.example.com')).toBe(403)
    expect(await status('localhost')).toBe(403)
    expect(await status('mcp.example.com:8443', 'https://app.example.com')).toBe(200)
    expect(await status('mcp.example.com:8443', 'https://mcp.example.com:8443')).toBe(403)
  })

  it('with any host allow only pages of that host', async () => {
    const app = mcp(server, { allowedHosts: '*' })
    const status = async (host: string, origin?: string) => (await postModern(app, list, { host, origin })).status
    expect(await status('a.example.com')).toBe(200)
    expect(await status('a.example.com', 'https://a.example.com')).toBe(200)
    expect(await status('a.example.com', 'https://b.example.com')).toBe(403)
  })
})

describe('content types', () => {
  it.each([['text/plain'], [undefined], ['application/jsonx'], ['multipart/form-data']])('rejects %s', async (type) => {
    expect((await postModern(mcp(server), list, { 'content-type': type })).status).toBe(415)
  })

  it('accepts parameters and any case', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await postModern(mcp(server), list, headers)).status).toBe(200)
  })

  it.each([['application/json'], ['text/event-stream'], ['*/*'], [undefined]])(
    'rejects accepting only %s if it is strict',
    async (accept) => {
      expect((await postModern(mcp(server), list, { accept })).status).toBe(200)
      expect((await postModern(mcp(server, { strictAccept: true }), list, { accept })).status).toBe(406)
    },
  )

  it('accepts both types if it is strict', async () => {
    expect((await postModern(mcp(server, { strictAccept: true }), list)).status).toBe(200)
  })
})

describe('bodies', () => {
  const app = mcp(server, { limits: { body: 400 } })

  it('stops reading at the limit, with the number', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(100))
      },
    })
    const response = await post(app, '', {}, { body, duplex: 'half' } as RequestInit)
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('400')
    expect(pulled).toBeLessThan(10)
  })

  it('does not read a body with a content length above the limit', async () => {
    expect((await post(app, 'x', { 'content-length': '401' })).status).toBe(413)
  })

  it('counts the received bytes, independently of the content length', async () => {
    expect((await post(app, 'x'.repeat(500), { 'content-length': '3' })).status).toBe(413)
  })

  it.each([
    ['invalid JSON', '{', -32700],
    ['nothing', '', -32700],
    ['a number', '7', -32600],
    ['an empty array', '[]', -32600],
    ['an object', '{}', -32600],
  ])('rejects %s with 400 and no id', async (_what, body, code) => {
    const response = await post(mcp(server), body)
    expect(response.status).toBe(400)
    const answer = await json(response)
    expect(answer).toMatchObject({ error: { code } })
    expect(answer).not.toHaveProperty('id')
  })

  it('rejects bytes that are not UTF-8', async () => {
    const response = await post(mcp(server), '', {}, { body: new Uint8Array([0x22, 0xff, 0x22]) })
    expect([response.status, (await json(response)).error]).toMatchObject([400, { code: -32700 }])
  })

  it('returns the id of a rejected request', async () => {
    const response = await post(mcp(server), { jsonrpc: '2.0', id: 5, method: 'a', params: [] })
    expect([response.status, (await json(response)).id]).toEqual([400, 5])
  })
})

describe('authentication', () => {
  it('provides the caller', async () => {
    const seen = new HandWritten({ 'tools/list': (_params, exchange) => ({ tools: [], who: exchange.auth?.subject }) })
    const app = mcp(seen, { authenticate: async () => ({ subject: 'ann', scopes: [] }) })
    expect(await json(await postModern(app, list))).toMatchObject({ result: { who: 'ann' } })
  })

  it('may respond before the body is read', async () => {
    const app = mcp(server, {
      authenticate: () => new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } }),
    })
    const response = await post(app, 'invalid JSON')
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  it('is masked and reported if it fails', async () => {
    const problems: Error[] = []
    const app = mcp(server, {
      authenticate: () => Promise.reject(new Error('secret')),
      onWarning: (problem) => problems.push(problem),
    })
    const response = await postModern(app, list)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(problems).toMatchObject([{ message: 'secret' }])
  })
})

describe('a request above the concurrency limit', () => {
  it('is rejected with 503 and the number', async () => {
    const held = gate()
    const app = mcp(new HandWritten({ 'tools/list': () => held.promise.then(() => ({})) }), { limits: { running: 1 } })
    const first = postModern(app, list)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const second = await postModern(app, list)
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await second.text()).toContain('at most 1')
    held.open()
    expect((await first).status).toBe(200)
    expect((await postModern(app, list)).status).toBe(200)
  })
})

describe('cors', () => {
  const app = mcp(server, { cors: ['https://app.example.com'] })
  const origin = 'https://app.example.com'

  it('answers a preflight with all headers of both eras and requested mirrored headers [S-282]', async () => {
    const response = await get(
      app,
      {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, mcp-param-region, x-other',
      },
      { method: 'OPTIONS' },
    )
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ')
    for (const name of [
      'authorization',
      'content-type',
      'mcp-protocol-version',
      'mcp-session-id',
      'last-event-id',
      'mcp-method',
      'mcp-name',
      'mcp-param-region',
    ]) {
      expect(allowed).toContain(name)
    }
    expect(allowed).not.toContain('x-other')
  })

  it('lets the page read responses and errors [S-282]', async () => {
    for (const response of [await postModern(app, list, { origin }), await post(app, '{', { origin })]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      expect(response.headers.get('access-control-expose-headers')).toContain('mcp-session-id')
      expect(response.headers.get('vary')).toContain('Origin')
    }
  })

  it('rejects other pages', async () => {
    const response = await postModern(app, list, { origin: 'https://other.example.com' })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  it('is off by default: a preflight is an unknown method', async () => {
    const headers = { origin: 'http://localhost', 'access-control-request-method': 'POST' }
    expect((await get(mcp(server), headers, { method: 'OPTIONS' })).status).toBe(405)
  })
})

describe('mirrored arguments', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      sure: { type: 'boolean', 'x-mcp-header': 'Sure' },
      deep: { type: 'object', properties: { inner: { type: 'string', 'x-mcp-header': 'Inner' } } },
      'x-mcp-header': { type: 'string' },
    },
  }
  const app = mcp(server, { toolSchemas: async (name) => (name === 'a' ? schema : undefined) })
  const call = (args: unknown, headers: Record<string, string>, name = 'a') =>
    postModern(app, modern('tools/call', { name, arguments: args }), headers)

  it.each([
    [{ region: 'us-west1' }, { 'mcp-param-region': 'us-west1' }],
    [{ region: '' }, { 'mcp-param-region': '' }],
    [{ region: ' padded ' }, { 'mcp-param-region': '=?base64?IHBhZGRlZCA=?=' }],
    [{ region: '=?base64?literal?=' }, { 'mcp-param-region': '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=' }],
    [{ region: '=?BASE64?YQ==?=' }, { 'mcp-param-region': '=?BASE64?YQ==?=' }],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }],
    [{ sure: true }, { 'mcp-param-sure': 'true' }],
    [{ deep: { inner: 'x' } }, { 'mcp-param-inner': 'x' }],
    [{ region: null }, {}],
    [{}, {}],
    [{}, { 'mcp-param-other': 'ignored' }],
    [undefined, {}],
    ['no object', {}],
  ])('match: %j %j [S-119, S-120, S-121]', async (args, headers) => {
    expect((await call(args, headers)).status).toBe(200)
  })

  it.each([
    [{ region: 'a' }, {}],
    [{ region: 'a' }, { 'mcp-param-region': 'A' }],
    [{ region: 'a' }, { 'mcp-param-region': '=?base64?YQ?=' }],
    [{ region: 'a' }, { 'mcp-param-region': '=?base64?Y!==?=' }],
    [{ region: '\uFFFD' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ count: 42 }, { 'mcp-param-count': '43' }],
    [{ count: 42 }, { 'mcp-param-count': '' }],
    [{ sure: true }, { 'mcp-param-sure': 'True' }],
    [{ deep: { inner: 'x' } }, {}],
  ])('differ: %j %j [S-119, S-120]', async (args, headers) => {
    const response = await call(args, headers)
    expect([response.status, (await json(response)).error]).toMatchObject([400, { code: -32020 }])
  })

  it('are looked up with the responder', async () => {
    const knowing = Object.assign(new HandWritten({ 'tools/call': () => ({}) }), { inputSchemaOf: () => schema })
    const response = await postModern(mcp(knowing), modern('tools/call', { name: 'a', arguments: { region: 'a' } }))
    expect(response.status).toBe(400)
  })

  it('are ignored for an unknown tool', async () => {
    expect((await call({ region: 'a' }, {}, 'other')).status).toBe(200)
  })
})

describe('drain', () => {
  it('waits for running requests, rejects new ones, and aborts the rest', async () => {
    const held = gate()
    const reasons: unknown[] = []
    const app = mcp(
      new HandWritten({
        'tools/list': () => held.promise.then(() => ({ tools: [] })),
        'tools/call': (_params, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason)
              resolve({})
            })
          }),
      }),
    )
    const short = postModern(app, list)
    const endless = postModern(app, modern('tools/call', { name: 'a' }))
    await new Promise((resolve) => setTimeout(resolve, 5))
    const drained = app.drain(60)
    expect((await postModern(app, list)).status).toBe(503)
    held.open()
    expect((await short).status).toBe(200)
    await drained
    await endless
    expect(reasons).toMatchObject([{ reason: 'closed' }])
    expect((await post(app, request('ping'), { 'mcp-protocol-version': MODERN })).status).toBe(503)
  })
})
