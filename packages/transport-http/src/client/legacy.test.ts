import type { ServerResponse } from 'node:http'
import { errorMessage, methodNotFound, type RequestMessage, resultMessage } from '@mcpx/protocol'
import { catchError, delay } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import {
  empty,
  failure,
  json,
  note,
  reach,
  result,
  type Seen,
  serve,
  serveLegacy,
  shakeHands,
  stream,
  until,
  welcome,
} from './peer.fixture.ts'

const calls = (seen: Seen[]) => seen.map(({ method, message }) => message.method ?? method)

describe('a session', () => {
  it('is named in all later requests, and deleted on close [C-062]', async () => {
    const { url, seen } = await serveLegacy((one, response) => {
      const events = stream(response)
      events.event({ jsonrpc: '2.0', id: 'q', method: 'ping' })
      events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
      events.end()
    })
    const responder = { respond: (message: object) => resultMessage((message as RequestMessage).id, {}) }
    const { connection } = await shakeHands(await reach(url, {}, responder))
    await connection.request('tools/list')
    await until(() => seen.some(({ message }) => message.result !== undefined))
    await connection.close()
    const [first, ...rest] = seen
    expect(first?.headers).not.toHaveProperty('mcp-session-id')
    expect(first?.headers).not.toHaveProperty('mcp-protocol-version')
    expect(calls(rest).sort()).toEqual(['DELETE', 'GET', 'POST', 'notifications/initialized', 'tools/list'])
    for (const { headers } of rest) {
      expect(headers).toMatchObject({ 'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-11-25' })
      expect(headers).not.toHaveProperty('mcp-method')
    }
  })

  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', undefined],
    ['2024-11-05', undefined],
    ['strange\n', undefined],
  ])('of revision %j is sent with the revision header %j [C-063]', async (revision, header) => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), { revision })
    await shakeHands(await reach(url))
    expect(seen[1]?.message.method).toBe('notifications/initialized')
    expect(seen[1]?.headers['mcp-protocol-version']).toBe(header)
  })

  it('is neither named nor deleted if the server has none', async () => {
    const { url, seen } = await serve((one, response) => {
      if (one.message.method === 'initialize') return welcome(response, one)
      return one.message.id === undefined
        ? empty(response, one.method === 'GET' ? 405 : 202)
        : result(response, one, {})
    })
    const { connection } = await shakeHands(await reach(url))
    await connection.request('ping')
    await connection.close()
    expect(calls(seen).sort()).toEqual(['GET', 'initialize', 'notifications/initialized', 'ping'])
    for (const { headers } of seen) expect(headers).not.toHaveProperty('mcp-session-id')
  })

  it('with an invalid id is rejected', async () => {
    const { url } = await serve((one, response) => welcome(response, one, 'a b'))
    expect(await catchError(async () => shakeHands(await reach(url)))).toMatchObject({ reason: 'invalid-message' })
  })

  it('is replaced by another handshake [C-062]', async () => {
    let count = 0
    const { url, seen } = await serve((one, response) => {
      if (one.message.method === 'initialize') return welcome(response, one, `s-${++count}`)
      return empty(response, one.method === 'GET' ? 405 : 202)
    })
    const reached = await shakeHands(await reach(url))
    await shakeHands(reached)
    const [, , second] = seen.filter(({ method }) => method === 'POST')
    expect(second?.message.method).toBe('initialize')
    expect(second?.headers).not.toHaveProperty('mcp-session-id')
    expect(seen.at(-1)?.headers['mcp-session-id']).toBe('s-2')
  })

  it.each([
    ['an empty 404', (_: Seen, response) => empty(response, 404)],
    ['an error of its own', (one: Seen, response) => failure(response, one, 404, { code: -32001 })],
  ] as [string, Parameters<typeof serveLegacy>[0]][])(
    'that the server has deleted, reported by %s, closes the connection',
    async (_, answer) => {
      const { url, seen } = await serveLegacy((one, response) => {
        return one.message.method === 'wait' ? undefined : answer(one, response)
      })
      const { connection } = await shakeHands(await reach(url))
      const waiting = catchError(() => connection.request('wait'))
      const gone = {
        name: 'ConnectionError',
        reason: 'closed',
        retryable: true,
        status: 404,
        hint: expect.stringContaining('Connect again'),
      }
      expect(await catchError(() => connection.request('tools/list'))).toMatchObject(gone)
      expect(await waiting).toMatchObject({ reason: 'closed', retryable: false, status: 404 })
      expect(await connection.closed).toMatchObject(gone)
      expect(await catchError(() => connection.request('tools/list'))).toMatchObject(gone)
      expect(calls(seen)).not.toContain('DELETE')
    },
  )

  it.each([
    'Bad Request: No valid session ID provided',
    'Bad Request: Server not initialized',
    'Bad Request: Mcp-Session-Id header is required',
  ])(
    'that the server no longer knows, reported by 400 and "%s", closes the connection with a warning',
    async (message) => {
      for (const id of [null, undefined, 'same'] as const) {
        const { url, seen } = await serveLegacy((one, response) => {
          const error = { code: -32000, message }
          json(response, { jsonrpc: '2.0', error, id: id === 'same' ? one.message.id : id }, 400)
        })
        const { connection, problems } = await shakeHands(await reach(url))
        const gone = { name: 'ConnectionError', reason: 'closed', retryable: true, status: 400 }
        expect(await catchError(() => connection.request('tools/list'))).toMatchObject(gone)
        expect(await connection.closed).toMatchObject(gone)
        const warning = expect.stringMatching(
          /^The server no longer knows the session.* expected HTTP status 404, got 400$/,
        )
        const hint = expect.stringContaining('report this to the author')
        expect(problems).toMatchObject([{ reason: 'closed', status: 400, message: warning, hint }])
        expect(calls(seen)).not.toContain('DELETE')
      }
    },
  )

  it('continues after other errors with status 400', async () => {
    const { url } = await serveLegacy((one, response) => failure(response, one, 400, { code: -32602 }))
    const { connection, problems } = await shakeHands(await reach(url))
    expect(await catchError(() => connection.request('x'))).toMatchObject({ name: 'RpcError', code: -32602 })
    expect(await catchError(() => connection.request('x'))).toMatchObject({ name: 'RpcError', code: -32602 })
    expect(problems).toEqual([])
  })

  it('is not lost with the words of a lost session if the server has none', async () => {
    const lost = { jsonrpc: '2.0', error: { code: -32000, message: 'Bad Request: Server not initialized' }, id: null }
    const { url } = await serveLegacy((_, response) => json(response, lost, 400), { sessionId: undefined })
    const { connection, problems } = await shakeHands(await reach(url))
    expect(await catchError(() => connection.request('x'))).toMatchObject({ reason: 'refused', status: 400 })
    expect(problems).toEqual([])
  })

  it('that was deleted is detected by a notification too', async () => {
    const { url } = await serveLegacy(() => {}, { told: (_, response) => empty(response, 404) })
    expect(await catchError(async () => shakeHands(await reach(url)))).toMatchObject({ reason: 'closed', status: 404 })
    const told = (_: Seen, response: ServerResponse) => void response.writeHead(400).end('No valid session ID provided')
    const other = await serveLegacy(() => {}, { told })
    const error = await catchError(async () => shakeHands(await reach(other.url)))
    expect(error).toMatchObject({ reason: 'closed', status: 400 })
  })

  it('continues after an unknown method', async () => {
    const { url } = await serveLegacy((one, response) => failure(response, one, 404, { code: -32601 }))
    const { connection } = await shakeHands(await reach(url))
    expect(await catchError(() => connection.request('x'))).toMatchObject({ name: 'RpcError', code: -32601 })
    expect(await catchError(() => connection.request('x'))).toMatchObject({ name: 'RpcError', code: -32601 })
  })

  it('that cannot be deleted does not block closing', async () => {
    const { url } = await serveLegacy(() => {}, { delete: (_, response) => response.destroy() })
    const { connection, problems } = await shakeHands(await reach(url))
    await connection.close()
    expect(problems).toMatchObject([{ reason: 'unreachable' }])
  })
})

