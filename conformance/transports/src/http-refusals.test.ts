/** Requests that a server must reject over HTTP, with their status and error code, and requests that it must accept. */

import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { describe, expect, it } from 'vitest'
import { handshake, LEGACY, MODERN, modern } from './connections.fixture.ts'

const shop = () =>
  createServer({ name: 'shop', version: '1' })
    .tool('buy', {}, () => 'bought')
    .prompt('greet', {}, () => 'hello')
    .resource('note://1', {}, () => 'text')

function post(app: ReturnType<typeof mcp>, body: unknown, headers: Record<string, string | undefined> = {}) {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  const entries = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return app.request('/', { method: 'POST', body: JSON.stringify(body), headers: new Headers(entries) })
}

async function summarize(response: Response) {
  const text = await response.text()
  const { id, error } = text === '' ? {} : (JSON.parse(text) as { id?: unknown; error?: { code: number } })
  return [response.status, id, error?.code]
}

describe('a modern server', () => {
  const app = mcp(shop())
  const headersOf = (method: string) => ({ 'mcp-protocol-version': MODERN, 'mcp-method': method })

  it.each([
    ['tools/call', { name: 'buy' }],
    ['prompts/get', { name: 'greet' }],
    ['resources/read', { uri: 'note://1' }],
  ])('requires the target of %s in the Mcp-Name header [S-117, S-118]', async (method, params) => {
    const [name = ''] = Object.values(params)
    const ask = (name: string | undefined) =>
      post(app, { jsonrpc: '2.0', id: 7, method, params: modern(params) }, { ...headersOf(method), 'mcp-name': name })
    expect((await ask(name)).status).toBe(200)
    expect(await summarize(await ask(undefined))).toEqual([400, 7, -32020])
    expect(await summarize(await ask(name.toUpperCase()))).toEqual([400, 7, -32020])
  })

  it.each([['=?BASE64?YnV5?='], ['=?base64?YnV5'], ['=?base64?='], ['=?utf-8?YnV5?=']])(
    'reads %s literally, because it is not valid Base64 [S-119]',
    async (name) => {
      const params = modern({ name })
      const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
      // Unknown tool: this error is only found after the header was accepted.
      const answer = await post(app, message, { ...headersOf('tools/call'), 'mcp-name': name })
      expect(await summarize(answer)).toEqual([200, 7, -32602])
    },
  )

  it.each([
    ['with invalid parameters', { jsonrpc: '2.0', method: 'notifications/cancelled', params: 5 }, {}, 400],
    ['without jsonrpc', { method: 'notifications/cancelled' }, {}, 400],
    [
      'from a foreign origin',
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
      { origin: 'https://evil.example' },
      403,
    ],
    [
      'with another content type',
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
      { 'content-type': 'text/plain' },
      415,
    ],
  ])('rejects a notification %s without an id in the error [S-114]', async (_, message, headers, status) => {
    const [seen, id] = await summarize(await post(app, message, { 'mcp-protocol-version': MODERN, ...headers }))
    expect([seen, id]).toEqual([status, undefined])
  })

  it('answers an unknown method with 404 [S-122]', async () => {
    const message = { jsonrpc: '2.0', id: 7, method: 'x/y', params: modern() }
    expect(await summarize(await post(app, message, headersOf('x/y')))).toEqual([404, 7, -32601])
  })
})

const info = { name: 'shop', version: '1' }
const modernOnly = [
  ['an app with `legacy: false`', mcp(shop(), { legacy: false })],
  ['another app with `legacy: false`', mcp(shop(), { legacy: false })],
  ['a server with `legacy: false`', mcp(createServer(info, { legacy: false }).tool('buy', {}, () => 'bought'))],
  ['another server with `legacy: false`', mcp(createServer(info, { legacy: false }).tool('buy', {}, () => 'bought'))],
  [
    'a server with `legacy: false` on an app without sessions',
    mcp(createServer(info, { legacy: false }), { sessions: false }),
  ],
] as const

