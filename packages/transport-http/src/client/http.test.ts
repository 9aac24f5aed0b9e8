import type { ServerResponse } from 'node:http'
import { ConnectionError, type Exchange, type Message, type RequestMessage, type Responder } from '@mcpx/protocol'
import { catchError, delay, describeContract, requesterContract } from '@mcpx/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { http } from '../client.ts'
import {
  empty,
  failure,
  modern,
  note,
  reach,
  result,
  type Seen,
  serve,
  serveLegacy,
  shakeHands,
  stream,
  until,
} from './peer.fixture.ts'

/** Answers a message by a responder: as JSON unless it spoke before. */
async function respond(responder: Responder, seen: Seen, response: ServerResponse, signal: AbortSignal): Promise<void> {
  let events: ReturnType<typeof stream> | undefined
  const exchange: Exchange = {
    signal,
    auth: undefined,
    session: undefined,
    requestInfo: undefined,
    notify(method, params) {
      events ??= stream(response)
      events.event(note(method, params))
    },
  }
  const answer = await answerOf(responder, seen.message, exchange)
  if (signal.aborted) return
  if (events === undefined) {
    if (answer === undefined) return empty(response, 202)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    return
  }
  if (answer !== undefined) events.event(answer)
  events.end()
}

async function answerOf(
  responder: Responder,
  message: RequestMessage,
  exchange: Exchange,
): Promise<Message | undefined> {
  try {
    return await responder.respond(message, exchange)
  } catch {
    return { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'Internal error' } }
  }
}

describeContract(
  'http, modern era',
  requesterContract(async (responder) => {
    const { url } = await serve((seen, response) => respond(responder, seen, response, seen.gone))
    const { connection } = await reach(url)
    return {
      request: (method, params, options) => connection.request(method, modern(params), options),
      notify: (method, params) => connection.notify(method, modern(params)),
      close: (reason) => connection.close(reason),
      closed: connection.closed,
    }
  }),
  { describe, it },
)

describeContract(
  'http, legacy era',
  requesterContract(async (responder) => {
    const running = new Map<unknown, AbortController>()
    const { url } = await serveLegacy(
      (seen, response) => {
        const controller = new AbortController()
        running.set(seen.message.id, controller)
        return respond(responder, seen, response, controller.signal)
      },
      {
        told(seen, response) {
          const { method, params } = seen.message
          if (method !== 'notifications/cancelled') return respond(responder, seen, response, seen.gone)
          empty(response, 202)
          return running.get(params.requestId)?.abort(new Error(params.reason))
        },
      },
    )
    return (await shakeHands(await reach(url))).connection
  }),
  { describe, it },
)

describeContract(
  'http, the oldest wire',
  requesterContract(async (responder) => {
    const running = new Map<unknown, AbortController>()
    let events: ReturnType<typeof stream> | undefined
    const { url } = await serve(async (seen, response) => {
      const { path, message } = seen
      if (seen.method === 'GET') {
        events = stream(response)
        events.raw('event: endpoint\ndata: /messages?session=1\n\n')
        return
      }
      const isKnown = path === '/messages?session=1'
      empty(response, isKnown ? 202 : 405)
      if (!isKnown) return
      if (message.method === 'initialize') {
        const value = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'p', version: '1' } }
        events?.event({ jsonrpc: '2.0', id: message.id, result: value })
        return
      }
      if (message.method === 'notifications/cancelled') running.get(message.params.requestId)?.abort(new Error('x'))
      const controller = new AbortController()
      running.set(message.id, controller)
      const exchange = {
        signal: controller.signal,
        auth: undefined,
        session: undefined,
        requestInfo: undefined,
      } as const
      const notify = (method: string, params?: object) => events?.event(note(method, params))
      const answer = await answerOf(responder, message, { ...exchange, notify })
      if (answer !== undefined && !controller.signal.aborted) events?.event(answer)
    })
    return (await shakeHands(await reach(url))).connection
  }),
  { describe, it },
)

