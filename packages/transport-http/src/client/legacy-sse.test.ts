import type { ServerResponse } from 'node:http'
import { type RequestMessage, resultMessage } from '@mcpx/protocol'
import { catchError } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { empty, failure, note, reach, type Seen, serve, shakeHands, stream, until } from './peer.fixture.ts'

type Events = ReturnType<typeof stream>

interface Oldest {
  readonly refusal?: number
  readonly endpoint?: string
  readonly open?: (response: ServerResponse) => unknown
  readonly answer?: (seen: Seen, response: ServerResponse, events: Events) => unknown
  /** Called with the answers of the client to requests of the server. */
  readonly respond?: (response: ServerResponse) => unknown
}

/** A server of the oldest wire. */
async function serveOldest({ refusal = 405, endpoint = '/post?s=1', open, answer, respond }: Oldest = {}) {
  const opened: Events[] = []
  const peer = await serve((seen, response) => {
    if (seen.method === 'GET') {
      if (open !== undefined) return open(response)
      const events = stream(response)
      opened.push(events)
      return events.raw(`: hi\n\nevent: endpoint\ndata: ${endpoint}\n\n`)
    }
    if (!seen.path.startsWith('/post')) return empty(response, refusal)
    const [events] = opened as [Events]
    const { id, method } = seen.message
    if (method === 'initialize') {
      const value = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'p', version: '1' } }
      empty(response, 202)
      return events.event({ jsonrpc: '2.0', id, result: value })
    }
    if (answer !== undefined && id !== undefined && method !== undefined) return answer(seen, response, events)
    if (respond !== undefined && id !== undefined && method === undefined) return respond(response)
    return response.writeHead(202).end('Accepted')
  })
  return { ...peer, opened }
}

function cancellable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

