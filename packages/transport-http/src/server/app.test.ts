import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { type EndpointOptions, mcp } from '../index.ts'
import {
  gate,
  get,
  HandWritten,
  json,
  MODERN,
  modern,
  openSession,
  post,
  postModern,
  request,
} from './server.fixture.ts'

const tools = (seen?: (name: string) => void) =>
  new HandWritten({
    'tools/list': () => {
      seen?.('tools/list')
      return { tools: [] }
    },
  })
const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
const list = { method: 'POST', headers, body: JSON.stringify(modern('tools/list')) }

describe('mcp()', () => {
  it('returns an app of Hono', () => {
    const app = mcp(tools())
    expect(app).toBeInstanceOf(Hono)
    for (const name of ['use', 'onError', 'notFound', 'route', 'mount', 'get', 'on', 'request', 'fetch'] as const) {
      expect(app[name]).toBeTypeOf('function')
    }
  })

  const places: [string, (app: Hono) => [Pick<Hono, 'request'>, string]][] = [
    ['by itself', (app) => [app, '/']],
    ['as a route', (app) => [new Hono().route('/mcp', app), '/mcp']],
    ['as a route, below its path', (app) => [new Hono().route('/mcp', app), '/mcp/below']],
    ['by its fetch', (app) => [new Hono().mount('/mcp', app.fetch), '/mcp']],
  ]

  it.each(places)('runs middleware that is added later around the endpoint: %s', async (_, place) => {
    const order: string[] = []
    const app = mcp(tools((name) => order.push(name)))
    for (const name of ['first', 'second']) {
      app.use(async (context, next) => {
        order.push(`${name} before`)
        await next()
        order.push(`${name} after`)
        context.header(`x-${name}`, String(context.res.status))
      })
    }
    const [target, path] = place(app)
    const response = await target.request(path, list)
    expect(await json(response)).toMatchObject({ result: { tools: [] } })
    expect(order).toEqual(['first before', 'second before', 'tools/list', 'second after', 'first after'])
    expect([response.headers.get('x-first'), response.headers.get('x-second')]).toEqual(['200', '200'])
  })

  it.each(places)('lets middleware answer or reject requests: %s', async (_, place) => {
    const app = mcp(tools())
    app.use(async (context, next) => {
      if (context.req.header('x-key') !== 'a') return context.text('no key', 401)
      return next()
    })
    app.get('/health', (context) => context.text('up'))
    const [target, path] = place(app)
    expect((await target.request(path, list)).status).toBe(401)
    expect((await target.request(path, { ...list, headers: { ...headers, 'x-key': 'a' } })).status).toBe(200)
  })

  it('runs its guards before middleware that is added later', async () => {
    let count = 0
    const app = mcp(tools()).use((_, next) => {
      count += 1
      return next()
    })
    expect((await app.request('/', { ...list, headers: { ...headers, host: 'evil.example' } })).status).toBe(403)
    expect(count).toBe(0)
  })

  it('serves other routes that are added to it', async () => {
    const app = mcp(tools()).get('/health', (context) => context.text('up'))
    expect(await (await app.request('/health')).text()).toBe('up')
    expect((await app.request('/', list)).status).toBe(200)
  })

  it.each(places)('masks and reports errors of middleware: %s', async (_, place) => {
    const problems: string[] = []
    const app = mcp(tools(), { onWarning: (problem) => problems.push(problem.message) })
    app.use(() => {
      throw new Error('secret')
    })
    const [target, path] = place(app)
    const response = await target.request(path, list)
    expect([response.status, await json(response)]).toMatchObject([500, { error: { code: -32603 } }])
    expect(problems).toEqual(['secret'])
  })

  it.each(places)('leaves errors to the handler of app.onError: %s', async (_, place) => {
    const app = mcp(tools(), {
      authenticate: () => {
        throw new Error('no keys')
      },
    })
    app.onError((error, context) => context.text(error.message, 418))
    const [target, path] = place(app)
    const response = await target.request(path, list)
    expect([response.status, await response.text()]).toEqual([418, 'no keys'])
  })

  it.each([
    ['json', (context: { req: { json(): Promise<unknown> } }) => context.req.json()],
    ['text', (context: { req: { text(): Promise<unknown> } }) => context.req.text()],
  ])('answers behind middleware that reads the body by the context, before and after: %s', async (_, read) => {
    const bodies: unknown[] = []
    const app = mcp(tools()).use(async (context, next) => {
      bodies.push(await read(context))
      await next()
      bodies.push(await read(context))
    })
    expect((await app.request('/', list)).status).toBe(200)
    expect(bodies[0]).toEqual(bodies[1])
  })

  it('uses headers that outer middleware sets, deletes or replaces', async () => {
    const outer = new Hono().use(async (context, next) => {
      const changed = new Headers(context.req.raw.headers)
      changed.set('mcp-method', 'tools/list')
      changed.delete('origin')
      context.req.raw = new Request(context.req.raw, { headers: changed })
      await next()
      context.res.headers.set('x-outer', 'yes')
    })
    const response = await outer.route('/mcp', mcp(tools())).request('/mcp', {
      ...list,
      headers: { ...headers, 'mcp-method': 'other', origin: 'https://evil.example' },
    })
    expect([response.status, response.headers.get('x-outer')]).toEqual([200, 'yes'])
  })
})

describe('options', () => {
  const build = (options: object) => mcp(tools(), options as EndpointOptions)

  it('reject unknown members by name', () => {
    expect(() => build({ limits: { bodyy: 5 } })).toThrow('limits: there is no option "bodyy"; did you mean "body"?')
    expect(() => build({ sessions: { tll: 5 } })).toThrow('sessions: there is no option "tll"; did you mean "ttl"?')
  })
})

describe('a body with a Content-Encoding', () => {
  it('is rejected with 415 and its name', async () => {
    const response = await postModern(mcp(tools()), modern('tools/list'), { 'content-encoding': 'gzip' })
    expect([response.status, await response.text()]).toEqual([415, expect.stringContaining('gzip')])
    const plain = await postModern(mcp(tools()), modern('tools/list'), { 'content-encoding': 'identity' })
    expect(plain.status).toBe(200)
  })
})

describe('the headers that handlers see', () => {
  it.each(['modern', 'legacy'])('contain no credentials: %s', async (era) => {
    const seen = gate<Headers | undefined>()
    const server = new HandWritten({
      'tools/list': (_params, exchange) => {
        seen.open(exchange.requestInfo?.headers)
        return { tools: [] }
      },
    })
    const app = mcp(server, {
      authenticate: ({ headers: all }) => ({ subject: all.get('authorization') ?? '', scopes: [] }),
    })
    const sent = { authorization: 'Bearer a', dpop: 'proof', 'proxy-authorization': 'Basic b', 'x-other': 'c' }
    const legacy = async () =>
      post(app, request('tools/list'), { ...sent, 'mcp-session-id': await openSession(app, undefined, sent) })
    const response = await (era === 'modern' ? postModern(app, modern('tools/list'), sent) : legacy())
    expect(response.status).toBe(200)
    const found = await seen.promise
    expect(Object.keys(sent).filter((name) => found?.has(name))).toEqual(['x-other'])
    expect(server.exchanges.at(-1)?.auth?.subject).toBe('Bearer a')
  })
})

it('a server without the legacy era allows only POST', async () => {
  const response = await get(mcp(tools(), { legacy: false }))
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})
