import { connect } from 'node:net'
import type { Hono } from 'hono'
import { timeout } from 'hono/timeout'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { type HttpServer, type ServeHttpOptions, serveHttp } from '../node/serve-http.ts'
import { gate, HandWritten, MODERN, modern } from './server.fixture.ts'

const servers: HttpServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const readCaller = ({ headers }: Request) => {
  const subject = headers.get('x-caller')
  return subject === null ? undefined : { subject, scopes: [] }
}

async function start(options: ServeHttpOptions) {
  const held = gate<void>()
  const server = new HandWritten({
    'tools/list': () => ({ tools: [] }),
    async 'prompts/list'() {
      await held.promise
      return { prompts: [] }
    },
  })
  const http = await serveHttp(server, { port: 0, authenticate: readCaller, ...options })
  servers.push(http)
  const post = (method: string, caller?: string, more: object = {}, forwarded: object = {}) =>
    fetch(http.url, {
      method: 'POST',
      body: JSON.stringify(modern(method, { ...more })),
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        ...(caller !== undefined && { 'x-caller': caller }),
        ...forwarded,
      },
    })
  const refusalOf = async (response: Response) => [
    response.status,
    response.headers.get('retry-after'),
    ((await response.json()) as { error?: { message: string } }).error?.message,
  ]
  return { ...http, post, held, server, refusalOf }
}

const begun = async (server: HandWritten, count: number) => {
  while (server.exchanges.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('one caller', () => {
  it('cannot take all places of running requests', async () => {
    const { post, held, server, refusalOf } = await start({ limits: { running: 80 } })
    const slow = Array.from({ length: 20 }, () => post('prompts/list'))
    await begun(server, 20)
    expect(await refusalOf(await post('tools/list'))).toEqual([
      429,
      '1',
      'Too many requests from one caller at once: expected at most 20 (limits.perCaller, a share of limits.running)',
    ])
    expect((await post('tools/list', 'alice')).status).toBe(200)
    held.open()
    for (const response of await Promise.all(slow)) expect(response.status).toBe(200)
    expect((await post('tools/list')).status).toBe(200)
  })

  it('may take all of them where limits.perCaller says so', async () => {
    const { post, held, server, refusalOf } = await start({ limits: { running: 40, perCaller: 1 } })
    const slow = Array.from({ length: 40 }, () => post('prompts/list', 'alice'))
    await begun(server, 40)
    expect(await refusalOf(await post('tools/list', 'bob'))).toEqual([
      503,
      '1',
      'Too many requests at once: at most 40 (limits.running)',
    ])
    held.open()
    await Promise.all(slow)
  })

  it('cannot open all streams by GET', async () => {
    const { url, refusalOf } = await start({ sse: '/sse', limits: { streams: 64 } })
    const open = (caller: string) =>
      fetch(url.replace(/\/mcp$/, '/sse'), { headers: { accept: 'text/event-stream', 'x-caller': caller } })
    const streams = await Promise.all(Array.from({ length: 16 }, () => open('mallory')))
    expect(await refusalOf(await open('mallory'))).toEqual([
      429,
      '1',
      'Too many streams from one caller at once: expected at most 16 (limits.perCaller, a share of limits.streams)',
    ])
    const other = await open('alice')
    expect(other.status).toBe(200)
    await streams[0]?.body?.cancel()
    let again = await open('mallory')
    while (again.status === 429) again = await open('mallory')
    for (const response of [...streams.slice(1), other, again]) await response.body?.cancel()
  })

  it('cannot hold all bytes of requests that run, however small each of them is', async () => {
    const { post, held, server, refusalOf } = await start({ limits: { receivedBytes: 400_000 } })
    const slow = [post('prompts/list', 'mallory', { more: 'x'.repeat(60_000) })]
    await begun(server, 1)
    expect(await refusalOf(await post('tools/list', 'mallory', { more: 'x'.repeat(60_000) }))).toEqual([
      429,
      '1',
      'Too many bytes from one caller at once: expected at most 100000 (limits.perCaller, a share of limits.receivedBytes)',
    ])
    expect((await post('tools/list', 'alice', { more: 'x'.repeat(60_000) })).status).toBe(200)
    // Its 10,000 objects take more memory than its 30 kB.
    expect((await post('tools/list', 'mallory', { more: Array.from({ length: 10_000 }, () => ({})) })).status).toBe(429)
    expect((await post('tools/list', 'mallory')).status).toBe(200)
    held.open()
    await Promise.all(slow)
    // Alone, a request may be larger than the share of its caller.
    expect((await post('tools/list', 'mallory', { more: 'x'.repeat(300_000) })).status).toBe(200)
  })
})

describe('callers with IPv6 addresses', () => {
  const outgoing = { destroyed: false, writableLength: 0, writableFinished: false, on() {}, off() {} }
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN }

  it.each([
    ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ])('are those of one client within half an address: %s, %s, not %s', async (first, second, other) => {
    const held = gate<void>()
    const server = new HandWritten({
      'tools/list': () => ({ tools: [] }),
      async 'prompts/list'() {
        await held.promise
        return { prompts: [] }
      },
    })
    const app = mcp(server, { limits: { running: 80 } })
    const post = (method: string, remoteAddress: string) => {
      const body = JSON.stringify(modern(method))
      const incoming = { rawHeaders: [], socket: { remoteAddress } }
      const init = { method: 'POST', headers: { ...headers, 'mcp-method': method }, body }
      return app.request('/', init, { incoming, outgoing })
    }
    const slow = Array.from({ length: 20 }, () => post('prompts/list', first))
    await begun(server, 20)
    expect((await post('tools/list', second)).status).toBe(429)
    expect((await post('tools/list', other)).status).toBe(200)
    held.open()
    await Promise.all(slow)
  })
})

describe('callers behind a proxy of the same machine or network', () => {
  it.each([{ 'x-forwarded-for': '203.0.113.1' }, { forwarded: 'for=203.0.113.1' }])(
    'are many: %o',
    async (forwarded) => {
      const { post, held, server } = await start({ limits: { running: 80 } })
      const slow = Array.from({ length: 20 }, () => post('prompts/list', undefined, {}, forwarded))
      await begun(server, 20)
      expect((await post('tools/list', undefined, {}, forwarded)).status).toBe(200)
      held.open()
      await Promise.all(slow)
    },
  )
})

describe('one request of a caller that is not known', () => {
  it('leaves half of the bytes to others, whatever its body takes', async () => {
    const held = gate<void>()
    const server = new HandWritten({
      'tools/list': () => ({ tools: [] }),
      async 'prompts/list'() {
        await held.promise
        return { prompts: [] }
      },
    })
    const app = mcp(server, { limits: { receivedBytes: 1_000_000 } })
    const post = (method: string, more: unknown) =>
      app.request('/', {
        method: 'POST',
        body: JSON.stringify(modern(method, { more: more as never })),
        headers: { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': method },
      })
    const slow = post(
      'prompts/list',
      Array.from({ length: 100_000 }, () => ({})),
    )
    await begun(server, 1)
    expect((await post('tools/list', 'x'.repeat(300_000))).status).toBe(200)
    held.open()
    expect((await slow).status).toBe(200)
  })
})

describe('requests that wait', () => {
  it('for authenticate count as running', async () => {
    const held = gate<void>()
    let waiting = 0
    const authenticate = async () => {
      waiting += 1
      await held.promise
      return undefined
    }
    const { post, refusalOf } = await start({ authenticate, limits: { running: 2 } })
    const slow = [post('tools/list'), post('tools/list')]
    while (waiting < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await refusalOf(await post('tools/list'))).toEqual([
      503,
      '1',
      'Too many requests at once: at most 2 (limits.running)',
    ])
    held.open()
    for (const response of await Promise.all(slow)) expect(response.status).toBe(200)
  })

  it('for a session store count as running', async () => {
    const held = gate<void>()
    let waiting = 0
    const get = async () => {
      waiting += 1
      await held.promise
      return undefined
    }
    const store = { create: () => {}, get, update: () => undefined, delete: () => false }
    const { url, refusalOf } = await start({ sessions: { store }, limits: { running: 2 } })
    const call = () =>
      fetch(url, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        headers: { 'content-type': 'application/json', 'mcp-session-id': 'unknown' },
      })
    const slow = [call(), call()]
    while (waiting < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await refusalOf(await call()))[0]).toBe(503)
    held.open()
    for (const response of await Promise.all(slow)) expect(response.status).toBe(404)
  })
})

