import { connect } from 'node:net'
import type { Guard } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { HandWritten, MODERN, modern } from '../server/server.fixture.ts'
import { type HttpServer, type ServeHttpOptions, serveHttp } from './serve-http.ts'

const open: HttpServer[] = []
const reports: Error[] = []

afterEach(async () => {
  reports.length = 0
  for (const http of open.splice(0)) await http.close()
})

async function serve(options: ServeHttpOptions): Promise<HttpServer> {
  const server = new HandWritten({ 'tools/list': () => ({ tools: [] }) })
  const http = await serveHttp(server, { port: 0, onWarning: (problem) => reports.push(problem), ...options })
  open.push(http)
  return http
}

/** A guard that lets everybody in, and serves metadata. */
const guard: Guard = Object.assign(() => undefined, {
  metadata: ({ url }: Request) => (url.endsWith('/metadata') ? new Response('read me') : undefined),
})

const body = JSON.stringify(modern('tools/list'))
const rest = [
  'connection: close',
  'content-type: application/json',
  `mcp-protocol-version: ${MODERN}`,
  'mcp-method: tools/list',
  `content-length: ${body.length}`,
  '',
  body,
].join('\r\n')

function send({ port }: HttpServer, request: string, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(`${request}\r\nhost: ${host}\r\n${rest}`))
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

describe('with a guard that serves metadata', () => {
  it.each([
    ['a method that Request does not support', 'TRACE /mcp HTTP/1.1', undefined],
    ['such a method for another path', 'TRACE /other HTTP/1.1', undefined],
    ['an invalid path', 'GET //[ HTTP/1.1', undefined],
    ['an invalid host', 'GET /mcp HTTP/1.1', '['],
    ['an invalid host for another path', 'POST /other HTTP/1.1', 'a b'],
  ])('%s is rejected without affecting other requests', async (_, line, host) => {
    const http = await serve({ authenticate: guard })
    const refused = await send(http, line, host)
    expect(refused).toContain('HTTP/1.1 400 ')
    expect(refused).toMatch(/"error":.*(method|target|Host)/)
    expect(await send(http, 'POST /mcp HTTP/1.1')).toContain('"tools":[]')
    expect(await send(http, 'GET /metadata HTTP/1.1')).toContain('read me')
    expect(reports).toEqual([])
  })

  it('an invalid host is rejected even if all hosts are allowed', async () => {
    const http = await serve({ authenticate: guard, allowedHosts: '*' })
    expect(await send(http, 'POST /mcp HTTP/1.1', 'a b')).toContain('HTTP/1.1 400 ')
    expect(reports).toEqual([])
  })
})

describe('an absolute request target', () => {
  it.each([
    ['is served like its path', 'POST http://127.0.0.1/mcp HTTP/1.1', '127.0.0.1', 200],
    ['may be uppercase, and have a query', 'POST HTTP://LOCALHOST:80/mcp?a=/b HTTP/1.1', 'localhost', 200],
    ['overrides the Host header', 'POST http://localhost/mcp HTTP/1.1', 'evil.example', 200],
    ['is rejected with another host', 'POST http://evil.example/mcp HTTP/1.1', '127.0.0.1', 403],
    [
      'does not hide a second Host header',
      'POST http://127.0.0.1/mcp HTTP/1.1',
      '127.0.0.1\r\nhost: evil.example',
      403,
    ],
    ['does not hide a user', 'POST http://a@127.0.0.1/mcp HTTP/1.1', '127.0.0.1', 403],
    ['with another path is not found', 'POST http://127.0.0.1/other HTTP/1.1', '127.0.0.1', 404],
    ['without a path is not found', 'POST http://127.0.0.1 HTTP/1.1', '127.0.0.1', 404],
    ['of another protocol is not found', 'POST ftp://127.0.0.1/mcp HTTP/1.1', '127.0.0.1', 404],
  ])('%s', async (_, line, host, status) => {
    expect(await send(await serve({}), line, host)).toContain(`HTTP/1.1 ${status} `)
  })

  it('is visible to hooks', async () => {
    const seen: string[] = []
    const http = await serve({ authenticate: ({ url }) => void seen.push(url) })
    await send(http, 'POST http://localhost:1234/mcp?a HTTP/1.1')
    expect(seen).toEqual(['http://localhost:1234/mcp?a'])
  })
})

describe('a user hook', () => {
  const faults: [string, Guard][] = [
    ['authenticates with an error response', () => Response.error()],
    [
      'throws for metadata requests',
      Object.assign(guard.bind(undefined), {
        metadata: () => {
          throw new Error('a fault')
        },
      }),
    ],
  ]

  it.each(faults)('that %s causes a 500, and is reported', async (_, authenticate) => {
    const http = await serve({ authenticate })
    const line = authenticate.metadata === undefined ? 'POST /mcp HTTP/1.1' : 'GET /other HTTP/1.1'
    expect(await send(http, line)).toContain('HTTP/1.1 500 ')
    expect(reports).toHaveLength(1)
  })
})
