import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { HandWritten, MODERN, modern } from '../server/server.fixture.ts'
import { cannotListen } from './address.ts'
import { type HttpServer, type ServeHttpOptions, serveHttp } from './serve-http.ts'

const open: (HttpServer | Server)[] = []
const server = new HandWritten({ 'tools/list': () => ({ tools: [] }) })

/** As those pass it who have no types. */
async function serve(options: { [name in keyof ServeHttpOptions]: unknown }): Promise<HttpServer> {
  const http = await serveHttp(server, { port: 0, ...options } as ServeHttpOptions)
  open.push(http)
  return http
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function list(url: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(modern('tools/list')), headers })
  await response.body?.cancel()
  return response.status
}

describe('the path of a server', () => {
  it.each([
    ['/mcp', '/mcp'],
    ['mcp', '/mcp'],
    ['api/mcp', '/api/mcp'],
    ['/mcp/', '/mcp/'],
    ['/', '/'],
    ['', '/'],
    ['/a b', '/a%20b'],
    ['/größe', '/gr%C3%B6%C3%9Fe'],
    ['/a/../b', '/b'],
    ['a:b', '/a:b'],
  ])('may be %j, which is served at %s', async (path, served) => {
    const { url, port } = await serve({ path })
    expect(url).toBe(`http://127.0.0.1:${port}${served}`)
    expect(await list(url)).toBe(200)
    expect(await list(`${url}x`)).toBe(404)
  })

  it.each(['/mcp', '/mcp/'])('is the same with and without a slash at the end: %s', async (path) => {
    const { port } = await serve({ path })
    const statuses = ['/mcp', '/mcp/', '/mcp//', '/mcp/x'].map((each) => list(`http://127.0.0.1:${port}${each}`))
    expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404])
  })

  it.each(['http://x/mcp', '//x/mcp', '/\\x', '/mcp?x=1', '/mcp#top', 5, null, ['/mcp']])(
    'is rejected if it is %j, with a remedy',
    async (path) => {
      await expect(serve({ path })).rejects.toThrow(
        new TypeError(`path: expected a path such as "/mcp", with no host and no query, got ${JSON.stringify(path)}`),
      )
    },
  )

  it('of HTTP+SSE is parsed alike and must differ', async () => {
    const { url } = await serve({ sse: 'sse' })
    const response = await fetch(url.replace('/mcp', '/sse'), { headers: { accept: 'text/event-stream' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    await response.body?.cancel()
    await expect(serve({ sse: '/sse?x' })).rejects.toThrow(/^sse: expected a path such as "\/sse".+got "\/sse\?x"/)
    await expect(serve({ sse: 'mcp' })).rejects.toThrow(
      'sse: expected another path than the path of the endpoint, "/mcp"',
    )
  })
})

describe('the port of a server', () => {
  it('may be a numeric string, for example of an environment variable', async () => {
    const { url, port } = await serve({ port: '0' })
    expect(port).toBeGreaterThan(0)
    expect(await list(url)).toBe(200)
  })

  it.each([
    [Number.NaN, 'NaN'],
    [70_000, '70000'],
    [-1, '-1'],
    [1.5, '1.5'],
    ['abc', '"abc"'],
    ['', '""'],
    ['80 ', '"80 "'],
    ['0x50', '"0x50"'],
    ['65536', '"65536"'],
    [null, 'null'],
    [true, 'true'],
  ])('is rejected if it is %j', async (port, shown) => {
    const said = `port: expected an integer from 0 to 65535, got ${shown}`
    await expect(serve({ port })).rejects.toMatchObject({ name: 'RangeError', message: expect.stringContaining(said) })
  })

  it('that is not a number has a hint about unset variables', async () => {
    await expect(serve({ port: Number(process.env.NO_SUCH_PORT) })).rejects.toThrow('process.env.PORT')
  })
})

describe('the host of a server', () => {
  it.each([
    ['localhost', 'localhost'],
    ['[::1]', '[::1]'],
    ['::1', '[::1]'],
  ])('may be %s', async (host, named) => {
    const { url, port } = await serve({ host })
    expect(url).toBe(`http://${named}:${port}/mcp`)
    expect(await list(url)).toBe(200)
  })

  it.each(['::ffff:127.0.0.1', '0:0:0:0:0:0:0:1', '127.1', '0', 'LOCALHOST'])(
    'may be %s, which clients normalize',
    async (host) => {
      const { url, port } = await serve({ host })
      expect(await list(url)).toBe(200)
      // A client that takes the url as it is.
      const socket = connect(port, host)
      const answered = once(socket, 'data')
      socket.write(`GET /mcp HTTP/1.1\r\nhost: ${/\/\/([^/]+)/.exec(url)?.[1]}\r\n\r\n`)
      expect(String(await answered)).not.toMatch(/^HTTP\/1.1 403/)
      socket.destroy()
    },
  )

  it.each(['', 'http://localhost', 'localhost:3000', '127.0.0.1/mcp', 'a b', 5, null])(
    'is rejected if it is %j, without listening on all addresses',
    async (host) => {
      await expect(serve({ host })).rejects.toMatchObject({
        name: 'TypeError',
        message: expect.stringMatching(/^host: expected .*"127\.0\.0\.1".*got /),
      })
    },
  )
})

describe('a server that cannot listen', () => {
  it('reports the port that is in use', async () => {
    const { port } = await serve({})
    await expect(serve({ port })).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      message: `Cannot listen on 127.0.0.1:${port} (EADDRINUSE)`,
      hint: expect.stringContaining('Choose another port'),
    })
    await expect(serve({ host: '::1', port: await taken('::1') })).rejects.toThrow(/^Cannot listen on \[::1\]:\d+ \(/)
  })

  it('reports an address of another machine', async () => {
    await expect(serve({ host: '203.0.113.7' })).rejects.toMatchObject({
      message: 'Cannot listen on 203.0.113.7:0 (EADDRNOTAVAIL)',
      hint: expect.stringMatching(/^(?!.*port).*0\.0\.0\.0/),
    })
  })

  it.each([
    ['ENOTFOUND', /^(?!.*another port).*name/],
    ['EAI_AGAIN', /^(?!.*another port).*name/],
    ['EACCES', /1024/],
    ['EAFNOSUPPORT', /^(?!.*another port)/],
    ['EPERM', /^(?!.*another port)/],
  ])('has a remedy for %s', (code, hint) => {
    const cause = Object.assign(new Error('no'), { code })
    const error = cannotListen({ host: 'a.example', port: 80 }, cause)
    expect([error.message, error.cause]).toEqual([`Cannot listen on a.example:80 (${code})`, cause])
    expect(error.hint ?? '').toMatch(hint)
  })
})

function taken(host: string): Promise<number> {
  return new Promise((resolve) => {
    const other = createServer().listen(0, host, () => resolve((other.address() as { port: number }).port))
    open.push(other)
  })
}