it('the connector sends nothing before the first request, and is named by origin and path', async () => {
  const { url, seen } = await serve((_, response) => empty(response, 500))
  const connector = http(`${url}?key=secret#part`)
  await reach(url)
  await delay(20)
  expect(seen).toEqual([])
  expect(connector).toMatchObject({ peer: url, probeTimeout: 10_000 })
})

it('the connector rejects URLs with credentials or other schemes, and invalid numbers', () => {
  expect(() => http('https://me:secret@example.com')).toThrow('headers option')
  expect(() => http('file:///etc')).toThrow('expected http: or https:')
  for (const none of ['nonsense', '', '/mcp', undefined, null, {}] as never[])
    expect(() => http(none)).toThrow(new TypeError('url: expected a whole URL such as "https://example.com/mcp"'))
  expect(() => http('localhost:3000/mcp')).toThrow('url: expected http: or https:, got localhost:')
  expect(() => http('https://example.com', { keepAlive: 0 })).toThrow(RangeError)
  expect(() => http('https://example.com', { maxResponseSize: Number.NaN })).toThrow('maxResponseSize')
  expect(() => http('https://example.com', { probeTimeout: 0 })).toThrow('probeTimeout: expected a number from 1')
})

it('a connection sends each message as a POST that accepts JSON and SSE [C-040]', async () => {
  const { url, seen } = await serve((one, response) => result(response, one, {}))
  const { connection } = await reach(url)
  await Promise.all([connection.request('a', modern()), connection.request('b', modern())])
  expect(seen.map(({ method, message }) => [method, message.method])).toEqual([
    ['POST', 'a'],
    ['POST', 'b'],
  ])
  for (const { headers } of seen) {
    expect(headers.accept).toBe('application/json, text/event-stream')
    expect(headers['content-type']).toBe('application/json')
  }
})

it('a connection sends version and method headers with notifications, after the first request [C-043]', async () => {
  const { url, seen } = await serve((one, response) =>
    one.message.id === undefined ? empty(response, 202) : result(response, one, {}),
  )
  const { connection } = await reach(url)
  await connection.request('a', modern())
  await connection.notify('notifications/x', {})
  expect(seen[1]?.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/x' })
})

it('a connection sends the configured headers with each request, without overriding its own', async () => {
  const { url, seen } = await serve((one, response) => result(response, one, {}))
  let count = 0
  const headers = async () => ({ authorization: `Bearer ${++count}`, accept: 'text/html', 'mcp-method': 'other' })
  const { connection } = await reach(url, { headers })
  await connection.request('a', modern())
  await connection.request('b', modern())
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2'])
  expect(seen[1]?.headers).toMatchObject({ accept: 'application/json, text/event-stream', 'mcp-method': 'b' })
})

it('a connection passes `init` to fetch, for example a dispatcher of undici', async () => {
  const inits: object[] = []
  const fetch = async (_: unknown, init: object = {}) => {
    inits.push(init)
    return Response.json({ jsonrpc: '2.0', id: 1, result: {} })
  }
  const init = { credentials: 'include', dispatcher: { dispatch: () => true } } as RequestInit
  const { connection } = await reach('https://example.com', { fetch, init })
  await connection.request('a', modern())
  expect(inits).toMatchObject([{ ...init, method: 'POST' }])
  expect(inits[0]).not.toHaveProperty('timeout')
})

it('a connection disables the timeouts of the global fetch', async () => {
  const { connection } = await reach('https://example.com')
  const own = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({ jsonrpc: '2.0', id: 1, result: {} }))
  onTestFinished(() => own.mockRestore())
  await connection.request('a', modern())
  expect(own.mock.calls[0]?.[1]).toMatchObject({ timeout: false })
})

it('a connection sends every request of a session through the auth wrapper [C-052]', async () => {
  const { url, seen } = await serveLegacy((one, response) => result(response, one, {}))
  const { connection } = await shakeHands(
    await reach(url, {
      auth: (fetch) => (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('authorization', 'Bearer it')
        return fetch(input, { ...init, headers })
      },
    }),
  )
  await connection.request('a')
  await connection.close()
  await until(() => seen.some(({ method }) => method === 'DELETE'))
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(seen.map(() => 'Bearer it'))
  expect(new Set(seen.map(({ method }) => method))).toEqual(new Set(['POST', 'GET', 'DELETE']))
})