describe('a request', () => {
  it('is cancelled by a notification', async () => {
    const { url, seen } = await serveLegacy(() => {})
    const { connection } = await shakeHands(await reach(url))
    expect(await catchError(() => connection.request('tools/call', {}, { timeout: 200 }))).toMatchObject({
      reason: 'timeout',
    })
    await until(() => calls(seen).includes('notifications/cancelled'))
    const call = seen.find(({ message }) => message.method === 'tools/call')
    expect(seen.at(-1)?.message.params).toEqual({ requestId: call?.message.id, reason: 'The request timed out' })
    await until(() => call?.gone.aborted === true)
  })

  it('receives its own progress and logs only', async () => {
    const { url } = await serveLegacy((one, response) => {
      const events = stream(response)
      events.event(note('notifications/progress', { progressToken: one.message.id, progress: 1 }))
      events.event(note('notifications/message', { level: 'info', data: 1 }))
      events.event(note('notifications/tools/list_changed'))
      events.event(note('notifications/progress', { progressToken: 'other', progress: 1 }))
      events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
      events.end()
    })
    const { connection, heard, problems } = await shakeHands(await reach(url))
    const own: string[] = []
    await connection.request('tools/call', {}, { onNotification: ({ method }) => void own.push(method) })
    expect(own).toEqual(['notifications/progress', 'notifications/message'])
    expect(heard).toEqual([note('notifications/tools/list_changed')])
    expect(problems).toMatchObject([{ reason: 'unmatched' }])
  })

  it('may be answered by a batch [C-066]', async () => {
    const { url } = await serveLegacy((one, response) =>
      json(response, [note('notifications/x'), { jsonrpc: '2.0', id: one.message.id, result: { a: 1 } }]),
    )
    const { connection, heard } = await shakeHands(await reach(url))
    expect(await connection.request('a')).toEqual({ a: 1 })
    expect(heard).toEqual([note('notifications/x')])
  })

  it('of the server is answered by a POST, and a failure by a masked error', async () => {
    const { url, seen } = await serveLegacy((one, response) => {
      const events = stream(response)
      for (const method of ['roots/list', 'unknown', 'broken']) events.event({ jsonrpc: '2.0', id: method, method })
      events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
      events.end()
    })
    const { connection, problems } = await shakeHands(
      await reach(
        url,
        {},
        {
          respond(message) {
            const { id, method } = message as RequestMessage
            if (method === 'broken') throw new Error('secret')
            return method === 'unknown' ? errorMessage(id, methodNotFound(method)) : resultMessage(id, { roots: [] })
          },
        },
      ),
    )
    await connection.request('tools/call')
    const answers = () => seen.map(({ message }) => message).filter(({ method, id }) => method === undefined && id)
    await until(() => answers().length === 3)
    expect(answers().sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { jsonrpc: '2.0', id: 'broken', error: { code: -32603, message: 'Internal error' } },
      { jsonrpc: '2.0', id: 'roots/list', result: { roots: [] } },
      { jsonrpc: '2.0', id: 'unknown', error: { code: -32601, message: 'Method not found: "unknown"' } },
    ])
    expect(problems).toMatchObject([{ message: 'secret' }])
  })

  it.each([503, 502])('of the server is answered again if its answer was refused with %s', async (status) => {
    let finish = () => {}
    let attempts = 0
    const options = {
      told({ message }: Seen, response: ServerResponse) {
        if (message.method === undefined) attempts += 1
        if (message.method === undefined && attempts <= 2) return empty(response, status)
        empty(response, 202)
        if (message.method === undefined) finish()
      },
    }
    const { url, seen } = await serveLegacy((one, response) => {
      const events = stream(response)
      events.event({ jsonrpc: '2.0', id: 'q', method: 'ping' })
      finish = () => {
        events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
        events.end()
      }
    }, options)
    const responder = { respond: (message: object) => resultMessage((message as RequestMessage).id, { x: 1 }) }
    const { connection } = await shakeHands(await reach(url, { reconnect: { minDelay: 1 } }, responder))
    expect(await connection.request('tools/call', { name: 'x' })).toEqual({})
    const sent = seen.filter(({ message }) => message.result !== undefined).map(({ message }) => message)
    expect(sent).toEqual(Array.from({ length: 3 }, () => resultMessage('q', { x: 1 })))
  })

  it('of the server is aborted if the server cancels it', async () => {
    let reason: unknown
    const { url, seen } = await serveLegacy((one, response) => {
      const events = stream(response)
      events.event({ jsonrpc: '2.0', id: 5, method: 'elicitation/create' })
      events.event(note('notifications/cancelled', { requestId: 5, reason: 'never mind' }))
      setTimeout(() => {
        events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
        events.end()
      }, 30)
    })
    const { connection } = await shakeHands(
      await reach(
        url,
        {},
        {
          async respond(message, { signal }) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            reason = signal.reason
            return resultMessage((message as RequestMessage).id, {})
          },
        },
      ),
    )
    await connection.request('tools/call')
    await delay(20)
    expect(reason).toMatchObject({ message: 'The server cancelled its request: never mind' })
    expect(seen.filter(({ message }) => message.result !== undefined)).toEqual([])
  })

  it('of the server is aborted with its own request, and not answered', async () => {
    let reason: unknown
    const { url, seen } = await serveLegacy((one, response) => {
      if (one.message.method === 'tools/call') stream(response).event({ jsonrpc: '2.0', id: 5, method: 'roots/list' })
      else empty(response, 202)
    })
    const { connection, heard } = await shakeHands(
      await reach(
        url,
        {},
        {
          async respond(message, { signal }) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            reason = signal.reason
            return resultMessage((message as RequestMessage).id, {})
          },
        },
      ),
    )
    const stop = new AbortController()
    const waiting = catchError(() => connection.request('tools/call', {}, { signal: stop.signal }))
    await until(() => heard.length === 1)
    stop.abort()
    await waiting
    await until(() => reason !== undefined)
    expect(reason).toMatchObject({ reason: 'cancelled', message: expect.stringContaining('was cancelled') })
    await until(() => seen.some(({ message }) => message.method === 'notifications/cancelled'))
    await delay(20)
    expect(seen.filter(({ message }) => message.result !== undefined)).toEqual([])
  })

  it('of the server is aborted when the connection is closed', async () => {
    let reason: unknown
    const { url } = await serveLegacy((_, response) =>
      stream(response).event({ jsonrpc: '2.0', id: 5, method: 'ping' }),
    )
    const { connection, heard } = await shakeHands(
      await reach(
        url,
        {},
        {
          async respond(_, { signal }) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            reason = signal.reason
            return undefined
          },
        },
      ),
    )
    const waiting = catchError(() => connection.request('tools/call'))
    await until(() => heard.length === 1)
    await connection.close()
    await waiting
    await until(() => reason !== undefined)
    expect(reason).toMatchObject({ reason: 'closed' })
  })

  it('of the server is reported if its answer is rejected', async () => {
    const { url } = await serveLegacy(
      (one, response) => {
        const events = stream(response)
        events.event({ jsonrpc: '2.0', id: 5, method: 'ping' })
        events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
        events.end()
      },
      { told: (one, response) => empty(response, one.message.method === undefined ? 500 : 202) },
    )
    const responder = { respond: (message: object) => resultMessage((message as RequestMessage).id, {}) }
    const { connection, problems } = await shakeHands(await reach(url, {}, responder))
    await connection.request('tools/call')
    await until(() => problems.length === 1)
    expect(problems).toMatchObject([{ reason: 'refused', status: 500 }])
  })
})
