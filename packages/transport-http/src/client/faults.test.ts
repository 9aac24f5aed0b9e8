import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { catchError, delay } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { empty, failure, json, modern, note, reach, result, serve, stream, until } from './peer.fixture.ts'

it.each([
  ['JSON', (response: ServerResponse, body: object) => json(response, body)],
  ['an event', (response: ServerResponse, body: object) => stream(response).event(body)],
  ['an error', (response: ServerResponse, body: object) => json(response, body, 400)],
])('accepts the id of a response as a string with one warning, in %s', async (kind, answer) => {
  const { url } = await serve(({ message }, response) => {
    const outcome = kind === 'an error' ? { error: { code: -32602, message: 'no' } } : { result: { ok: true } }
    answer(response, { jsonrpc: '2.0', id: String(message.id), ...outcome })
  })
  const { connection, problems } = await reach(url)
  for (let count = 0; count < 2; count++) {
    const asked = connection.request('tools/list', modern())
    if (kind === 'an error') await expect(asked).rejects.toMatchObject({ name: 'RpcError', code: -32602 })
    else expect(await asked).toEqual({ ok: true })
  }
  expect(problems).toMatchObject([{ reason: 'invalid-message', hint: expect.stringContaining('report this') }])
})

describe('a lost response', () => {
  it('of a refused connection is always retryable', async () => {
    const port = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(port))
      })
    })
    const { connection } = await reach(`http://127.0.0.1:${port}/mcp`)
    expect(await catchError(() => connection.request('tools/call', modern()))).toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      retryable: true,
      message: expect.stringMatching(/^POST http:.*\/mcp failed \(ECONNREFUSED\)$/),
    })
  })

  it('because the server does not speak TLS is not said to be safe to repeat, and the URL is named', async () => {
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { connection } = await reach(`https://127.0.0.1:${port}/mcp`)
    expect(await catchError(() => connection.request('server/discover', modern()))).toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      retryable: false,
      message: `POST https://127.0.0.1:${port}/mcp failed: no TLS connection (ERR_SSL_WRONG_VERSION_NUMBER)`,
      hint: expect.stringContaining('check whether its URL begins with http:'),
    })
    server.close()
  })

  it.each([
    ['before the headers', (response: ServerResponse) => response.destroy()],
    ['before the first event', (response) => stream(response).cut()],
    [
      'between events',
      async (response) => {
        const events = stream(response)
        events.event(note('notifications/message'))
        await delay(10)
        events.cut()
      },
    ],
    [
      'inside an event',
      async (response) => {
        const events = stream(response)
        events.raw('data: {"jsonrpc":"2.0","id":1,"res')
        await delay(10)
        events.cut()
      },
    ],
    [
      'before the last byte of an event',
      async (response) => {
        const events = stream(response)
        events.raw('data: {"jsonrpc":"2.0","id":1,"result":{}}\n')
        await delay(10)
        events.end()
      },
    ],
    [
      'before the last byte of JSON',
      async (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{"jsonrpc":"2.0","id":1,"result":{}')
        await delay(10)
        response.destroy()
      },
    ],
    ['by a stream that ends', (response) => stream(response).end()],
  ] as [string, (response: ServerResponse) => unknown][])('%s has a safe `retryable` [C-048]', async (kind, answer) => {
    const { url, seen } = await serve((_, response) => answer(response))
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('tools/call', modern()))).toMatchObject({
      reason: 'unreachable',
      retryable: false,
      hint: 'The server may have processed the request: check before you send it again.',
    })
    expect(await catchError(() => connection.request('tools/list', modern()))).toMatchObject({
      reason: 'unreachable',
      retryable: true,
      hint: 'The same request can safely be sent again.',
    })
    // Without any byte of the response, a safe request is sent again.
    expect(seen.length).toBe(kind === 'before the headers' ? 3 : 2)
  })

  it('because the server closed the connection is replaced: a safe request is sent again once, with another id', async () => {
    let closed = 0
    const { url, seen } = await serve((one, response) => {
      if (closed++ === 0) return void response.destroy()
      const events = stream(response)
      events.event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
      events.event({ jsonrpc: '2.0', id: one.message.id, result: { ok: true } })
      events.end()
    })
    const { connection, heard, problems } = await reach(url)
    const notified: unknown[] = []
    const onNotification = ({ method }: { method: string }) => void notified.push(method)
    expect(await connection.request('tools/list', modern(), { onNotification })).toEqual({ ok: true })
    expect(seen.map(({ message }) => message.id)).toEqual([1, 2])
    expect([notified, heard, problems]).toEqual([['notifications/progress'], [], []])
  })

  it.each([[undefined], [null], [{}]])('has a named error if the fetch of the options returns %o', async (given) => {
    const { connection } = await reach('http://127.0.0.1:9/mcp', { fetch: async () => given as never })
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({
      reason: 'invalid-message',
      message: expect.stringContaining('fetch option'),
    })
  })

  it('times out', async () => {
    const { url } = await serve(() => {})
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('a', modern(), { timeout: 40 }))).toMatchObject({
      reason: 'timeout',
    })
  })

  it('is assumed if the stream is silent for too long', async () => {
    const { url } = await serve((_, response) => stream(response).raw(': hello\n\n'))
    const { connection } = await reach(url, { keepAlive: 50 })
    expect(await catchError(() => connection.request('tools/list', modern()))).toMatchObject({ reason: 'unreachable' })
  })

  it('is not assumed while comments arrive', async () => {
    const { url } = await serve(async (one, response) => {
      const events = stream(response)
      for (let n = 0; n < 8; n++) {
        events.raw(': still here\n\n')
        await delay(50)
      }
      events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
      events.end()
    })
    const { connection } = await reach(url, { keepAlive: 250 })
    expect(await connection.request('tools/list', modern())).toEqual({})
  })
})

