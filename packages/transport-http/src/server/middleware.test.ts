import { type Context, Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { requestId } from 'hono/request-id'
import { describe, expect, it } from 'vitest'
import { type EndpointOptions, mcp } from '../index.ts'
import { serveHttp } from '../node.ts'
import { HandWritten, json, MODERN, modern } from './server.fixture.ts'

const tools = () => new HandWritten({ 'tools/list': () => ({ tools: [] }) })
const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
const list = { method: 'POST', headers, body: JSON.stringify(modern('tools/list')) }

describe('headers of middleware', () => {
  it.each([
    ['a result', list, 200],
    ['an error response', { ...list, body: '{' }, 400],
    ['an unsupported method', { method: 'PUT' }, 405],
  ])('are kept when they are set before the endpoint answers: %s', async (_, init, status) => {
    const outer = new Hono().use(requestId()).route('/mcp', mcp(tools()))
    const inner = mcp(tools()).use(async (context, next) => {
      context.header('x-request-id', 'inner')
      await next()
    })
    for (const response of [await outer.request('/mcp', init), await inner.request('/', init)]) {
      expect([response.status, response.headers.get('x-request-id')]).toEqual([status, expect.any(String)])
    }
  })

  it('are kept on a stream', async () => {
    const app = mcp(tools(), { responses: 'events' }).use(requestId())
    const response = await app.request('/', list)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-request-id')).toBeTypeOf('string')
    expect(await response.text()).toContain('"tools":[]')
  })
})

describe('middleware that does not call the endpoint', () => {
  it.each([
    ['forgets next()', async () => {}],
    ['does not await next()', async (_: Context, next: () => Promise<void>) => void next()],
  ])('causes an error that is masked and reported: it %s', async (_, middleware) => {
    const problems: string[] = []
    const app = mcp(tools(), { onWarning: ({ message }) => problems.push(message) }).use(middleware)
    const response = await app.request('/', list)
    expect(response.status).toBe(500)
    expect(await json(response)).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(problems).toEqual([expect.stringContaining('Context is not finalized')])
  })
})

describe('middleware that throws a value that is not an Error', () => {
  it.each([
    ['added to the endpoint', (app: Hono) => app],
    ['of an endpoint below a path', (app: Hono) => new Hono().route('/', app)],
  ])('is masked and reported: %s', async (_, mount) => {
    const problems: Error[] = []
    const app = mcp(tools(), { onWarning: (problem) => problems.push(problem) }).use(async () => {
      throw 'a string'
    })
    const response = await mount(app).request('/', list)
    expect([response.status, await json(response)]).toMatchObject([500, { error: { message: 'Internal error' } }])
    expect(problems).toMatchObject([{ cause: 'a string' }])
  })
})

describe('middleware of Hono that throws its response', () => {
  it.each([
    ['added to the endpoint', (app: Hono) => app],
    ['of an endpoint below a path', (app: Hono) => new Hono().route('/', app)],
  ])('refuses with that response: %s', async (_, mount) => {
    const problems: Error[] = []
    const app = mcp(tools(), { onWarning: (problem) => problems.push(problem) })
    app.use(basicAuth({ username: 'alice', password: 'secret' }))
    const response = await mount(app).request('/', list)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Basic')])
    expect(problems).toEqual([])
  })
})

describe('middleware that keeps a reader of the body', () => {
  it('causes an error that says so, and takes no place of later requests', async () => {
    const app = mcp(tools(), { limits: { running: 1 } }).use(async ({ req }, next) => {
      if (req.header('x-locked') !== undefined) req.raw.body?.getReader()
      await next()
    })
    for (let times = 0; times < 3; times++) {
      const response = await app.request('/', { ...list, headers: { ...headers, 'x-locked': '1' } })
      const message = expect.stringContaining('already read the body')
      expect([response.status, await json(response)]).toMatchObject([500, { error: { message } }])
    }
    expect((await app.request('/', list)).status).toBe(200)
  })
})

describe('bindings of other runtimes', () => {
  it('may be named incoming and outgoing', async () => {
    const server = new HandWritten({
      'tools/list': (_, exchange) => ({ tools: [], aborted: exchange.signal.aborted }),
    })
    const bindings = { incoming: { get: () => undefined }, outgoing: { send: () => undefined } }
    const response = await mcp(server).request('/', list, bindings)
    expect(await json(response)).toMatchObject({ result: { tools: [], aborted: false } })
  })
})

describe('authenticate', () => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'PROPFIND'])(
    'protects routes that are added to the app: %s',
    async (method) => {
      let calls = 0
      const app = mcp(tools(), { authenticate: () => new Response('no', { status: 401 }) })
      app.all('/admin', (context) => {
        calls += 1
        return context.text('secret')
      })
      expect([(await app.request('/admin', { method })).status, calls]).toEqual([401, 0])
    },
  )

  it('may return the same response for every request, whose body is sent once', async () => {
    const denied = new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
    const app = new Hono()
    app.use(async (context, next) => {
      await next()
      context.res.headers.append('set-cookie', `sid=${context.req.header('x-user')}`)
    })
    app.route('/mcp', mcp(tools(), { authenticate: () => denied }))
    for (const user of ['alice', 'bob']) {
      const response = await app.request('/mcp', { ...list, headers: { ...headers, 'x-user': user } })
      expect([response.status, response.headers.getSetCookie()]).toEqual([401, [`sid=${user}`]])
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
    const refused = new Response('no', { status: 401 })
    const { url, close } = await serveHttp(tools(), { port: 0, authenticate: () => refused })
    for (const text of ['no', '']) {
      const response = await fetch(url, list)
      expect([response.status, await response.text()]).toEqual([401, text])
    }
    await close()
  })

  it('returns a response whose body can be cancelled', async () => {
    const app = mcp(tools(), { authenticate: () => new Response('no', { status: 401 }) })
    const response = await app.request('/', list)
    await response.body?.cancel()
    expect(response.status).toBe(401)
  })

  it.each([[{ sub: 'alice', scopes: [] }], [{ status: 401 }], [null], ['alice']])(
    'rejects the request, masked and reported, if it returns %j',
    async (returned) => {
      const problems: string[] = []
      const report = ({ message }: Error) => problems.push(message)
      const authenticate = (() => returned) as unknown as NonNullable<EndpointOptions['authenticate']>
      const response = await mcp(tools(), { authenticate, onWarning: report }).request('/', list)
      expect([response.status, await json(response)]).toMatchObject([500, { error: { message: 'Internal error' } }])
      expect(problems).toEqual([expect.stringContaining('authenticate: expected a caller with a subject')])
    },
  )
})

describe('unknown options', () => {
  it.each([
    ['alowedHosts', 'allowedHosts'],
    ['allowedHost', 'allowedHosts'],
    ['allowOrigins', 'allowedOrigins'],
  ])('are rejected with the name that was meant: %s', async (name, meant) => {
    const message = `there is no option "${name}"; did you mean "${meant}"?`
    expect(() => mcp(tools(), { [name]: 1 })).toThrow(`mcp: ${message}`)
    await expect(serveHttp(tools(), { port: 0, [name]: 1 })).rejects.toThrow(`serveHttp: ${message}`)
  })

  it('are those of `serveHttp` for an app, and others for both', async () => {
    expect(() => mcp(tools(), { maxHeaderSize: 1 } as object)).toThrow(
      'mcp: there is no option "maxHeaderSize"; expected one of allowedHosts, ',
    )
    await expect(serveHttp(tools(), { prot: 3 } as object)).rejects.toThrow('did you mean "port"?')
    await expect(serveHttp(tools(), { hostname: 'x' } as object)).rejects.toThrow('did you mean "host"?')
    await expect(serveHttp(tools(), { other: 'x' } as object)).rejects.toThrow(/"other"; expected one of .*, port, /)
  })
})
