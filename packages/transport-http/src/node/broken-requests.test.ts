import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { delay } from '@mcpx/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { HandWritten, MODERN, modern } from '../server/server.fixture.ts'
import { arrivalSettings } from './broken-requests.ts'
import { type HttpServer, type ServeHttpOptions, serveHttp } from './serve-http.ts'

const open: HttpServer[] = []

async function dial(options: ServeHttpOptions): Promise<{ socket: Socket; answer: Promise<string> }> {
  const tools = { 'tools/list': () => delay(60).then(() => ({ tools: [] })) }
  const http = await serveHttp(new HandWritten(tools), { port: 0, ...options })
  open.push(http)
  const socket = connect(http.port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  await once(socket, 'connect')
  return { socket, answer: once(socket, 'close').then(() => text) }
}

afterEach(async () => {
  for (const http of open.splice(0)) await http.close()
})

const body = JSON.stringify(modern('tools/list'))
const head = [
  'POST /mcp HTTP/1.1',
  'host: 127.0.0.1',
  'content-type: application/json',
  `mcp-protocol-version: ${MODERN}`,
  'mcp-method: tools/list',
  `content-length: ${body.length}`,
].join('\r\n')

function errorIn(answer: string): string {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.message
}

describe('a request that takes too long to arrive', () => {
  it.each([
    ['nothing arrives', ''],
    ['its headers do not end', 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n'],
    ['its body does not end', `${head}\r\n\r\n{`],
  ])('is rejected with the number and the option if %s', async (_, sent) => {
    const { socket, answer } = await dial({ requestTimeout: 200 })
    const started = performance.now()
    socket.write(sent)
    expect(errorIn(await answer)).toBe('The request did not arrive within 200 ms (requestTimeout)')
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('is not one with a slow response', async () => {
    const { socket, answer } = await dial({ requestTimeout: 20 })
    socket.write(`${head}\r\nconnection: close\r\n\r\n${body}`)
    expect(await answer).toContain('"tools":[]')
  })
})

describe('headers', () => {
  it('that are too large are rejected with the number and the option', async () => {
    const { socket, answer } = await dial({ maxHeaderSize: 2_000 })
    socket.write(`${head}\r\nx: ${'y'.repeat(2_000)}\r\n\r\n${body}`)
    const text = await answer
    expect(text).toMatch(/^HTTP\/1\.1 431 /)
    expect(errorIn(text)).toBe('The headers are larger than 2000 bytes (maxHeaderSize)')
  })

  it('may be larger than the default of Node', async () => {
    const { socket, answer } = await dial({ maxHeaderSize: 50_000 })
    socket.write(`${head}\r\nconnection: close\r\nx: ${'y'.repeat(40_000)}\r\n\r\n${body}`)
    expect(await answer).toContain('"tools":[]')
  })
})

describe('input that is not HTTP', () => {
  it('is rejected, and the connection is closed', async () => {
    const { socket, answer } = await dial({})
    socket.write('hello\r\n\r\n')
    expect(errorIn(await answer)).toBe('The bytes are not a valid HTTP request (HPE_INVALID_METHOD)')
  })

  it('does not affect the responses to earlier requests', async () => {
    const { socket, answer } = await dial({})
    socket.write(`${head}\r\n\r\n${body}${head}\r\n\r\n${body}hello\r\n\r\n`)
    expect((await answer).match(/"tools":\[\]/g)).toHaveLength(2)
  })
})

it('allows headers up to the request timeout', () => {
  for (const requestTimeout of [1_000, 600_000]) {
    expect(arrivalSettings({ requestTimeout })).toMatchObject({ requestTimeout, headersTimeout: requestTimeout })
  }
})

it('keeps idle connections open for 75 s, or for the time of the option', async () => {
  for (const [options, seconds] of [
    [{}, 75],
    [{ keepAliveTimeout: 1_000 }, 1],
  ] as const) {
    const { socket, answer } = await dial(options)
    const received = once(socket, 'data')
    socket.write(`${head}\r\n\r\n${body}`)
    expect(String(await received)).toContain(`\r\nKeep-Alive: timeout=${seconds}\r\n`)
    if (seconds === 1) await answer
  }
})

it('rejects an invalid limit', async () => {
  const server = new HandWritten()
  for (const value of [0, -1, 1.5, Number.NaN]) {
    await expect(serveHttp(server, { port: 0, maxHeaderSize: value })).rejects.toThrow(/^maxHeaderSize: /)
    await expect(serveHttp(server, { port: 0, requestTimeout: value })).rejects.toThrow(/^requestTimeout: /)
    await expect(serveHttp(server, { port: 0, keepAliveTimeout: value })).rejects.toThrow(/^keepAliveTimeout: /)
  }
})

describe('a body with a content length above the limit', () => {
  it('is read and discarded for a moment, so that a client that reads afterwards gets the response', async () => {
    const { socket, answer } = await dial({ limits: { body: 1_000 }, keepAliveTimeout: 1_000 })
    socket.pause()
    const large = 20_000_000
    await new Promise((sent) => {
      socket.write(`${head.replace(/\d+$/, String(large))}\r\n\r\n${'x'.repeat(large)}`, sent)
    })
    socket.resume()
    expect(errorIn(await answer)).toContain('1000 bytes (limits.body)')
  })
})