describe('requests that middleware answers before the endpoint does', () => {
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
  const send = (body: string | ReadableStream) =>
    new Request('http://localhost/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)

  /** Sends a body that arrives after the middleware has answered. */
  async function sendLate(app: Hono, text: string): Promise<void> {
    const late = gate<void>()
    const body = new ReadableStream({
      async start(controller) {
        await late.promise
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    expect((await app.request(send(body))).status).toBe(504)
    late.open()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }

  it('give the bytes back that arrive later', async () => {
    const server = new HandWritten({ 'tools/list': () => ({ tools: [] }) })
    const app = mcp(server, { limits: { receivedBytes: 100_000 } })
    app.use(timeout(20))
    for (let count = 0; count < 3; count++) await sendLate(app, 'x'.repeat(40_000))
    const large = JSON.stringify(modern('tools/list', { more: 'x'.repeat(60_000) }))
    expect((await app.request(send(large))).status).toBe(200)
  })

  it('count once, until their handlers have ended', async () => {
    const held = gate<void>()
    const server = new HandWritten({
      async 'tools/list'() {
        await held.promise
        return { tools: [] }
      },
    })
    const app = mcp(server, { limits: { running: 2 } })
    app.use(timeout(20))
    const text = JSON.stringify(modern('tools/list'))
    for (let count = 0; count < 2; count++) await sendLate(app, text)
    expect((await app.request(send(text))).status).toBe(503)
    held.open()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await app.request(send(text))).status).toBe(200)
  })
})

describe('bodies that are arriving', () => {
  it('are refused and not read on, once they take all bytes', async () => {
    const { port } = await start({ limits: { receivedBytes: 1_000_000, perCaller: 1 } })
    const head =
      'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n'
    const texts = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = connect(port, '127.0.0.1').setEncoding('utf8')
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk
        })
        socket.write(head + 'x'.repeat(900_000))
        await new Promise((resolve) => {
          socket.on('close', resolve).on('error', () => {})
          setTimeout(resolve, 2_500)
        })
        socket.destroy()
        return text
      }),
    )
    const refused = texts.filter((text) => text !== '')
    expect(refused.length).toBeGreaterThanOrEqual(2)
    for (const text of refused) {
      expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*at most 1000000 \(limits\.receivedBytes\)/i)
      expect(text).toMatch(/connection: close/i)
    }
  })
})
