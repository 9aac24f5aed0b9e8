import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type McpApp, mcp } from '../index.ts'
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

  it('rejects a body that is not text, and one that is too large', async () => {
    const url = await serve(place(mcp(echo, { limits: { body: 50 } })))
    const broken = await call(url, { body: new Uint8Array([0x22, 0xff, 0x22]) })
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('UTF-8')])
    const large = await call(url)
    expect([large.status, await large.text()]).toEqual([413, expect.stringContaining('50 bytes (limits.body)')])
  })

  it('streams notifications, and notices when the client disconnects', async () => {
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

describe('an app behind a middleware that reads the body as a stream', () => {
  it('reads the rest of the body', async () => {
    const app = new Hono().use(bodyLimit({ maxSize: 10_000_000 })).route('/mcp', mcp(echo))
    const long = 'x'.repeat(2_000_000)
    const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: long } }))
    const response = await call(await serve(app), { body, signal: AbortSignal.timeout(2_000) })
    expect(await response.json()).toMatchObject({ result: { said: { text: long } } })
  })
})

describe('an app behind a middleware that has read the body', () => {
  const readers: Record<string, (context: Context) => Promise<unknown>> = {
    json: ({ req }) => req.json(),
    text: ({ req }) => req.text(),
    arrayBuffer: ({ req }) => req.arrayBuffer(),
    blob: ({ req }) => req.blob(),
  }

  it.each(Object.keys(readers))('answers if it was read with the context: %s', async (how) => {
    const app = new Hono().use(async (context, next) => {
      await readers[how]?.(context)
      await next()
    })
    const small = mcp(echo, { limits: { body: 50 } })
    const url = await serve(app.route('/mcp', mcp(echo)).route('/small', small))
    expect(await (await call(url)).json()).toMatchObject({ result: { said: { text: 'ü€😀' } } })
    expect((await call(url.replace('/mcp', '/small'))).status).toBe(413)
  })

  it('reports an error if the context has no body', async () => {
    const app = new Hono().use(async ({ req }, next) => {
      await req.formData().catch(() => {})
      await next()
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))))
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('let that code read a clone of the request'),
    ])
  })

  it('reports an error if the request was read directly', async () => {
    const app = new Hono()
    app.use(async (context, next) => {
      await context.req.raw.text()
      await next()
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))))
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('let that code read a clone of the request'),
    ])
  })
})

describe.each([
  ['in one packet with the headers', 3],
  ['in many packets', 300_000],
])('an app behind a middleware that reads the body too, which arrives %s', (_, length) => {
  const said = 'x'.repeat(length)
  const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: said } }))
  const read: Record<string, (context: Context, next: () => Promise<void>) => Promise<string>> = {
    'as a copy, before': async ({ req }, next) => {
      const copy = req.raw.clone()
      await next()
      return copy.text()
    },
    afterwards: async ({ req }, next) => {
      await next()
      return req.text()
    },
  }

  it.each(Object.keys(read))('reads it completely, and so does the middleware: %s', async (when) => {
    const heard: (string | undefined)[] = []
    const app = new Hono()
    app.use(async (context, next) => {
      heard.push(await read[when]?.(context, next))
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))), { body, signal: AbortSignal.timeout(2_000) })
    expect(await response.json()).toMatchObject({ result: { said: { text: said } } })
    expect(heard).toEqual([body])
  })
})

describe('an app with a middleware that reads the body concurrently', () => {
  const tick = () => new Promise<void>((resolve) => process.nextTick(resolve))
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const waits: [string, () => Promise<void>][] = [
    ['after a promise', () => Promise.resolve()],
    ['after a tick', tick],
    ['after a turn', turn],
    ['after two', () => turn().then(turn)],
  ]

  it.each(waits)('shares it with the middleware, which reads it %s', async (_, wait) => {
    const heard: unknown[] = []
    const app = new Hono().use(async (context, next) => {
      const reading = async () => void heard.push(await wait().then(() => context.req.json()))
      await Promise.all([next(), reading()])
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))))
    expect([response.status, heard]).toMatchObject([200, [{ method: 'tools/call' }]])
  })
})

