import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { HandWritten, MODERN, modern, request } from '../server/server.fixture.ts'
import { type HttpServer, type ServeHttpOptions, serveHttp } from './serve-http.ts'

const open: HttpServer[] = []

async function serve(options: ServeHttpOptions = {}, server = echo): Promise<HttpServer> {
  const http = await serveHttp(server, { port: 0, ...options })
  open.push(http)
  return http
}

afterEach(async () => {
  for (const http of open.splice(0)) await http.close()
})

const echo = new HandWritten({
  'tools/call': (params) => ({ content: [], said: params.arguments }),
  'tools/list': () => ({ tools: [] }),
})
const list = JSON.stringify(modern('tools/list'))

function raw(body: string, headers: Record<string, string> = {}): string {
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/list',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** A socket, and all that came on it. */
function dial(http: HttpServer): Promise<{ socket: Socket; until: (pattern: RegExp) => Promise<string> }> {
  return new Promise((resolve, reject) => {
    let text = ''
    let look = () => {}
    const socket = connect({ port: http.port, host: '127.0.0.1', allowHalfOpen: true }, () =>
      resolve({ socket, until }),
    )
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
      look()
    })
    socket.on('error', reject)
    function until(pattern: RegExp): Promise<string> {
      return new Promise((found) => {
        look = () => {
          if (pattern.test(text.slice(-5_000))) found(text)
        }
        look()
      })
    }
  })
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('serveHttp', () => {
  it('answers at its url only [S-110, S-112]', async () => {
    const http = await serve()
    expect(http.url).toBe(`http://127.0.0.1:${http.port}/mcp`)
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
    const response = await fetch(http.url, { method: 'POST', body: list, headers })
    expect([response.status, await response.json()]).toMatchObject([200, { result: { tools: [] } }])
    expect((await fetch(http.url.replace('/mcp', '/'))).status).toBe(404)
  })

  it('names the port that it cannot use', async () => {
    const { port } = await serve()
    await expect(serveHttp(echo, { port })).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringContaining(String(port)),
    })
  })

  it('rejects hosts of DNS rebinding [S-112]', async () => {
    const { socket, until } = await dial(await serve())
    socket.write(raw(list, { host: 'evil.example.com' }))
    expect(await until(/allowedHosts/)).toContain('HTTP/1.1 403')
    socket.destroy()
  })

  it('aborts running requests and rejects new ones when it is closed', async () => {
    const http = await serve()
    await http.close()
    await expect(fetch(http.url)).rejects.toThrow()
  })

  it('closes although a handler does not end', async () => {
    const http = await serve({}, new HandWritten({ 'tools/list': () => new Promise<object>(() => {}) }))
    const { socket } = await dial(http)
    socket.write(raw(list))
    await pause()
    const closed = new Promise((resolve) => socket.on('close', resolve))
    await http.close()
    socket.end()
    await closed
  })

  it('waits for running requests by default', async () => {
    const http = await serve(
      {},
      new HandWritten({
        'tools/list': () =>
          pause()
            .then(pause)
            .then(() => ({ tools: [] })),
      }),
    )
    const { socket, until } = await dial(http)
    socket.write(raw(list))
    await pause()
    const drained = http.drain()
    expect(await until(/"tools":\[\]\}/)).toContain('HTTP/1.1 200')
    await drained
    socket.destroy()
  })

  it('drains running requests before it closes', async () => {
    let running: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      running = resolve
    })
    const slow = async () => {
      running()
      await pause()
      return { tools: ['x'.repeat(6_000_000)] }
    }
    const http = await serve({}, new HandWritten({ 'tools/list': slow }))
    const { socket, until } = await dial(http)
    socket.write(raw(list))
    await started
    socket.pause()
    const drained = http.drain(1_000)
    await new Promise((resolve) => setTimeout(resolve, 60))
    socket.resume()
    await Promise.all([drained, until(/x"\]\}\}/)])
    socket.destroy()
  })
})