it('a request rejects with the error of the headers function', async () => {
  const headers = () => Promise.reject(new Error('no token'))
  const { connection } = await reach('http://127.0.0.1:9/', { headers })
  expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ message: 'no token' })
})

it('a request with parameters that JSON cannot represent rejects, and is not sent', async () => {
  const { url, seen } = await serve((one, response) => result(response, one, {}))
  const { connection } = await reach(url)
  expect(await catchError(() => connection.request('a', modern({ n: 1n })))).toMatchObject({
    message: 'Internal error: the parameters of a cannot be written as JSON',
  })
  expect(seen).toEqual([])
})

it('a cancelled or timed-out modern request closes its stream without a notification [C-050]', async () => {
  const { url, seen } = await serve(() => {})
  const { connection } = await reach(url)
  const controller = new AbortController()
  const cancelled = catchError(() => connection.request('a', modern(), { signal: controller.signal }))
  const late = catchError(() => connection.request('b', modern(), { timeout: 400, announceCancel: false }))
  await until(() => seen.length === 2)
  controller.abort(new Error('enough'))
  expect(await cancelled).toMatchObject({ reason: 'cancelled' })
  expect(await late).toMatchObject({ reason: 'timeout' })
  await until(() => seen.every(({ gone }) => gone.aborted))
  expect(seen.length).toBe(2)
})

it('a cancelled request closes its stream, even if fetch does not', async () => {
  let left = false
  const body = new ReadableStream({
    cancel() {
      left = true
    },
  })
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const { connection } = await reach('https://example.com', { fetch })
  expect(await catchError(() => connection.request('a', modern(), { timeout: 20 }))).toMatchObject({
    reason: 'timeout',
  })
  await until(() => left)
})

it('progress extends the timeout of a request', async () => {
  const { url } = await serve(async (one, response) => {
    const events = stream(response)
    for (let progress = 1; progress < 8; progress++) {
      await delay(200)
      events.event(note('notifications/progress', { progressToken: one.message.id, progress }))
    }
    events.event({ jsonrpc: '2.0', id: one.message.id, result: { done: true } })
    events.end()
  })
  const { connection } = await reach(url)
  const options = { timeout: 1_200, onNotification: () => {} }
  expect(await connection.request('a', modern(), options)).toEqual({ done: true })
})

it('a connection reports the error of a listener and continues', async () => {
  const { url } = await serve((one, response) => {
    const events = stream(response)
    events.event(note('notifications/progress', { progressToken: one.message.id, progress: 1 }))
    events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
    events.end()
  })
  const { connection, problems } = await reach(url)
  const onNotification = () => {
    throw new Error('listener')
  }
  await connection.request('a', modern(), { onNotification })
  expect(problems).toMatchObject([{ message: 'listener' }])
})

it('a connection passes notifications to the responder if the request has no listener', async () => {
  const { url } = await serve((one, response) => {
    const events = stream(response)
    events.event(note('notifications/message', { level: 'info', data: 1 }))
    events.event({ jsonrpc: '2.0', id: 99, method: 'ping' })
    events.event({ jsonrpc: '2.0', id: 98, result: {} })
    events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
    events.end()
  })
  const { connection, heard, problems } = await reach(url)
  await connection.request('a', modern())
  expect(heard).toMatchObject([{ method: 'notifications/message' }])
  expect(problems.map(({ message }) => message)).toEqual([
    'A request by the server was ignored: ping',
    'A response was ignored: no request with its id is waiting',
  ])
})

it('a request resolves before the end of the stream, and later notifications are delivered [C-040]', async () => {
  let finish = () => {}
  const { url } = await serve((one, response) => {
    const events = stream(response)
    events.event({ jsonrpc: '2.0', id: one.message.id, result: { a: 1 } })
    finish = () => {
      events.event(note('notifications/late'))
      events.end()
    }
  })
  const { connection, heard } = await reach(url)
  expect(await connection.request('a', modern())).toEqual({ a: 1 })
  finish()
  await until(() => heard.length === 1)
})