describe('an app whose body arrives with the headers', () => {
  async function serveRaw(app: Pick<Hono, 'fetch'>) {
    const ends: boolean[] = []
    const listener = getRequestListener(app.fetch)
    const server = createServer((incoming, outgoing) => {
      outgoing.on('close', () => ends.push(incoming.readableEnded))
      void listener(incoming, outgoing)
    })
    open.push(server)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const socket = connectTcp((server.address() as AddressInfo).port, '127.0.0.1')
    return { ends, socket }
  }

  function bytesOf(body: string, length = Buffer.byteLength(body)): string {
    const head = Object.entries({ ...modernHeaders, host: 'localhost', 'content-length': String(length) })
    return `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  }

  /** Each with its number for an id. */

  async function heard(socket: Socket, pattern: RegExp): Promise<string> {
    let all = ''
    for await (const chunk of socket) {
      all += chunk
      if (pattern.test(all)) break
    }
    return all
  }

  const body = JSON.stringify(modern('tools/call', { name: 'anb', arguments: { text: 'ü€😀' } }))

  it('reads it completely before the response', async () => {
    const { ends, socket } = await serveRaw(mounted(mcp(echo)))
    socket.write(bytesOf(body) + bytesOf(body))
    expect(await heard(socket, /said[\s\S]*said/)).toMatch(/^HTTP\/1.1 200[\s\S]*HTTP\/1.1 200/)
    socket.destroy()
    expect(ends).toEqual([true, true])
  })

  it('reads it with fake timers', async () => {
    const url = await serve(mounted(mcp(echo)))
    vi.useFakeTimers()
    try {
      expect((await call(url)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  it('rejects an empty body', async () => {
    const { socket } = await serveRaw(mounted(mcp(echo)))
    socket.write(bytesOf(''))
    expect(await heard(socket, /jsonrpc.*\}/)).toMatch(/^HTTP\/1.1 400[\s\S]*Parse error/)
    socket.destroy()
  })

  it('reports a body that other code has read', async () => {
    const app = new Hono()
    app.use(async ({ env }, next) => {
      await text((env as HttpBindings).incoming)
      await next()
    })
    const response = await call(await serve(app.route('/mcp', mcp(echo))))
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringMatching(/has already read the body; .*or use toNodeHandler of @mcpx\/transport-http\/node/),
    ])
  })

  it('answers a body that arrives later', async () => {
    const { socket } = await serveRaw(mounted(mcp(echo)))
    const bytes = bytesOf(body)
    socket.write(bytes.slice(0, -10))
    setTimeout(() => socket.write(bytes.slice(-10)), 10)
    expect(await heard(socket, /said/)).toMatch(/^HTTP\/1.1 200/)
  })
})

describe('an app on HTTP/2', () => {
  it('accepts its own host and rejects others', async () => {
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

describe('an app behind a middleware that replaces the request', () => {
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

  it.each(Object.keys(rewrite))('uses the new request: %s', async (which) => {
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

describe('an app behind a middleware that changes the headers of some requests', () => {
  it.each([
    ['the first', [0]],
    ['a later one', [2]],
    ['all', [0, 1, 2, 3]],
  ])('uses the headers of each request: %s', async (_, changed) => {
    let count = 0
    const app = new Hono()
    app.use(async (context, next) => {
      if (changed.includes(count++)) context.req.raw.headers.set('mcp-name', 'other')
      await next()
    })
    const url = await serve(app.route('/mcp', mcp(echo)))
    for (const n of [0, 1, 2, 3]) expect((await call(url)).status).toBe(changed.includes(n) ? 400 : 200)
  })
})

describe("an app whose guard rejects on Hono's server for Node, which replaces the global Response", () => {
  const answers: Record<string, () => Response | Promise<Response>> = {
    'with a new response': () => new Response('no', { status: 401 }),
    'with one that was cloned': () => new Response('no', { status: 401 }).clone(),
    'with one that somebody else gave': () => fetch('data:,no'),
  }

  it.each(Object.keys(answers))('rejects every request: %s', async (which) => {
    const spoken = new HandWritten({ 'tools/call': () => ({}) })
    const response = await call(await serve(mcp(spoken, { authenticate: () => answers[which]?.() as Response })))
    expect([await response.text(), spoken.exchanges.length]).toEqual(['no', 0])
  })
})
