/**
 * Each limit of both transports: excess messages are rejected with an error that names the limit, and accepted messages
 * are not lost.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, connect as dialTcp } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { type Connection, type Message, type Responder, resultMessage } from '@mcpx/protocol'
import { createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { catchError, delay } from '@mcpx/testing'
import type { HttpOptions } from '@mcpx/transport-http/client'
import type { ServeHttpOptions } from '@mcpx/transport-http/node'
import { overStreams, type ServeStdioOptions, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectTo, modern, serve, silent } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { dial, initialize, openSession, type RawEra, raw, rawCall, rawLegacy, rawModern } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

interface LineConnection {
  send(message: object | string): void
  /** Resolves to the answer with this id. */
  answerTo(id: number | undefined): Promise<{ error?: { code: number; message: string }; result?: object }>
}

/** Connects to a stdio server and exchanges lines by hand. */
async function connectLines(responder: Responder, options: ServeStdioOptions = {}): Promise<LineConnection> {
  const server = createTcpServer((socket) => void serveStdio(responder, { input: socket, output: socket, ...options }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { socket, text } = await dial((server.address() as AddressInfo).port)
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  return {
    send: (message) => void socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    async answerTo(id) {
      for (;;) {
        const lines = text().split('\n').slice(0, -1)
        const found = lines.map((line) => JSON.parse(line)).find((each) => each.id === id && !('method' in each))
        if (found !== undefined) return found
        await delay(5)
      }
    },
  }
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const deepCall = (era: RawEra, id: number) =>
  era.body(id, 'echo', { text: 'x' }).replace('"text":"x"', `"text":"x","deep":${nested(150)}`)
const lineOf = (id: number, tool: string, args?: object) => rawModern.body(id, tool, args)
const waitFor = {
  calls: (count: number, host: ReturnType<typeof createHost>) => waitUntil(() => host.counts.calls >= count),
}

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5)
}

describe('lines', () => {
  it('that are too long are rejected with the id of the request', async () => {
    const { server } = createHost()
    const { send, answerTo } = await connectLines(server, { maxLineLength: 2_000 })
    send(lineOf(1, 'echo', { text: 'first' }))
    send(lineOf(2, 'echo', { text: 'x'.repeat(3_000) }))
    send(lineOf(3, 'echo', { text: 'last' }))
    expect((await answerTo(2)).error?.message).toContain('longer than 2000 bytes; raise maxLineLength to let it in')
    for (const id of [1, 3]) expect(await answerTo(id)).toHaveProperty('result')
  })

  it('that are nested too deeply are rejected', async () => {
    const { server } = createHost()
    const { send, answerTo } = await connectLines(server)
    send(deepCall(rawModern, 1))
    send(lineOf(2, 'echo'))
    expect((await answerTo(1)).error).toMatchObject({ code: -32600, message: expect.stringContaining('128 levels') })
    expect(await answerTo(2)).toHaveProperty('result')
  })

  it('with more concurrent requests than allowed are rejected, and running requests continue', async () => {
    const host = createHost()
    const { send, answerTo } = await connectLines(host.server, { limits: { running: 2 } })
    for (const id of [1, 2]) send(lineOf(id, 'never'))
    await waitFor.calls(2, host)
    send(lineOf(3, 'echo'))
    expect((await answerTo(3)).error?.message).toBe('Too many requests at once: at most 2 (limits.running)')
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await waitUntil(() => host.counts.aborted === 1)
    send(lineOf(4, 'echo'))
    expect(await answerTo(4)).toHaveProperty('result')
    expect(host.counts.aborted).toBe(1)
  })
})

/** A stream that never finishes a write. */
const createStuckWritable = () => new Writable({ highWaterMark: 1, write() {} })

describe('a peer that does not read', () => {
  it('loses the excess notifications, with a warning for each', async () => {
    const warnings: Error[] = []
    const input = new PassThrough()
    const responder: Responder = {
      respond(message: Message, exchange) {
        for (let n = 0; n < 10; n++) void exchange.notify('notifications/message', { n, text: 'x'.repeat(70_000) })
        return resultMessage((message as { id: number }).id, {})
      },
    }
    const options = { input, output: createStuckWritable(), limits: { unsent: 4 }, drainTimeout: 0, flushTimeout: 0 }
    const serving = serveStdio(responder, { ...options, onWarning: (problem) => void warnings.push(problem) })
    input.write('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
    await waitUntil(() => warnings.length === 6)
    expect(warnings[0]).toMatchObject({
      reason: 'limit',
      message: expect.stringContaining('4 are waiting for a slow peer (limits.unsent)'),
    })
    await serving.close()
  })

  it('is disconnected when it reads no responses for too long', async () => {
    const input = new PassThrough()
    const responder: Responder = {
      respond: (message: Message) => resultMessage((message as { id: number }).id, { text: 'x'.repeat(70_000) }),
    }
    const limits = { unsent: 3, stallTimeout: 80 }
    const serving = serveStdio(responder, { input, output: createStuckWritable(), limits, flushTimeout: 0 })
    for (let id = 1; id <= 10; id++) input.write(`{"jsonrpc":"2.0","id":${id},"method":"m"}\n`)
    expect(await serving.closed).toMatchObject({
      reason: 'limit',
      message: '3 responses are unsent, and the peer has read none for 80 ms (limits.unsent, limits.stallTimeout)',
    })
  })

  it('receives no more requests than may be pending', async () => {
    const server = createTcpServer((socket) => void socket.resume()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const open = () => {
      const socket = dialTcp((server.address() as AddressInfo).port, '127.0.0.1')
      return { input: socket, output: socket }
    }
    const connection = await overStreams(open, { limits: { pending: 2 } }).connect(silent)
    const waiting = [1, 2].map(() => catchError(() => connection.request('m', {}, { timeout: 100 })))
    expect(await catchError(() => connection.request('m'))).toMatchObject({
      reason: 'limit',
      retryable: true,
      message: 'm was not sent: 2 requests are already pending (limits.pending)',
    })
    for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ reason: 'timeout' })
    await connection.close()
  })
})

async function startServer(options: ServeHttpOptions) {
  const host = createHost()
  const server = await serve(host.server, options)
  return { ...server, host }
}

/** Sends one HTTP request; returns the raw response. */
async function ask(port: number, text: string): Promise<string> {
  const { socket, closed } = await dial(port)
  socket.write(text.replace('host: 127.0.0.1\r\n', 'host: 127.0.0.1\r\nconnection: close\r\n'))
  return closed
}

const goodCall = (port: number, era: RawEra) => ask(port, rawCall(era, 99, 'echo', { text: 'good' }))

describe('requests over HTTP', () => {
  it('that are too large or nested too deeply are rejected', async () => {
    const { port, url } = await startServer({ limits: { body: 4_000 } })
    for (const era of [rawModern, rawLegacy(await openSession(url))]) {
      const large = await ask(port, rawCall(era, 1, 'echo', { text: 'x'.repeat(4_000) }))
      expect(large).toMatch(/^HTTP\/1\.1 413[\s\S]*larger than 4000 bytes \(limits\.body\)/)
      const deep = await ask(port, raw(deepCall(era, 1), era.headers('echo')))
      expect(deep).toMatch(/^HTTP\/1\.1 400[\s\S]*"id":1[\s\S]*128 levels/)
      expect(await goodCall(port, era)).toContain('"text":"good"')
    }
  })

  it('that exceed the concurrency limit are rejected, and running requests continue', async () => {
    const { port, host } = await startServer({ limits: { running: 2 } })
    const slow = [1, 2].map((id) => ask(port, rawCall(rawModern, id, 'count', { times: 8, pause: 50 })))
    await waitFor.calls(2, host)
    expect(await goodCall(port, rawModern)).toMatch(
      /^HTTP\/1\.1 503[\s\S]*retry-after: 1[\s\S]*at most 2 \(limits\.running\)/,
    )
    for (const text of await Promise.all(slow)) expect(text).toContain('counted by')
    expect(await goodCall(port, rawModern)).toContain('"text":"good"')
  })

  it('that exceed the limit of one session are rejected, and those of another are not', async () => {
    const { port, url, host } = await startServer({ limits: { sessionRequests: 1 } })
    const [one, other] = [rawLegacy(await openSession(url)), rawLegacy(await openSession(url))]
    const slow = ask(port, rawCall(one, 1, 'count', { times: 8, pause: 50 }))
    await waitFor.calls(1, host)
    expect(await goodCall(port, one)).toMatch(
      /^HTTP\/1\.1 429[\s\S]*"id":99[\s\S]*at most 1 \(limits\.sessionRequests\)/,
    )
    expect(await goodCall(port, other)).toContain('"text":"good"')
    expect(await slow).toContain('counted by')
    expect(await goodCall(port, one)).toContain('"text":"good"')
  })

  it('of a session with too many streams are rejected until one has ended', async () => {
    const { port, url } = await startServer({ limits: { sessionStreams: 1 } })
    const session = await openSession(url)
    const era = rawLegacy(session)
    const stream = await dial(port)
    const get = `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ${session}\r\naccept: text/event-stream\r\n\r\n`
    stream.socket.write(get)
    await stream.until(/200 OK/)
    for (const text of [await goodCall(port, era), await ask(port, get)]) {
      expect(text).toMatch(/^HTTP\/1\.1 429[\s\S]*at most 1 \(limits\.sessionStreams\)/)
    }
    stream.socket.destroy()
    while (!(await goodCall(port, era)).includes('"text":"good"')) await delay(10)
  })

  it('of HTTP+SSE have these limits too', async () => {
    const { port, host } = await startServer({ sse: '/sse', limits: { running: 2, sessionRequests: 1 } })
    const get = 'GET /sse HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n'
    const stream = await dial(port)
    stream.socket.write(get)
    const endpoint = /data: (\S+)/.exec(await stream.until(/data: .*\n\n/))?.[1] as string
    const other = await dial(port)
    other.socket.write(get)
    await other.until(/data: .*\n\n/)
    expect(await ask(port, get)).toMatch(/^HTTP\/1\.1 503[\s\S]*at most 2 \(limits\.running\)/)
    other.socket.destroy()
    const post = (message: object) => ask(port, raw(JSON.stringify(message)).replace('POST /mcp', `POST ${endpoint}`))
    await post(initialize('2024-11-05'))
    await stream.until(/serverInfo/)
    const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
    expect(await post(call(1, 'never'))).toMatch(/^HTTP\/1\.1 202/)
    await waitFor.calls(1, host)
    expect(await post(call(2, 'echo'))).toMatch(/^HTTP\/1\.1 429[\s\S]*"id":2[\s\S]*\(limits\.sessionRequests\)/)
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await waitUntil(() => host.counts.aborted === 1)
    expect(await post(call(3, 'echo'))).toMatch(/^HTTP\/1\.1 202/)
    await stream.until(/"id":3,"result"/)
    stream.socket.destroy()
  })
})

describe('sessions', () => {
  it('that exceed the limit evict the least recently used one', async () => {
    const evicted: string[] = []
    const store = createMemorySessionStore({ maxSessions: 2, onEvict: (id) => void evicted.push(id) })
    const { port, url } = await startServer({ sessions: { store } })
    const [first, second] = [await openSession(url), await openSession(url)]
    expect(await goodCall(port, rawLegacy(first))).toContain('"text":"good"')
    const third = await openSession(url)
    expect(evicted).toEqual([second])
    expect(await goodCall(port, rawLegacy(second))).toMatch(/^HTTP\/1\.1 404[\s\S]*Session not found/)
    for (const id of [first, third]) expect(await goodCall(port, rawLegacy(id))).toContain('"text":"good"')
  })

  it('expire when they are not used, and only then', async () => {
    const { port, url } = await startServer({ sessions: { ttl: 400 } })
    const [used, unused] = [await openSession(url), await openSession(url)]
    for (let n = 0; n < 5; n++) {
      await delay(100)
      expect(await goodCall(port, rawLegacy(used))).toContain('"text":"good"')
    }
    expect(await goodCall(port, rawLegacy(unused))).toMatch(/^HTTP\/1\.1 404/)
  })

  it('store a limited number of events per stream, and reject ids of older events', async () => {
    const { port, url } = await startServer({ sessions: { events: createMemoryEventStore({ maxEvents: 5 }) } })
    const session = await openSession(url)
    const era = rawLegacy(session)
    const text = await ask(port, rawCall(era, 1, 'count', { times: 9 }, { progressToken: 't' }))
    const ids = [...text.matchAll(/^id: (\S+)/gm)].map(([, id]) => id as string)
    expect(ids).toHaveLength(11)
    const head = `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ${session}\r\naccept: text/event-stream\r\n`
    const resume = (id: string) => ask(port, `${head}last-event-id: ${id}\r\n\r\n`)
    expect(await resume(ids[1] as string)).toMatch(/^HTTP\/1\.1 400[\s\S]*unknown or expired event/)
    const rest = await resume(ids[7] as string)
    expect(rest.match(/"progress":\d+/g)).toEqual(['"progress":8', '"progress":9'])
    expect(rest).toContain('counted by')
  })
})

describe('responses over HTTP', () => {
  const callOf = (connection: Connection) => (name: string, args: object, options?: object) =>
    connection.request('tools/call', modern({ name, arguments: args }), options)

  async function reach(options: HttpOptions) {
    const { url } = await startServer({})
    // The client sets the header with the name of the tool.
    return callOf(await connectTo(url, options))
  }

  it('that are too large are rejected, and the next ones are accepted', async () => {
    const call = await reach({ maxResponseSize: 10_000 })
    expect(await catchError(() => call('big', { size: 20_000 }))).toMatchObject({
      reason: 'limit',
      message: 'The response is larger than 10000 bytes',
      hint: expect.stringContaining('maxResponseSize'),
    })
    expect(await call('echo', { text: 'good' })).toMatchObject({ content: [{ text: 'good' }] })
  })

  it('in events that are too large are rejected, and the next ones are accepted', async () => {
    const call = await reach({ maxEventSize: 10_000 })
    const options = { onNotification: () => {} }
    const small = { times: 3, size: 10 }
    expect(await catchError(() => call('count', { times: 3, size: 20_000 }, options))).toMatchObject({
      reason: 'limit',
      message: expect.stringContaining('10000'),
      hint: expect.stringContaining('maxEventSize'),
    })
    expect(await call('count', small, options)).toMatchObject({ content: [{ text: `counted by ${process.pid}` }] })
  })
})
