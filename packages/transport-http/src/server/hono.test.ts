import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { gate, HandWritten, json, LEGACY, MODERN, modern, postModern, request } from './server.fixture.ts'

/** A runtime that ends the work of a request with its connection, unless it is told what to wait for. */
function runtime(app: Hono) {
  const kept: Promise<unknown>[] = []
  const context = {
    waitUntil: (work: Promise<unknown>) => void kept.push(work),
    passThroughOnException() {},
    props: {},
  }
  return {
    kept,
    async post(message: object, headers: Record<string, string>): Promise<Response> {
      const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
      const init = { method: 'POST', headers: all, body: JSON.stringify(message) }
      return app.fetch(new Request('http://localhost/mcp', init), {}, context)
    },
  }
}

describe('an app', () => {
  const tools = new HandWritten({ 'tools/list': (_params, { requestInfo }) => ({ tools: [], at: requestInfo?.url }) })
  const app = mcp(tools)
  const within = new Hono().get('/', (context) => context.text('others'))
  const places: [string, Pick<Hono, 'request'>, string][] = [
    ['by itself', app, '/'],
    ['by itself, on any path', app, '/some/path'],
    ['by its fetch', new Hono().mount('/mcp', app.fetch), '/mcp'],
    ['as a route', new Hono().route('/mcp', app), '/mcp'],
    ['as a route, below it', new Hono().route('/mcp', app), '/mcp/below'],
    ['as the route of a route', new Hono().route('/a', new Hono().route('/mcp', app)), '/a/mcp'],
    ['in an app with a base path', new Hono().basePath('/api').route('/mcp', app), '/api/mcp'],
    ['beside other routes', within.route('/mcp', app), '/mcp'],
    ['behind a middleware', new Hono().use((_context, next) => next()).route('/mcp', app), '/mcp'],
  ]

  it.each(places)('is served %s', async (_, place, path) => {
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
    const init = { method: 'POST', headers, body: JSON.stringify(modern('tools/list')) }
    const response = await place.request(path, init)
    expect([response.status, await json(response)]).toMatchObject([200, { result: { tools: [] } }])
    const whole = await place.request(new Request(`http://localhost${path}`, init))
    expect(whole.status).toBe(200)
  })

  it('answers behind a middleware that has read the body, and rejects invalid bodies', async () => {
    const reading = new Hono().use(async (context, next) => {
      await context.req.json().catch(() => {})
      await next()
    })
    reading.route('/mcp', app)
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
    const ask = (method: string, body?: string) => reading.request('/mcp', { method, headers, body: body ?? null })
    expect(await json(await ask('POST', JSON.stringify(modern('tools/list'))))).toMatchObject({ result: { tools: [] } })
    expect(await json(await ask('POST', '{'))).toMatchObject({ error: { code: -32700 } })
    expect((await ask('GET')).status).toBe(405)
    expect((await ask('PUT', 'x')).status).toBe(405)
  })

  it('leaves other paths to other routes', async () => {
    expect(await (await within.request('/')).text()).toBe('others')
    expect((await within.request('/other')).status).toBe(404)
  })
})

describe('an app that drains', () => {
  it.each([[undefined], [1_000]])(
    'waits for running requests, rejects new ones, and closes, by drain(%s)',
    async (ms) => {
      const held = gate<object>()
      let signal: AbortSignal | undefined
      const server = new HandWritten({
        'tools/list': (_params, exchange) => {
          signal = exchange.signal
          return held.promise
        },
      })
      const app = mcp(server)
      const running = postModern(app, modern('tools/list'))
      while (signal === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
      const drained = app.drain(ms)
      expect((await postModern(app, modern('tools/list'))).status).toBe(503)
      setTimeout(() => held.open({ tools: [] }), 60)
      expect(await json(await running)).toMatchObject({ result: { tools: [] } })
      await drained
      expect(signal.aborted).toBe(false)
    },
  )
})

describe('an app on a runtime that aborts requests with their connection', () => {
  it.each(['legacy', 'modern'] as const)('uses waitUntil for a %s call', async (era) => {
    const held = gate()
    const server = new HandWritten({
      'tools/call': async () => {
        await held.promise
        return { content: [] }
      },
    })
    const { kept, post } = runtime(new Hono().route('/mcp', mcp(server)))
    const opened = await post(request('initialize', { protocolVersion: LEGACY }), {})
    await Promise.all(kept.splice(0))

    const calls = {
      legacy: () => post(request('tools/call'), { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }),
      modern: () =>
        post(modern('tools/call', { name: 't' }), {
          'mcp-protocol-version': MODERN,
          'mcp-method': 'tools/call',
          'mcp-name': 't',
        }),
    }
    const response = calls[era]()
    while (kept.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    const first = await Promise.race([
      kept[0]?.then(() => 'the work'),
      new Promise((resolve) => setTimeout(resolve, 10, 'time')),
    ])
    expect(first).toBe('time')
    held.open()
    expect((await response).status).toBe(200)
    await Promise.all(kept)
  })

  it('uses a timer per request to keep a silent call open', async () => {
    const held = gate<object>()
    const app = mcp(new HandWritten({ 'tools/list': () => held.promise }), { keepAlive: 20 })
    const { post } = runtime(app)
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
    const responses = [1, 2].map((id) => post(modern('tools/list', {}, id), headers))
    for (const response of responses) expect((await response).headers.get('content-type')).toBe('text/event-stream')
    held.open({ tools: [] })
    for (const response of responses) expect(await (await response).text()).toMatch(/^:\n\n[\s\S]*"tools":\[\]/)
  })
})
