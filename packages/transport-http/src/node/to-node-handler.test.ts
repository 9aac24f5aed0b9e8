import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { eventsOf, gate, HandWritten, LEGACY, MODERN, modern, request } from '../server/server.fixture.ts'
import { type NodeHandler, toNodeHandler } from './to-node-handler.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function listenFastify(handler: NodeHandler): Promise<string> {
  const app = fastify()
  app.all('/mcp', async (asked, reply) => {
    reply.hijack()
    await handler(Object.assign(asked.raw, { body: asked.body }), reply.raw)
  })
  closers.push(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' }).then((address) => `${address}/mcp`)
}

const servers: Record<string, (handler: NodeHandler) => Promise<string>> = {
  'node:http': (handler) => listen((asked, response) => void handler(asked, response)),
  Express: (handler) => listen(express().all('/mcp', handler)),
  'Express behind express.json()': (handler) => listen(express().use(express.json()).all('/mcp', handler)),
  'Express behind express.text()': (handler) =>
    listen(
      express()
        .use(express.text({ type: '*/*' }))
        .all('/mcp', handler),
    ),
  'Express behind express.raw()': (handler) =>
    listen(
      express()
        .use(express.raw({ type: '*/*' }))
        .all('/mcp', handler),
    ),
  Fastify: listenFastify,
}

const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const headers = { ...plain, 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'a' }
const call = (text: string) => JSON.stringify(modern('tools/call', { name: 'a', arguments: { text } }))

describe.each(Object.keys(servers))('toNodeHandler in %s', (name) => {
  const serve = servers[name] as (handler: NodeHandler) => Promise<string>

  it('answers modern calls, also large ones', async () => {
    const server = new HandWritten({ 'tools/call': (params) => ({ said: params.arguments }) })
    const url = await serve(toNodeHandler(mcp(server)))
    for (const text of ['ü€😀', 'x'.repeat(80_000)]) {
      const response = await fetch(url, { method: 'POST', headers, body: call(text) })
      expect([response.status, await response.json()]).toMatchObject([200, { result: { said: { text } } }])
    }
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405)
  })

  it('answers in legacy sessions', async () => {
    const url = await serve(toNodeHandler(mcp(new HandWritten({ 'tools/list': () => ({ tools: [] }) }))))
    const send = (message: object, more = {}) =>
      fetch(url, { method: 'POST', headers: { ...plain, ...more }, body: JSON.stringify(message) })
    const opened = await send(request('initialize', { protocolVersion: LEGACY, capabilities: {} }))
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    await opened.text()
    expect(await (await send(request('tools/list'), session)).json()).toMatchObject({ result: { tools: [] } })
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(204)
    expect((await send(request('tools/list'), session)).status).toBe(404)
  })

  it('streams messages before the answer, and aborts the call when the client disconnects', async () => {
    const gone = gate()
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        exchange.signal.addEventListener('abort', () => gone.open())
        await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
        return new Promise(() => {})
      },
    })
    const url = await serve(toNodeHandler(mcp(server)))
    const abort = new AbortController()
    const response = await fetch(url, { method: 'POST', headers, body: call('a'), signal: abort.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await eventsOf(response).message()).toMatchObject({ method: 'notifications/progress' })
    abort.abort()
    await gone.promise
  })

  it('aborts a silent call when the client disconnects', async () => {
    const called = gate()
    const gone = gate()
    const server = new HandWritten({
      'tools/call': (_params, exchange) => {
        exchange.signal.addEventListener('abort', () => gone.open())
        called.open()
        return new Promise(() => {})
      },
    })
    const url = await serve(toNodeHandler(mcp(server)))
    const abort = new AbortController()
    const asked = fetch(url, { method: 'POST', headers, body: call('a'), signal: abort.signal }).catch(() => {})
    await called.promise
    abort.abort()
    await Promise.all([asked, gone.promise])
  })
})

it('is named by the error of an app that is given to Node without it', async () => {
  const { fetch: handle } = mcp(new HandWritten({}))
  const url = await listen((request, response) => {
    try {
      void handle(request as unknown as Request)
    } catch (error) {
      response.end(String(error))
    }
  })
  expect(await (await fetch(url)).text()).toBe(
    'TypeError: mcp: fetch: expected a Request, got an IncomingMessage of Node; write toNodeHandler(mcp(server)), with toNodeHandler of @mcpx/transport-http/node',
  )
})

describe('toNodeHandler', () => {
  const json = (url: string, init: RequestInit) => fetch(url, { method: 'POST', headers, ...init })

  it.each([
    ['with a length of 0', { body: '' }],
    ['that ends at once', { body: new ReadableStream({ start: (controller) => controller.close() }), duplex: 'half' }],
  ])('refuses an empty body %s behind express.json() as one that is not a message', async (_, init) => {
    const url = await listen(
      express()
        .use(express.json())
        .all('/mcp', toNodeHandler(mcp(new HandWritten()))),
    )
    const response = await json(url, init as RequestInit)
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: expect.any(Number) } }])
  })

  it('says that a parsed body cannot be written as JSON', async () => {
    const handler = toNodeHandler(mcp(new HandWritten()))
    const parsed = express.json()
    const url = await listen(
      express()
        .use(parsed, (asked, _, next) => next(void Object.assign(asked, { body: { id: 1n } })))
        .all('/mcp', handler),
    )
    const response = await json(url, { body: call('a') })
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { error: { message: expect.stringContaining('request.body') } },
    ])
  })

  it('refuses a host that is not valid, by its name', async () => {
    const url = await listen((asked, response) => void toNodeHandler(mcp(new HandWritten()))(asked, response))
    const [answer] = await once(
      connect(Number(new URL(url).port), '127.0.0.1')
        .setEncoding('utf8')
        .on('connect', function (this: Socket) {
          this.write('POST /mcp HTTP/1.1\r\nhost: a b\r\ncontent-length: 0\r\n\r\n')
        }),
      'data',
    )
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"error":.*Host/)
  })
})

describe('a router of Express that is mounted at a path', () => {
  it('does not hide the path from clients of HTTP+SSE', async () => {
    const app = express().use('/api', toNodeHandler(mcp(new HandWritten(), { sse: '/sse' })))
    const url = (await listen(app)).replace('/mcp', '/api/sse')
    const events = eventsOf(await fetch(url, { headers: { accept: 'text/event-stream' } }))
    const endpoint = (await events.next())?.data ?? ''
    expect(endpoint).toMatch(/^\/api\/sse\?sessionId=/)
    const body = JSON.stringify(request('initialize', { protocolVersion: '2024-11-05' }))
    expect((await fetch(new URL(endpoint, url), { method: 'POST', headers: plain, body })).status).toBe(202)
    expect(await events.message()).toMatchObject({ id: 1, result: { protocolVersion: '2024-11-05' } })
    await events.cancel()
  })

  it('does not hide the path from guards and handlers', async () => {
    const seen: (string | undefined)[] = []
    const server = new HandWritten({
      'tools/call': (_params, { requestInfo }) => {
        seen.push(requestInfo?.url)
        return {}
      },
    })
    const authenticate = ({ url }: Request) => void seen.push(url)
    const router = express.Router().all('/mcp', toNodeHandler(mcp(server, { authenticate })))
    const url = (await listen(express().use(express.json()).use('/api', router))).replace('/mcp', '/api/mcp')
    expect((await fetch(url, { method: 'POST', headers, body: call('x') })).status).toBe(200)
    expect(seen).toEqual([url, url])
  })
})
