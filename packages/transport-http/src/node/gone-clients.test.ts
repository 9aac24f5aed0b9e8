import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { delay } from '@mcpx/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { gate, HandWritten, LEGACY, MODERN, modern, request } from '../server/server.fixture.ts'
import { type HttpServer, serveHttp } from './serve-http.ts'

const open: HttpServer[] = []

afterEach(async () => {
  for (const http of open.splice(0)) await http.close()
})

async function serve(server: HandWritten): Promise<HttpServer> {
  const http = await serveHttp(server, { port: 0 })
  open.push(http)
  return http
}

async function dial({ port }: HttpServer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.resume()
  await once(socket, 'connect')
  return socket
}

function post(message: object, headers: Record<string, string>): string {
  const body = JSON.stringify(message)
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

const list = post(modern('tools/list'), { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' })

/** A session, and the request that is sent in it. */
async function legacyList({ url }: HttpServer): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(request('initialize', { protocolVersion: LEGACY }, 'open')),
  })
  await response.text()
  return post(request('tools/list'), { 'mcp-session-id': response.headers.get('mcp-session-id') as string })
}

/** A handler that does something when its client is gone, and what came of it. */
function laterOn<T>(act: (exchange: HandWritten['exchanges'][number]) => T | Promise<T>) {
  const began = gate()
  const gone = gate()
  const done = gate<T>()
  const server = new HandWritten({
    'tools/list': async (_params, exchange) => {
      began.open()
      await gone.promise
      done.open(await act(exchange))
      return { tools: [] }
    },
  })
  async function leave(http: HttpServer, text: string): Promise<T> {
    const socket = await dial(http)
    socket.write(text)
    await began.promise
    socket.destroy()
    // Until the server has noticed.
    await delay(50)
    gone.open()
    return await done.promise
  }
  return { server, leave }
}

async function drainTime(http: HttpServer): Promise<number> {
  const started = performance.now()
  await http.drain(2_000)
  return performance.now() - started
}

async function talk(exchange: HandWritten['exchanges'][number]): Promise<string> {
  for (let i = 0; i < 5; i++) {
    await exchange.notify('notifications/message', { level: 'info', data: 'x'.repeat(100_000) })
    await delay(1)
  }
  return 'said all'
}

describe('a disconnected client', () => {
  it('is visible to a handler that checks its signal later', async () => {
    const { server, leave } = laterOn((exchange) => exchange.signal.aborted)
    expect(await leave(await serve(server), list)).toBe(true)
  })

  it('does not block a handler that sends messages later, in both eras', async () => {
    const modernTalk = laterOn(talk)
    const http = await serve(modernTalk.server)
    expect(await modernTalk.leave(http, list)).toBe('said all')
    expect(await drainTime(http)).toBeLessThan(500)
    const legacyTalk = laterOn(talk)
    const older = await serve(legacyTalk.server)
    expect(await legacyTalk.leave(older, await legacyList(older))).toBe('said all')
    expect(await drainTime(older)).toBeLessThan(500)
  })

  it('does not abort its calls in the legacy era', async () => {
    const { server, leave } = laterOn(({ signal }) => delay(1).then(() => signal.aborted))
    const http = await serve(server)
    expect(await leave(http, await legacyList(http))).toBe(false)
  })

  it('is not one that has received its response', async () => {
    const signals: AbortSignal[] = []
    const server = new HandWritten({ 'tools/list': () => ({ tools: [] }) })
    const respond = server.respond.bind(server)
    server.respond = (message, exchange) => {
      signals.push(exchange.signal)
      return respond(message, exchange)
    }
    const { url } = await serve(server)
    const { id: _, ...notification } = modern('notifications/hand')
    for (const message of [notification, modern('tools/list')]) {
      const headers = {
        'content-type': 'application/json',
        'mcp-protocol-version': MODERN,
        'mcp-method': message.method,
      }
      await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })).text()
    }
    await delay(50)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  })

  it('leaves no pipelined requests behind', async () => {
    const signals: AbortSignal[] = []
    const both = gate()
    const answer = gate()
    const server = new HandWritten({
      'tools/list': async (_params, { signal }) => {
        if (signals.push(signal) === 2) both.open()
        await answer.promise
        return { tools: [], pad: 'x'.repeat(1_000_000) }
      },
    })
    const http = await serve(server)
    const socket = await dial(http)
    socket.write(list + list)
    await both.promise
    socket.destroy()
    await delay(50)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    answer.open()
    expect(await drainTime(http)).toBeLessThan(500)
  })

  it('leaves no pipelined responses behind', async () => {
    const answers = [gate(), gate()]
    let count = 0
    const server = new HandWritten({
      'tools/list': async () => {
        const mine = answers[count++]
        await mine?.promise
        return { tools: [], pad: 'x'.repeat(1_000_000) }
      },
    })
    const http = await serve(server)
    const socket = await dial(http)
    socket.write(list + list)
    while (count < 2) await delay(1)
    answers[1]?.open()
    await delay(20)
    socket.destroy()
    await delay(50)
    answers[0]?.open()
    expect(await drainTime(http)).toBeLessThan(500)
  })

  it('does not handle modern requests whose connection has closed while they waited for their turn', async () => {
    const count = 1_000
    let handled = 0
    let socket: Socket | undefined
    const server = new HandWritten({
      'tools/list': () => {
        handled += 1
        socket?.destroy()
        return { tools: [] }
      },
    })
    socket = await dial(await serve(server))
    socket.write(list.repeat(count))
    await once(socket, 'close')
    await delay(200)
    expect(handled).toBeLessThan(count / 2)
  })

  it('lets other requests run while a call sends messages to a client that has disconnected', async () => {
    const messages = 3_000
    let sent = 0
    const began = gate()
    const server = new HandWritten({
      'tools/list': async (_params, exchange) => {
        began.open()
        for (; sent < messages; sent++) await exchange.notify('notifications/message', { data: 'x'.repeat(50_000) })
        return { tools: [] }
      },
      ping: () => ({}),
    })
    const http = await serve(server)
    const legacy = await legacyList(http)
    const socket = await dial(http)
    socket.write(legacy)
    await began.promise
    socket.destroy()
    const ping = request('ping')
    const session = /mcp-session-id: (\S+)/.exec(legacy)?.[1] as string
    const headers = { 'content-type': 'application/json', 'mcp-session-id': session }
    for (let n = 0; n < 3; n++) {
      const before = sent
      await (await fetch(http.url, { method: 'POST', headers, body: JSON.stringify(ping) })).text()
      expect(sent - before).toBeLessThan(messages / 3)
    }
    expect(sent).toBeLessThan(messages)
    sent = messages
  })
})