describe('the HTTP+SSE transport', () => {
  it.each([400, 404, 405])('is tried if a handshake is rejected with %i [C-025]', async (refusal) => {
    const { url, seen, opened } = await serveOldest({ refusal })
    const { connection, heard } = await shakeHands(await reach(url))
    opened[0]?.event(note('notifications/x'))
    await until(() => heard.length === 1)
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /mcp',
      'GET /mcp',
      'POST /post?s=1',
      'POST /post?s=1',
    ])
    expect(seen[1]?.gone.aborted).toBe(false)
    await connection.close()
    await until(() => seen[1]?.gone.aborted === true)
    expect(seen.length).toBe(4)
  })

  it.each([401, 403, 500])('is not tried if a handshake is rejected with %i', async (refusal) => {
    const { url, seen } = await serveOldest({ refusal })
    expect(await catchError(async () => shakeHands(await reach(url)))).toMatchObject({
      reason: 'refused',
      status: refusal,
    })
    expect(seen.length).toBe(1)
  })

  it('accepts the id of a response as a string', async () => {
    const { url } = await serveOldest({
      answer({ message }, response, events) {
        empty(response, 202)
        events.event(resultMessage(String(message.id), { ok: true }))
      },
    })
    const { connection, problems } = await shakeHands(await reach(url))
    for (let count = 0; count < 2; count++) expect(await connection.request('ping')).toEqual({ ok: true })
    expect(problems).toMatchObject([{ reason: 'invalid-message', hint: expect.stringContaining('report this') }])
  })

  it('is not tried if the rejection is a JSON-RPC error', async () => {
    const { url, seen } = await serve((one, response) =>
      failure(response, one, 400, { code: -32022, data: { supported: [] } }),
    )
    expect(await catchError(async () => shakeHands(await reach(url)))).toMatchObject({ name: 'RpcError', code: -32022 })
    expect(seen.length).toBe(1)
  })

  it.each([
    ['is not a stream', (response) => response.end('hello')],
    ['is refused', (response) => empty(response, 405)],
    ['ends at once', (response) => stream(response).end()],
    ['names another origin', (response) => stream(response).raw('event: endpoint\ndata: http://127.0.0.1:9/x\n\n')],
    ['names an invalid URL', (response) => stream(response).raw('event: endpoint\ndata: http://[\n\n')],
  ] as [string, (response: ServerResponse) => unknown][])(
    'is not used if the stream %s: the first error remains',
    async (_, open) => {
      const { url, seen } = await serveOldest({ open })
      const reached = await reach(url)
      expect(await catchError(() => shakeHands(reached))).toMatchObject({ reason: 'refused', status: 405 })
      expect(seen.filter(({ method }) => method === 'POST').length).toBe(1)
    },
  )

  it('fails with the error of the connection if it breaks before the stream is open', async () => {
    const { url } = await serveOldest({ open: (response) => response.destroy() })
    const reached = await reach(url)
    const error = await catchError(() => shakeHands(reached))
    expect(error).toMatchObject({ name: 'ConnectionError', retryable: true, status: undefined })
  })

  it.each(['', ': hi\n\n', 'event: endp'])(
    'fails with an error that permits a retry if the stream breaks after %j',
    async (sent) => {
      const open = (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sent)
        response.flushHeaders()
        setTimeout(() => response.destroy(), 50)
      }
      const { url } = await serveOldest({ open })
      const error = await catchError(async () => shakeHands(await reach(url)))
      expect(error).toMatchObject({ name: 'ConnectionError', retryable: true, status: undefined })
    },
  )

  it('reports an endpoint on another origin', async () => {
    const { url } = await serveOldest({ endpoint: 'https://evil.example/post' })
    const reached = await reach(url)
    await catchError(() => shakeHands(reached))
    expect(reached.problems).toMatchObject([
      { message: 'The server sent an endpoint of another origin, https://evil.example' },
    ])
  })

  it('closes its stream if the handshake is cancelled before the endpoint is known', async () => {
    const { url, seen } = await serveOldest({ open: (response) => void stream(response) })
    const { connection } = await reach(url)
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const { signal, abort } = cancellable()
    const given = catchError(() => connection.request('initialize', params, { signal, announceCancel: false }))
    await until(() => seen.length === 2)
    abort()
    expect(await given).toMatchObject({ reason: 'cancelled' })
    await until(() => seen[1]?.gone.aborted === true)
  })

  it('answers requests of the server with a POST', async () => {
    const { url, seen, opened } = await serveOldest()
    await shakeHands(await reach(url, {}, { respond: (message) => resultMessage((message as RequestMessage).id, {}) }))
    opened[0]?.event({ jsonrpc: '2.0', id: 'q', method: 'ping' })
    await until(() => seen.some(({ message, path }) => message.id === 'q' && path === '/post?s=1'))
  })

  it('sends its answer to a request of the server again if a gateway fails', async () => {
    let attempts = 0
    const { url, opened } = await serveOldest({
      answer: (_, response) => empty(response, 202),
      respond(response) {
        attempts += 1
        return empty(response, attempts === 1 ? 502 : 202)
      },
    })
    const reached = await reach(
      url,
      { reconnect: { minDelay: 1 } },
      { respond: async (message) => resultMessage((message as RequestMessage).id, {}) },
    )
    await shakeHands(reached)
    opened[0]?.event({ jsonrpc: '2.0', id: 'q', method: 'ping' })
    await until(() => attempts === 2)
    expect(reached.problems).toEqual([])
  })

  it('rejects a request if its POST is rejected or its response is invalid', async () => {
    const { url } = await serveOldest({
      answer(seen, response, events) {
        if (seen.message.method === 'refused') return empty(response, 500)
        empty(response, 202)
        return events.event({ jsonrpc: '2.0', id: seen.message.id, result: 3 })
      },
    })
    const { connection } = await shakeHands(await reach(url))
    expect(await catchError(() => connection.request('refused'))).toMatchObject({ reason: 'refused', status: 500 })
    expect(await catchError(() => connection.request('unreadable'))).toMatchObject({ reason: 'invalid-message' })
  })

  it('closes with its stream', async () => {
    const { url } = await serveOldest({
      answer(_, response, events) {
        empty(response, 202)
        events.cut()
      },
    })
    const { connection } = await shakeHands(await reach(url))
    const gone = { reason: 'closed', retryable: true, message: "The server's stream has ended" }
    const safe = connection.request('tools/list')
    expect(await catchError(() => connection.request('a'))).toMatchObject({ ...gone, retryable: false })
    expect(await catchError(() => safe)).toMatchObject(gone)
    expect(await connection.closed).toMatchObject(gone)
  })
})