describe('an invalid response', () => {
  const asked = async (answer: Parameters<typeof serve>[0], options = {}) => {
    const { url } = await serve(answer)
    const { connection } = await reach(url, options)
    return catchError(() => connection.request('tools/list', modern()))
  }

  it.each([
    ['text/html', 'got text/html'],
    ['application/jsonp', 'got application/jsonp'],
    ['', 'got no content type'],
  ])('is rejected with the content type %j', async (type, message) => {
    const error = await asked(
      (_, response) => void response.writeHead(200, type ? { 'content-type': type } : {}).end('<p>'),
    )
    expect(error).toMatchObject({ reason: 'invalid-message', message: expect.stringContaining(message) })
  })

  it.each([
    ['invalid JSON', 'hello', 'not valid JSON'],
    ['another id', '{"jsonrpc":"2.0","id":77,"result":{}}', 'No response to tools/list'],
    ['an object that is not JSON-RPC', '{"ok":true}', 'jsonrpc: expected "2.0"'],
    ['a result that is not an object', '{"jsonrpc":"2.0","id":1,"result":3}', 'result: expected object'],
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/x"}', 'No response to tools/list'],
    ['nothing', '', 'not valid JSON'],
  ])('is rejected if the JSON is %s', async (_, body, message) => {
    const error = await asked(
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    expect(error).toMatchObject({ reason: 'invalid-message', message: expect.stringContaining(message) })
  })

  it('is rejected if an event is not JSON', async () => {
    const error = await asked((_, response) => stream(response).raw('data: hello\n\n'))
    expect(error).toMatchObject({ reason: 'invalid-message', message: expect.stringContaining('not valid JSON') })
  })

  it.each([202, 204])('is rejected if it is an empty %i', async (status) => {
    const error = await asked((_, response) => empty(response, status))
    expect(error).toMatchObject({ reason: 'invalid-message', message: expect.stringContaining(String(status)) })
  })

  it('is not confused with comments, ids, retry times, other events and unknown fields [C-049]', async () => {
    const { url } = await serve((one, response) => {
      const events = stream(response, { 'content-type': 'Text/Event-Stream; charset=utf-8' })
      events.raw(': ka\r\nretry: 5\nfoo: bar\n\nevent: ping\ndata: {}\n\nid: 7\ndata:\n\n')
      events.raw(`event: message\ndata: {"jsonrpc":"2.0",\ndata: "id":${one.message.id},"result":{"a":1}}\n\n`)
      events.end()
    })
    const { connection, problems } = await reach(url)
    expect(await connection.request('tools/list', modern())).toEqual({ a: 1 })
    expect(problems).toEqual([])
  })
})

describe('a response that is too large', () => {
  const options = { maxResponseSize: 1_000, maxEventSize: 1_000 }
  const huge = 'x'.repeat(2_000)

  it('is rejected by its content length before it is read', async () => {
    const { url } = await serve(
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5_000 }).flushHeaders(),
    )
    const { connection } = await reach(url, options)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({
      reason: 'limit',
      hint: expect.stringContaining('maxResponseSize'),
    })
  })

  it('is rejected while it is read, and the connection is closed', async () => {
    const { url, seen } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(huge)
    })
    const { connection } = await reach(url, options)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'limit' })
    await until(() => seen[0]?.gone.aborted === true)
  })

  it('is rejected as an event', async () => {
    const { url, seen } = await serve((_, response) => stream(response).raw(`data: ${huge}`))
    const { connection } = await reach(url, options)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({
      reason: 'limit',
      hint: expect.stringContaining('maxEventSize'),
    })
    await until(() => seen[0]?.gone.aborted === true)
  })

  it('is accepted at the limit', async () => {
    const { url } = await serve((one, response) => {
      const body = (text: string) => JSON.stringify({ jsonrpc: '2.0', id: one.message.id, result: { text } })
      const text = body('y'.repeat(1_000 - body('').length))
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
    const { connection } = await reach(url, options)
    expect(await connection.request('a', modern())).toHaveProperty('text')
  })

  it('is ignored in an error response', async () => {
    const { url } = await serve((_, response) => json(response, { huge }, 400))
    const { connection } = await reach(url, options)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused', status: 400 })
  })
})