describe('serveHttp with raw sockets', () => {
  it('reads a body that arrives byte by byte', async () => {
    const { socket, until } = await dial(await serve())
    const text = raw(list)
    for (const byte of text.slice(0, -40)) socket.write(byte)
    await pause()
    for (const byte of text.slice(-40)) {
      socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await until(/"tools":\[\]\}/)).toContain('HTTP/1.1 200')
    socket.destroy()
  })

  it('answers a half-closed connection', async () => {
    const { socket, until } = await dial(await serve())
    socket.end(raw(list))
    expect(await until(/"tools":\[\]\}/)).toContain('HTTP/1.1 200')
    socket.destroy()
  })

  it('answers pipelined requests in order', async () => {
    const { socket, until } = await dial(await serve())
    const bodies = [1, 2, 3].map((id) => JSON.stringify(modern('tools/list', {}, id)))
    socket.write(bodies.map((body) => raw(body)).join(''))
    const text = await until(/"id":3/)
    expect([...text.matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(['1', '2', '3'])
    socket.destroy()
  })

  it('reads a chunked body up to the limit', async () => {
    const { socket, until } = await dial(await serve({ limits: { body: 1_000 } }))
    const head = raw('').replace('content-length: 0', 'transfer-encoding: chunked')
    socket.write(head)
    socket.on('error', () => {})
    for (let n = 0; n < 20; n++) socket.write(`64\r\n${'x'.repeat(100)}\r\n`)
    expect(await until(/1000 bytes/)).toContain('HTTP/1.1 413')
    socket.destroy()
  })

  it.each([false, true])('rejects a large body of a client that reads only after sending, cors: %s', async (cors) => {
    const http = await serve({ cors, allowedOrigins: ['https://app.example'], limits: { body: 1_000 } })
    const socket = connect(http.port, '127.0.0.1').on('error', () => {})
    const part = 'x'.repeat(400_000)
    socket.write(raw('', { 'content-length': String(20 * part.length), origin: 'https://app.example' }))
    for (let n = 0; n < 20; n++) {
      socket.write(part)
      await pause()
    }
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    await new Promise((closed) => socket.once('close', closed))
    expect(text).toContain('1000 bytes (limits.body)')
  })

  it('notices at once that a modern client has disconnected', async () => {
    let aborted: () => void = () => {}
    const gone = new Promise<void>((resolve) => {
      aborted = resolve
    })
    let running: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      running = resolve
    })
    const server = new HandWritten({
      'tools/list': async (_params, { signal }) => {
        signal.addEventListener('abort', () => aborted())
        running()
        await gone
        return {}
      },
    })
    const { socket } = await dial(await serve({}, server))
    socket.write(raw(list))
    await started
    socket.destroy()
    await gone
  })

  it('starts a stream with the first notification while the handler runs', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = new HandWritten({
      'tools/list': async (_params, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'early' })
        await held
        return { tools: ['late'] }
      },
    })
    const { socket, until } = await dial(await serve({}, server))
    socket.write(raw(list))
    expect(await until(/early/)).not.toContain('late')
    release()
    expect(await until(/late/)).toContain('text/event-stream')
    socket.destroy()
  })

  it('turns a slow response into a stream, unless the client does not accept streams', async () => {
    const slow = { 'tools/list': () => new Promise<object>((resolve) => void setTimeout(resolve, 150, { tools: [] })) }
    for (const [keepAlive, accept, type] of [
      [30, '*/*', 'text/event-stream'],
      [30, 'application/json', 'application/json'],
      [1_000, '*/*', 'application/json'],
    ] as const) {
      const { socket, until } = await dial(await serve({ keepAlive }, new HandWritten(slow)))
      socket.write(raw(list, { accept }))
      expect(await until(/"tools":\[\]\}/)).toContain(`content-type: ${type}`)
      socket.destroy()
    }
  })

  it('answers valid requests between a thousand invalid ones', async () => {
    const http = await serve({ limits: { body: 5_000 } })
    const bad = [
      'GARBAGE\r\n\r\n',
      raw('{'),
      raw('[]'),
      raw(JSON.stringify(request('tools/list'))),
      raw(list, { 'content-type': 'text/plain' }),
      raw(list, { host: 'evil.example.com' }),
      raw(list, { 'mcp-method': 'nope' }),
      raw('x'.repeat(6_000)),
      raw(list, { 'content-length': '999999999' }),
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n`,
    ]
    for (let n = 1; n <= 1_000; n++) {
      const socket = connect(http.port, '127.0.0.1')
      socket.on('error', () => {})
      const ended = new Promise((resolve) => socket.on('close', resolve))
      socket.end(bad[n % bad.length] ?? '')
      socket.resume()
      if (n % 3 === 0) socket.destroy()
      else if (n % bad.length !== 9 && n % bad.length !== 8) await ended
      if (n % 100 !== 0) continue
      const { socket: good, until } = await dial(http)
      good.write(raw(list))
      expect(await until(/"tools":\[\]\}/)).toContain('HTTP/1.1 200')
      good.destroy()
    }
  }, 20_000)
})