it('a connection closes a stream that the server does not end after the response', async () => {
  const { url, seen } = await serve((one, response) => {
    stream(response).event({ jsonrpc: '2.0', id: one.message.id, result: {} })
  })
  const { connection } = await reach(url)
  await connection.request('a', modern())
  await until(() => seen[0]?.gone.aborted === true)
})

it('a request rejects with an error without an id on its own response', async () => {
  const { url } = await serve((_, response) =>
    failure(response, { message: { id: null } } as Seen, 200, { code: -32600 }),
  )
  const { connection } = await reach(url)
  expect(await catchError(() => connection.request('a', modern()))).toMatchObject({ name: 'RpcError', code: -32600 })
})

it('a notification rejects if the server rejects it', async () => {
  const { url } = await serve((_, response) => empty(response, 401))
  const { connection } = await reach(url)
  expect(await catchError(() => connection.notify('notifications/x', modern()))).toBeInstanceOf(ConnectionError)
})

it('a connection closes with the given reason', async () => {
  const { url } = await serve(() => {})
  const { connection } = await reach(url)
  const waiting = catchError(() => connection.request('a', modern()))
  const reason = new ConnectionError('limit', 'enough')
  await connection.close(reason)
  expect(await waiting).toBe(reason)
  expect(await connection.closed).toBe(reason)
  await connection.notify('notifications/x')
})

it('a connector does not decide the era by a timeout [C-026]', () => {
  expect(http('http://127.0.0.1:1/mcp')).toMatchObject({ silence: 'nothing', probeTimeout: 10_000 })
})

describe('an unknown option of http', () => {
  it.each([
    [{ header: {} }, 'http: there is no option "header"; did you mean "headers"?'],
    [{ authProvider: {} }, 'http: there is no option "authProvider"; did you mean "auth"?'],
    [{ requestInit: {} }, 'http: there is no option "requestInit"; did you mean "init"?'],
    [{ onElicit: () => {} }, 'http: there is no option "onElicit"; expected one of fetch, headers, '],
    [{ reconnect: { attempt: 3 } }, 'http: reconnect: there is no option "attempt"; did you mean "attempts"?'],
  ])('is refused with the name that was meant: %j', (options, message) => {
    expect(() => http('https://example.com/mcp', options as object)).toThrow(TypeError)
    expect(() => http('https://example.com/mcp', options as object)).toThrow(message)
  })
})

describe('errors of requests', () => {
  it.each([
    ['tools/call', { name: 'add' }, 'tools/call "add"', false],
    ['resources/read', { uri: 'a://b' }, 'resources/read "a://b"', true],
    ['resources/subscribe', { uri: 'a://b' }, 'resources/subscribe "a://b"', true],
    ['tools/list', {}, 'tools/list', true],
    ['tasks/update', { taskId: 'a', inputResponses: {} }, 'tasks/update', true],
    ['tasks/cancel', { taskId: 'a' }, 'tasks/cancel', true],
  ])('name the tool or the resource: %s', async (method, params, label, retryable) => {
    const request = async (fetch: () => Promise<Response>) => {
      const connection = await http('https://example.com/mcp', { fetch }).connect({
        responder: { respond: () => undefined },
        onWarning: () => {},
      })
      return connection.request(method, params)
    }
    const lost = request(() => Promise.reject(new TypeError('fetch failed')))
    await expect(lost).rejects.toMatchObject({ message: `The response to ${label} was lost: fetch failed`, retryable })
    const refused = request(async () => new Response('', { status: 502 }))
    await expect(refused).rejects.toMatchObject({ message: `${label} was refused with HTTP status 502`, retryable })
    const html = request(async () => new Response('<p>', { headers: { 'content-type': 'text/html' } }))
    await expect(html).rejects.toThrow(`The response to ${label} was refused: expected application/json or`)
  })
})
