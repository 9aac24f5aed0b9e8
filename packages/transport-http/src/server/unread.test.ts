import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { type ServeHttpOptions, serveHttp } from '../node/serve-http.ts'
import { gate, HandWritten, MODERN, modern } from './server.fixture.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const SIZE = 8_000_000

async function start(options: ServeHttpOptions) {
  const warnings: string[] = []
  const held = gate<void>()
  const server = new HandWritten({
    'tools/list': () => ({ tools: [], text: 'x'.repeat(SIZE) }),
    'prompts/list': () => ({ prompts: [] }),
    async 'resources/list'() {
      await held.promise
      return { resources: [], text: 'x'.repeat(SIZE) }
    },
  })
  const onWarning = (warning: Error) => void warnings.push(warning.message)
  const http = await serveHttp(server, { port: 0, ...options, onWarning })
  closers.push(() => http.close())
  /** Sends a request and reads nothing. */
  const ask = (method: string): Socket => {
    const body = JSON.stringify(modern(method))
    const socket = connect(http.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    const lines = [
      'POST /mcp HTTP/1.1',
      'host: 127.0.0.1',
      'content-type: application/json',
      `mcp-protocol-version: ${MODERN}`,
      `mcp-method: ${method}`,
      `content-length: ${body.length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
    closers.push(() => socket.destroy())
    return socket
  }
  return { ...http, ask, warnings, held, server }
}

function read(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    if (text.endsWith('}')) socket.destroy()
  })
  socket.resume()
  return new Promise((resolve) => socket.on('close', () => resolve(text)))
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('a JSON response that its client does not read', () => {
  it('is cut after sendTimeout, with a warning', async () => {
    const { ask, warnings } = await start({ sendTimeout: 200 })
    const socket = ask('tools/list')
    await until(() => warnings.length > 0)
    expect(warnings).toEqual(['The client read nothing for 200 ms: its response was cut (sendTimeout)'])
    expect((await read(socket)).length).toBeLessThan(SIZE)
  })

  it('is not cut while its client reads, however slowly', async () => {
    const { ask, warnings } = await start({ sendTimeout: 200 })
    const socket = ask('tools/list')
    let length = 0
    while (length < SIZE) {
      length += (socket.read() as Uint8Array | null)?.length ?? 0
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(warnings).toEqual([])
  })

  it('makes the endpoint refuse the next requests of its caller, until it is read', async () => {
    const { ask, warnings } = await start({ limits: { unreadBytes: 20_000_000 } })
    const sockets = [ask('tools/list'), ask('tools/list')]
    let refused = ''
    while (!refused.startsWith('HTTP/1.1 429')) refused = await read(ask('prompts/list'))
    expect(refused).toMatch(/retry-after: 1[\s\S]*\(limits\.unreadBytes, limits\.perCaller\)/i)
    for (const socket of sockets) expect((await read(socket)).length).toBeGreaterThan(SIZE)
    let answer = refused
    while (answer.startsWith('HTTP/1.1 429')) answer = await read(ask('prompts/list'))
    expect(answer).toContain('"prompts":[]')
    expect(warnings).toEqual([])
  })

  it('is cut when all are too many bytes', async () => {
    const { ask, warnings, held, server } = await start({ limits: { unreadBytes: 20_000_000, perCaller: 0.5 } })
    const sockets = Array.from({ length: 12 }, () => ask('resources/list'))
    await until(() => server.exchanges.length === sockets.length)
    held.open()
    await until(() => warnings.length > 0)
    expect(warnings[0]).toMatch(/^The client left \d+ bytes unread: its response was cut \(limits\.unreadBytes\)$/)
    const lengths = await Promise.all(sockets.map(async (socket) => (await read(socket)).length))
    expect(lengths.filter((length) => length > SIZE).length).toBeGreaterThan(1)
  })

  it('is sent whole to clients that read, however large it is', async () => {
    const { ask, warnings } = await start({ limits: { unreadBytes: 2_000_000 } })
    const texts = await Promise.all([1, 2].map(() => read(ask('tools/list'))))
    for (const text of texts) expect(text.length).toBeGreaterThan(SIZE)
    expect(warnings).toEqual([])
  })
})

describe('streams that are not read, of callers without an address', () => {
  it('do not make the endpoint refuse other callers before they take all bytes', async () => {
    const warnings: string[] = []
    const server = new HandWritten({
      'tools/list': () => ({ tools: [], text: 'x'.repeat(200_000) }),
      'prompts/list': () => ({ prompts: [] }),
    })
    const onWarning = (warning: Error) => void warnings.push(warning.message)
    const app = mcp(server, { responses: 'events', limits: { unreadBytes: 1_500_000 }, onWarning })
    const ask = (method: string) => {
      const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': method }
      return app.request('/', {
        method: 'POST',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        body: JSON.stringify(modern(method)),
      })
    }
    const unread = await Promise.all(Array.from({ length: 5 }, () => ask('tools/list')))
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect((await ask('prompts/list')).status).toBe(200)
    expect(warnings).toEqual([])
    for (let count = 0; count < 5; count++) unread.push(await ask('tools/list'))
    await until(() => warnings.length > 0)
    expect(warnings[0]).toMatch(/^The client left \d+ bytes unread: its response was cut \(limits\.unreadBytes\)$/)
    expect((await ask('prompts/list')).status).toBe(200)
    for (const response of unread) await response.body?.cancel().catch(() => {})
  })
})