describe('an error response', () => {
  const refusal = async (status: number, body?: object) => {
    const { url } = await serve((one, response) => {
      if (body === undefined) return empty(response, status)
      return json(response, { jsonrpc: '2.0', ...('id' in body ? {} : { id: one.message.id }), ...body }, status)
    })
    const { connection } = await reach(url)
    return catchError(() => connection.request('server/discover', modern()))
  }
  const error = (code: number) => ({ error: { code, message: 'no', data: { supported: ['2026-07-28'] } } })

  it.each([400, 404, 405, 406, 413, 415, 431])(
    'with status %i is an error that is not retryable [C-051]',
    async (status) => {
      expect(await refusal(status)).toMatchObject({ reason: 'refused', status, retryable: false })
    },
  )

  it.each([408, 425, 429, 502, 503, 504])('with status %i is retryable', async (status) => {
    expect(await refusal(status)).toMatchObject({ reason: 'refused', status, retryable: true })
  })

  it.each([401, 403, 408, 429, 500, 503])('with status %i does not decide the era, for any body', async (status) => {
    const refused = await refusal(status, error(-32022))
    expect(refused).toMatchObject({ name: 'ConnectionError', reason: 'refused', status, cause: { code: -32022 } })
  })

  it.each([502, 504])('with status %i is retryable only for safe methods', async (status) => {
    const { url } = await serve((_, response) => empty(response, status))
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('tools/call', modern()))).toMatchObject({
      status,
      retryable: false,
    })
  })

  it('by a proxy is not a JSON-RPC response', async () => {
    const fetch = async () => Response.json({ jsonrpc: '2.0', id: 1, ...error(-32022) }, { status: 407 })
    const { connection } = await reach('https://example.com', { fetch })
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused', status: 407 })
  })

  it.each([-32020, -32021, -32022])('with error %i is the response, also without an id [C-051]', async (code) => {
    for (const body of [error(code), { ...error(code), id: null }]) {
      expect(await refusal(400, body)).toMatchObject({ name: 'RpcError', code, data: { supported: ['2026-07-28'] } })
    }
  })

  it('with another error is the response if it has the id of the request [C-051]', async () => {
    expect(await refusal(404, error(-32601))).toMatchObject({ name: 'RpcError', code: -32601 })
    expect(await refusal(400, { ...error(-32000), id: null })).toMatchObject({
      reason: 'refused',
      status: 400,
      message: expect.stringContaining(': no'),
    })
    expect(await refusal(400, { ...error(-32000), id: 'server-error' })).toMatchObject({ reason: 'refused' })
  })

  it('of a notification has the status', async () => {
    const { url } = await serve((one, response) => failure(response, one, 413, { code: -32600 }))
    const { connection } = await reach(url)
    expect(await catchError(() => connection.notify('notifications/x', modern()))).toMatchObject({
      reason: 'refused',
      status: 413,
    })
  })
})

describe('a redirect', () => {
  it.each([307, 308])('by %i is followed on the same origin, as the same request', async (status) => {
    const { url, seen } = await serve((one, response) => {
      if (one.path === '/mcp') return empty(response, status, { location: '/new?a=1' })
      return result(response, one, { at: one.path })
    })
    const { connection } = await reach(url, { headers: { authorization: 'Bearer it' } })
    expect(await connection.request('a', modern({ x: 1 }))).toEqual({ at: '/new?a=1' })
    expect(seen[1]).toMatchObject({
      method: 'POST',
      message: seen[0]?.message,
      headers: { authorization: 'Bearer it' },
    })
  })

  it('to another origin is rejected, and no request is sent there', async () => {
    const other = await serve((one, response) => result(response, one, {}))
    const { url } = await serve((_, response) => empty(response, 308, { location: other.url }))
    const { connection } = await reach(url, { headers: { authorization: 'Bearer it' } })
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({
      reason: 'refused',
      status: 308,
      message: `A redirect was not followed: it leads to another origin, ${new URL(other.url).origin}`,
    })
    expect(other.seen).toEqual([])
  })

  it.each([301, 302, 303])('by %i is rejected, because it would change the request', async (status) => {
    const { url, seen } = await serve((one, response) => {
      if (one.path === '/new') return result(response, one, {})
      return empty(response, status, { location: '/new' })
    })
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused', status })
    expect(seen.length).toBe(1)
  })

  it.each([[{}], [{ location: 'http://[' }]])('with an invalid location is rejected', async (headers) => {
    const { url } = await serve((_, response) => empty(response, 307, headers as Record<string, string>))
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused', status: 307 })
  })

  it('without end is rejected', async () => {
    const { url, seen } = await serve((_, response) => empty(response, 307, { location: '/mcp' }))
    const { connection } = await reach(url)
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused' })
    expect(seen.length).toBe(6)
  })

  it('that the runtime hides is rejected', async () => {
    const fetch = async () => Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
    const { connection } = await reach('https://example.com', { fetch })
    expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ reason: 'refused' })
  })
})
