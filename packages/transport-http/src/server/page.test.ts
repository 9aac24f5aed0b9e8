import { createHash } from 'node:crypto'
import { type Responder, resultMessage, withServerInfo } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { serveHttp } from '../node/serve-http.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

/** A server with this name, which counts its requests. */
function named(info = { name: 'shop', version: '1.2.3' }) {
  const server: Responder & { requests: number } = {
    requests: 0,
    respond(message) {
      server.requests += 1
      if (!('id' in message)) return undefined
      return resultMessage(message.id, withServerInfo({ supportedVersions: [], capabilities: {} }, info))
    },
  }
  return server
}

describe('a browser that opens the URL of an endpoint', () => {
  it('sees the name, the version and how to connect', async () => {
    const response = await mcp(named()).request('http://localhost/mcp', { headers: BROWSER })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const html = await response.text()
    expect(html).toMatch(/<title>shop<\/title>.*<h1>shop<\/h1>\s*<p>Version 1\.2\.3<\/p>/s)
    expect(html).toContain('<pre>http://localhost/mcp</pre>')
    expect(html).toContain('&#34;shop&#34;: {')
  })

  it('applies no style but that of the page, and no script', async () => {
    const response = await mcp(named()).request('/', { headers: BROWSER })
    const style = /<style>(.*)<\/style>/.exec(await response.text())?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('vary')).toBe('Accept')
  })

  it('runs nothing that a name contains', async () => {
    const info = { name: '"><script>alert(1)</script>', version: "'<b>&" }
    const response = await mcp(named(info)).request('http://localhost/a%22%3E%3Cb%3E', { headers: BROWSER })
    const html = await response.text()
    expect(html).not.toMatch(/<script|<b>/)
    expect(html).toContain('&#34;script-alert-1-script-&#34;')
  })

  it('sees the address that a proxy with TLS has', async () => {
    const headers = { ...BROWSER, 'x-forwarded-proto': 'https' }
    const html = await (await mcp(named()).request('http://localhost/mcp', { headers })).text()
    expect(html).toContain('<pre>https://localhost/mcp</pre>')
  })

  it('gets the headers alone with HEAD', async () => {
    const response = await mcp(named()).request('/', { method: 'HEAD', headers: BROWSER })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toBe('')
  })

  it('sees a page without a name if the server does not return it', async () => {
    const silent: Responder = {
      respond() {
        throw new Error('broken')
      },
    }
    const response = await mcp(silent).request('/', { headers: BROWSER })
    expect([response.status, (await response.text()).includes('<h1>MCP server</h1>')]).toEqual([200, true])
  })

  it('learns nothing about a server that requires credentials', async () => {
    const server = named()
    const challenge = { 'www-authenticate': 'Bearer' }
    const authenticate = () => new Response('{"error":{}}', { status: 401, headers: challenge })
    const app = mcp(server, { authenticate })
    const response = await app.request('/', { headers: BROWSER })
    const { headers } = response
    expect([response.status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await response.text()
    expect(html).toContain('requires credentials')
    expect(html).not.toContain('shop')
    expect(server.requests).toBe(0)
    const client = await app.request('/', { method: 'POST', headers: BROWSER })
    expect([client.status, await client.text()]).toEqual([401, '{"error":{}}'])
  })

  it('is refused where the host is, and sees no page without the option', async () => {
    const elsewhere = await mcp(named()).request('http://evil.example/', { headers: BROWSER })
    expect([elsewhere.status, (await elsewhere.text()).includes('html')]).toEqual([403, false])
    const response = await mcp(named(), { page: false }).request('/', { headers: BROWSER })
    expect([response.status, response.headers.get('content-type')]).not.toContain('text/html; charset=utf-8')
    expect(() => mcp(named(), { page: 'x' } as object)).toThrow('page: expected true or false, got "x"')
  })
})

describe('an MCP client that sends GET', () => {
  it.each([
    { accept: 'text/event-stream' },
    { accept: 'text/event-stream, text/html' },
    { accept: 'application/json, text/html' },
    { accept: '*/*' },
    { ...BROWSER, 'mcp-session-id': 'x' },
    { ...BROWSER, 'mcp-protocol-version': '2026-07-28' },
    { ...BROWSER, 'last-event-id': '1' },
  ])('never receives the page: %j', async (headers) => {
    const server = named()
    const withPage = await mcp(server).request('/', { headers })
    const without = await mcp(server, { page: false }).request('/', { headers })
    expect([withPage.status, await withPage.text()]).toEqual([without.status, await without.text()])
    expect(withPage.status).toBeGreaterThanOrEqual(400)
    const modernOnly = await mcp(server, { legacy: false }).request('/', { headers })
    expect(modernOnly.status).toBe(405)
    expect(server.requests).toBe(0)
  })
})

describe('serveHttp', () => {
  it('shows browsers the path of the endpoint on other paths, and the endpoint with and without a slash', async () => {
    const server = await serveHttp(named(), { port: 0 })
    const root = await fetch(new URL('/', server.url), { headers: BROWSER })
    expect([root.status, await root.text()]).toEqual([404, expect.stringContaining('<a href="/mcp">/mcp</a>')])
    for (const url of [server.url, `${server.url}/`]) {
      const response = await fetch(url, { headers: BROWSER })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<h1>shop</h1>')])
    }
    const other = await fetch(new URL('/', server.url))
    expect([other.status, await other.text()]).toEqual([404, ''])
    await server.close()
    const plain = await serveHttp(named(), { port: 0, page: false })
    const response = await fetch(new URL('/', plain.url), { headers: BROWSER })
    expect([response.status, await response.text()]).toEqual([404, ''])
    await plain.close()
  })
})

describe('a browser that a guard refuses', () => {
  it.each([
    ['its own page', 401, '<h1>Log in</h1>', 'text/html; charset=utf-8'],
    ['a response without a body', 204, null, null],
    ['a fault', 503, 'later', 'text/plain'],
  ])('sees what the guard responds: %s', async (_, status, body, type) => {
    const headers: HeadersInit = type === null ? {} : { 'content-type': type }
    const app = mcp(named(), { authenticate: () => new Response(body, { status, headers }) })
    const response = await app.request('/', { headers: BROWSER })
    expect([response.status, await response.text()]).toEqual([status, body ?? ''])
  })
})
