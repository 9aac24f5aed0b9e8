import { connect as connectSocket, createServer as createSocketServer } from 'node:net'
import { bearer, protectedResourceMetadata } from '@mcpx/auth/resource-server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { mcp } from '@mcpx/transport-http'
import { type HttpServer, serveHttp } from '@mcpx/transport-http/node'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { server } from './protected.ts'

const ISSUER = 'http://127.0.0.1:8'
const authorizationServer = devAuthorizationServer({ issuer: ISSUER })
const fetchIssuer = (url: string, init: RequestInit) => authorizationServer.fetch(new Request(url, init))

const guardOf = (audience: string) => bearer({ issuer: ISSUER, audience, scopes: ['mcp'], fetch: fetchIssuer })

async function freePort(): Promise<number> {
  const socket = createSocketServer()
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as { port: number }
  await new Promise((resolve) => socket.close(resolve))
  return port
}

let running: HttpServer
let token: string
beforeAll(async () => {
  const port = await freePort()
  const audience = `http://127.0.0.1:${port}/mcp`
  running = await serveHttp(server, { port, authenticate: guardOf(audience) })
  token = await authorizationServer.issue({ scopes: ['mcp'], resources: [audience] })
})
afterAll(() => running.close())

/** Returns the raw response to a raw request, which a client library would normalize. */
function send(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(running.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(`${[...lines, 'Host: 127.0.0.1', 'Connection: close', '', ''].join('\r\n')}`)
  })
}

const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])

describe('raw HTTP requests', () => {
  it('with two Authorization headers are rejected, also if the first one is valid [S-276]', async () => {
    const good = `Authorization: Bearer ${token}`
    // The token is valid. A GET without a session cannot open a stream.
    expect(statusOf(await send(['GET /mcp HTTP/1.1', good]))).toBe(405)
    expect(await send(['GET /mcp HTTP/1.1', good])).not.toMatch(/www-authenticate/i)
    for (const second of ['Authorization: Bearer other', 'authorization: Basic YTpi', good]) {
      const answer = await send(['GET /mcp HTTP/1.1', good, second])
      expect(statusOf(answer)).toBe(400)
      expect(answer).toMatch(/www-authenticate: Bearer error="invalid_request"/i)
    }
  })

  it('with a token in the URL are rejected on every path [S-276]', async () => {
    const answer = await send([`GET /mcp?access_token=${token} HTTP/1.1`])
    expect(statusOf(answer)).toBe(400)
    expect(answer).not.toContain(token.slice(0, 20))
  })

  it('receive a challenge with the metadata URL, which pages may read [S-271, S-282]', async () => {
    const knock = await fetch(running.url, { method: 'POST' })
    expect(knock.status).toBe(401)
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(knock.headers.get('www-authenticate') ?? '') ?? []
    expect(url).toBe(running.url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'))
    for (const place of [url, url.replace(/\/mcp$/, '')]) {
      const response = await fetch(place, { headers: { origin: 'https://elsewhere.example' } })
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(await response.json()).toMatchObject({ resource: running.url, authorization_servers: [ISSUER] })
    }
    expect((await fetch(`${url}/other`)).status).toBe(404)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  })

  it('reach a protected server below a path of a larger app, and its metadata at the root [S-271]', async () => {
    const guard = guardOf('http://localhost/api/mcp')
    const app = new Hono()
    app.route('/api/mcp', mcp(server, { authenticate: guard }))
    app.all('/.well-known/oauth-protected-resource/api/mcp', (context) =>
      protectedResourceMetadata(guard)(context.req.raw),
    )
    const knock = await app.request('/api/mcp', { method: 'POST' })
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(knock.headers.get('www-authenticate') ?? '') ?? []
    expect(await (await app.request(url)).json()).toMatchObject({ resource: 'http://localhost/api/mcp' })
  })
})