describe.each(modernOnly)('%s', (_, app) => {
  const send = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init))
  const url = 'http://localhost/mcp'

  it('rejects every legacy request with its supported revisions', async () => {
    const header = { 'mcp-protocol-version': LEGACY }
    const session = { 'mcp-session-id': 'lost' }
    for (const [method, headers, code] of [
      ['initialize', {}, -32022],
      ['initialize', header, -32022],
      ['tools/list', {}, -32020],
      ['tools/list', session, -32020],
      ['tools/list', { ...header, ...session }, -32022],
    ] as const) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: handshake() })
      const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const response = await send(url, { method: 'POST', body, headers: { ...own, ...headers } })
      const { error } = (await response.json()) as { error: { code: number; message: string; data: object } }
      expect([response.status, error]).toMatchObject([400, { code, data: { supported: [MODERN] } }])
      expect(error.message).toContain(MODERN)
      expect(error.message).not.toContain('initialize')
    }
  })

  it('accepts only POST', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await send(url, { method, headers: { 'mcp-session-id': 'lost' } })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  it('names the supported revision to a client with `era: legacy`, and serves a client without that option', async () => {
    const refused = await catchError(() => connect(http(url, { fetch: send }), { era: 'legacy' }))
    expect(refused).toMatchObject({ message: expect.stringContaining(MODERN) })
    const client = await connect(http(url, { fetch: send }))
    expect(client.revision).toBe(MODERN)
    await client.close()
  })
})

async function openSession(
  options: EndpointOptions = {},
  revision = '2025-11-25',
  headers: Record<string, string> = {},
) {
  const app = mcp(shop(), options)
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: handshake(revision) }
  const opened = await post(app, initialize, headers)
  return { app, initialize, session: { 'mcp-session-id': opened.headers.get('mcp-session-id') as string } }
}

describe('a server with sessions', () => {
  it('creates unique session ids of visible ASCII with 122 random bits [S-131, S-142]', async () => {
    const ids = await Promise.all(
      Array.from({ length: 100 }, async () => (await openSession()).session['mcp-session-id']),
    )
    expect(new Set(ids).size).toBe(100)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('authenticates each request, because a session id proves nothing [S-142, S-278]', async () => {
    const known = new Set(['Bearer ann'])
    const { app, session } = await openSession(
      {
        authenticate({ headers }) {
          const token = headers.get('authorization') ?? ''
          return known.has(token) ? { subject: token, scopes: [] } : new Response(null, { status: 401 })
        },
      },
      '2025-11-25',
      { authorization: 'Bearer ann' },
    )
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const ask = (authorization?: string) => post(app, list, { ...session, authorization })
    expect((await ask('Bearer ann')).status).toBe(200)
    expect((await ask()).status).toBe(401)
    known.clear()
    expect((await ask('Bearer ann')).status).toBe(401)
    for (const method of ['GET', 'DELETE']) {
      expect((await app.request('/', { method, headers: session })).status).toBe(401)
    }
  })

  it('opens no session for a handshake in a batch, and accepts batches of responses [S-140]', async () => {
    const { app, initialize, session } = await openSession({}, '2025-03-26')
    const refused = await post(app, [initialize])
    expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([400, null])
    const again = (await (await post(app, [initialize], session)).json()) as { error?: { code: number } }[]
    expect(again).toMatchObject([{ id: 0, error: { code: -32600 } }])
    const answers = [1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }))
    const accepted = await post(app, answers, session)
    expect([accepted.status, await accepted.text()]).toEqual([202, ''])
  })

  it('checks the origin on HTTP+SSE too [S-141]', async () => {
    const app = mcp(shop(), { sse: '/sse' })
    const origin = 'https://evil.example'
    expect((await app.request('/sse', { headers: { accept: 'text/event-stream', origin } })).status).toBe(403)
    expect((await app.request('/sse?sessionId=x', { method: 'POST', headers: { origin } })).status).toBe(403)
  })
})
