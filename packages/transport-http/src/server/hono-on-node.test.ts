import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { afterEach, describe, expect, it } from 'vitest'
import { type McpApp, mcp } from './hono.ts'
import { gate, HandWritten, MODERN, modern } from './server.fixture.ts'

const open: Server[] = []

afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections()
})

async function serve(app: Pick<Hono, 'fetch'>): Promise<string> {
  const server = createServer(getRequestListener(app.fetch))
  open.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const modernHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': MODERN,
  'mcp-method': 'tools/call',
  'mcp-name': 'anb',
}

function call(url: string, init: RequestInit = {}): Promise<Response> {
  const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: 'ü€😀' } }))
  return fetch(url, { method: 'POST', headers: modernHeaders, body, ...init })
}

const echo = new HandWritten({
  'tools/call': (params, exchange) => ({ said: params.arguments, at: exchange.requestInfo?.url }),
})

function mounted(app: McpApp): Hono {
  return new Hono().route('/mcp', app)
}

describe.each([
  ['by itself', (app: McpApp): Pick<Hono, 'fetch'> => app],
  ['mounted', mounted],
])("an app on Hono's server for Node, %s", (_, place) => {
  it('reads the request and answers it', async () => {
    const url = await serve(place(mcp(echo)))
    const response = await call(url)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ result: { said: { text: 'ü€😀' }, at: url } })
  })

  it('refuses a body that is no text, and one that is too large', async () => {
    const url = await serve(place(mcp(echo, { limits: { body: 50 } })))
    const broken = await call(url, { body: new Uint8Array([0x22, 0xff, 0x22]) })
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('UTF-8')])
    const large = await call(url)
    expect([large.status, await large.text()]).toEqual([413, expect.stringContaining('50 bytes (limits.body)')])
  })

  it('streams what is said before the answer, and hears when the client goes', async () => {
    const gone = gate()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          exchange.signal.addEventListener('abort', () => gone.open())
          await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
          return await new Promise(() => {})
        },
      }),
    )
    const abort = new AbortController()
    const response = await call(await serve(place(app)), { signal: abort.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const first = await response.body?.getReader().read()
    expect(new TextDecoder().decode(first?.value)).toContain('notifications/progress')
    abort.abort()
    await gone.promise
  })
})

describe('an app behind a middleware that takes the body for a stream', () => {
  it('reads the whole of what the middleware has not read', async () => {
    const app = new Hono().use(bodyLimit({ maxSize: 10_000_000 })).route('/mcp', mcp(echo))
    const long = 'x'.repeat(2_000_000)
    const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: long } }))
    const response = await call(await serve(app), { body, signal: AbortSignal.timeout(2_000) })
    expect(await response.json()).toMatchObject({ result: { said: { text: long } } })
  })
})

describe('an app behind a middleware that has read the body', () => {
  it('says so', async () => {
    const app = new Hono()
    app.use(async (context, next) => {
      await context.req.json()
      await next()
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))))
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('have that read a clone')])
  })
})

describe('an app behind a middleware that reads the body too', () => {
  const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: 'x'.repeat(300_000) } }))
  const read: Record<string, (raw: Request, next: () => Promise<void>) => Promise<string>> = {
    'as a copy, before': async (raw, next) => {
      const copy = raw.clone()
      await next()
      return copy.text()
    },
    afterwards: async (raw, next) => {
      await next()
      return raw.clone().text()
    },
  }

  it.each(Object.keys(read))('has it whole, and so has the middleware: %s', async (when) => {
    const said: (string | undefined)[] = []
    const app = new Hono()
    app.use(async (context, next) => {
      said.push(await read[when]?.(context.req.raw, next))
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))), { body, signal: AbortSignal.timeout(2_000) })
    expect(await response.json()).toMatchObject({ result: { said: { text: 'x'.repeat(300_000) } } })
    expect(said).toEqual([body])
  })
})

describe('an app on HTTP/2', () => {
  it('answers those who name its host, and refuses others', async () => {
    const server = createHttp2Server(getRequestListener(mcp(echo).fetch))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const ask = async (authority: Record<string, string>) => {
      const stream = session.request({ ':method': 'POST', ':path': '/mcp', ...modernHeaders, ...authority })
      stream.end(JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: 'a' } })))
      const [headers] = await once(stream, 'response')
      return [headers[':status'], await text(stream)]
    }
    expect(await ask({})).toEqual([200, expect.stringContaining('"said":{"text":"a"}')])
    expect(await ask({ ':authority': 'evil.example' })).toEqual([403, expect.stringContaining('allowedHosts')])
    session.close()
    server.close()
  })
})

describe('an app behind a middleware that makes another request', () => {
  const rewrite: Record<string, (raw: Request) => Promise<Request>> = {
    'with the body it has read': async (raw) => new Request(raw, { body: await raw.text(), method: 'POST' }),
    'with another header': async (raw) => {
      const other = new Request(raw)
      other.headers.set('mcp-name', 'other')
      return other
    },
    'of a class of its own, with another header': async (raw) => {
      const heir = Object.create(Request.prototype, { constructor: { value: function Heir() {} } })
      const other: Request = Object.setPrototypeOf(new Request(raw), heir)
      other.headers.set('mcp-name', 'other')
      return other
    },
    'the same, with another header': async (raw) => {
      raw.headers.set('mcp-name', 'other')
      return raw
    },
  }

  it.each(Object.keys(rewrite))('answers that one: %s', async (which) => {
    const app = new Hono()
    app.use(async (context, next) => {
      context.req.raw = (await rewrite[which]?.(context.req.raw)) as Request
      await next()
    })
    app.all('/mcp', (context) => mcp(echo).fetch(context.req.raw, context.env))
    const response = await call(await serve(app))
    const answer = await response.json()
    if (which.endsWith('with another header')) expect(answer).toMatchObject({ error: { code: -32020 } })
    else expect(answer).toMatchObject({ result: { said: { text: 'ü€😀' } } })
  })
})

describe("an app whose guard refuses on Hono's server for Node, which puts a Response of its own in place of the global one", () => {
  const answers: Record<string, () => Response | Promise<Response>> = {
    'with a new response': () => new Response('no', { status: 401 }),
    'with one that was cloned': () => new Response('no', { status: 401 }).clone(),
    'with one that somebody else gave': () => fetch('data:,no'),
  }

  it.each(Object.keys(answers))('lets nobody in: %s', async (which) => {
    const spoken = new HandWritten({ 'tools/call': () => ({}) })
    const response = await call(await serve(mcp(spoken, { authenticate: () => answers[which]?.() as Response })))
    expect([await response.text(), spoken.exchanges.length]).toEqual(['no', 0])
  })
})
