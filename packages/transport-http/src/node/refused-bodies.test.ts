import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MAX_DROPPED } from '../server/body.ts'
import { HandWritten } from '../server/server.fixture.ts'
import { type ServeHttpOptions, serveHttp } from './serve-http.ts'

/** The bytes that the buffers of both sockets may hold. */
const BUFFERS = 24 * 1024 * 1024
const CHUNK = `10000\r\n${'x'.repeat(0x10000)}\r\n`
const JSON_TYPE = 'content-type: application/json'
const CHUNKED = 'transfer-encoding: chunked'

interface Refusal {
  readonly status: number
  readonly headers: readonly string[]
  readonly path?: string
  readonly options?: ServeHttpOptions
}

const refusals: Readonly<Record<string, Refusal>> = {
  'for its announced length': { status: 413, headers: [JSON_TYPE, 'content-length: 99999999999'] },
  'for its length': { status: 413, headers: [JSON_TYPE, CHUNKED] },
  'for its type': { status: 415, headers: ['content-type: text/plain', CHUNKED] },
  'for its credentials': {
    status: 401,
    headers: [JSON_TYPE, CHUNKED],
    options: { authenticate: async () => new Response(null, { status: 401 }) },
  },
  'for its host': { status: 403, headers: [JSON_TYPE, CHUNKED, 'host: evil.example'] },
  'for its origin': { status: 403, headers: [JSON_TYPE, CHUNKED, 'origin: https://evil.example'] },
  'for a target that is not valid': { status: 400, headers: [JSON_TYPE, CHUNKED, 'host: a b'] },
  'for its path': { status: 404, headers: [JSON_TYPE, CHUNKED], path: '/other' },
}

/** Sends a body without an end, until the server closes the connection. */
async function sendEndless({ headers, path = '/mcp', options = {} }: Refusal) {
  const server = await serveHttp(new HandWritten(), { port: 0, ...options })
  onTestFinished(() => server.close())
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk))
  // The connection is reset while data is sent.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  await once(socket, 'connect')
  const host = headers.some((each) => each.startsWith('host:')) ? [] : ['host: 127.0.0.1']
  socket.write([`POST ${path} HTTP/1.1`, ...host, ...headers, '', ''].join('\r\n'))
  while (!socket.destroyed) {
    const isFull = !socket.write(CHUNK)
    if (isFull) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
  return { answer, sent: socket.bytesWritten }
}

describe('a request that is refused', () => {
  it.each(Object.entries(refusals))('%s is read no further than a limit', async (_, refusal) => {
    const { answer, sent } = await sendEndless(refusal)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${refusal.status} `))
    expect(sent).toBeLessThan(2 * MAX_DROPPED + BUFFERS)
  })
})
