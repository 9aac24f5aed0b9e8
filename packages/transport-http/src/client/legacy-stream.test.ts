import { catchError, delay } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { empty, note, reach, result, type Seen, serveLegacy, shakeHands, stream, until } from './peer.fixture.ts'

const fast = { reconnect: { minDelay: 10, maxDelay: 40, attempts: 3 } }
const gets = (seen: Seen[]) => seen.filter(({ method }) => method === 'GET')
const lastIds = (seen: Seen[]) => gets(seen).map(({ headers }) => headers['last-event-id'])

describe('the GET stream', () => {
  it('is opened after the handshake, and delivers its notifications [C-064]', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => stream(response).event(note('notifications/tools/list_changed')),
    })
    const { heard } = await shakeHands(await reach(url))
    await until(() => heard.length === 1)
    expect(gets(seen)).toMatchObject([{ headers: { accept: 'text/event-stream', 'mcp-session-id': 's-1' } }])
  })

  it.each([405, 404, 200, 204])('is optional if the server answers %i [C-064]', async (status) => {
    const sessionId = status === 404 ? '' : 's-1'
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      sessionId: sessionId || undefined,
      get: (_, response) => empty(response, status),
    })
    const { connection, problems } = await shakeHands(await reach(url, fast))
    await until(() => gets(seen).length === 1)
    await delay(60)
    expect(gets(seen).length).toBe(1)
    expect(problems).toEqual([])
    expect(await connection.request('a')).toEqual({})
  })

  it('is opened before the first subscription, so that no change is missed', async () => {
    let opened: number | undefined
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      async get(_, response) {
        await delay(40)
        opened = seen.length
        stream(response)
      },
    })
    const { connection } = await shakeHands(await reach(url))
    await connection.request('resources/subscribe', { uri: 'note://a' })
    const subscribed = seen.findIndex(({ message }) => message.method === 'resources/subscribe')
    expect(subscribed).toBeGreaterThanOrEqual(opened ?? Number.POSITIVE_INFINITY)
  })

  it('does not delay subscriptions after it was rejected', async () => {
    const { url } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => empty(response, 405),
    })
    const { connection } = await shakeHands(await reach(url))
    const begun = performance.now()
    expect(await connection.request('resources/subscribe', { uri: 'note://a' })).toEqual({})
    expect(performance.now() - begun).toBeLessThan(500)
  })

  it('that is forbidden is reported, and the connection continues', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => empty(response, 403),
    })
    const { connection, problems } = await shakeHands(await reach(url, fast))
    await until(() => problems.length === 1)
    expect(problems).toMatchObject([{ reason: 'refused', status: 403 }])
    expect(await connection.request('a')).toEqual({})
    expect(gets(seen).length).toBe(1)
  })

  it('is resumed after a cut without a warning', async () => {
    let count = 0
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      async get(_, response) {
        const events = stream(response)
        events.event(note('notifications/x', { n: ++count }), `e-${count}`)
        await delay(5)
        if (count === 1) events.cut()
        else if (count === 2) events.end()
      },
    })
    const { heard, problems } = await shakeHands(await reach(url, fast))
    await until(() => heard.length === 3)
    expect(lastIds(seen)).toEqual([undefined, 'e-1', 'e-2'])
    expect(problems).toEqual([])
  })

  it.each([
    [400, 's-1'],
    [404, undefined],
    [410, 's-1'],
  ])('is reopened without its last event if the server answers %i, with a warning', async (status, sessionId) => {
    const misses: number[] = []
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      sessionId,
      async get({ headers }, response) {
        if (headers['last-event-id'] !== undefined) return empty(response, status)
        const events = stream(response)
        if (gets(seen).length === 1) {
          events.raw('id: forgotten\nretry: 10\ndata:\n\n')
          await delay(5)
          return events.cut()
        }
        return events.event(note('notifications/tools/list_changed'))
      },
    })
    const onMissed = () => void misses.push(gets(seen).length)
    const { heard, problems } = await shakeHands(await reach(url, fast), '2025-11-25', onMissed)
    await until(() => heard.length === 1)
    expect(lastIds(seen)).toEqual([undefined, 'forgotten', undefined])
    expect(problems).toMatchObject([{ reason: 'refused', status, message: expect.stringContaining('may be lost') }])
    expect(misses).toEqual([3])
  })

  it('is not reopened if the server rejects it with and without its last event', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      async get(_, response) {
        if (gets(seen).length > 1) return empty(response, 400)
        const events = stream(response)
        events.raw('id: forgotten\nretry: 10\ndata:\n\n')
        await delay(5)
        return events.cut()
      },
    })
    const { connection, problems } = await shakeHands(await reach(url, fast))
    await until(() => problems.length === 2)
    await delay(60)
    expect(lastIds(seen)).toEqual([undefined, 'forgotten', undefined])
    expect(problems).toMatchObject([{ status: 400 }, { status: 400 }])
    expect(await connection.request('a')).toEqual({})
  })

  it('reports missed changes when it is open again', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => (gets(seen).length === 2 ? empty(response, 503) : stream(response).end()),
    })
    const openedAtMiss: number[] = []
    await shakeHands(await reach(url, fast), '2025-11-25', () => openedAtMiss.push(gets(seen).length))
    await until(() => openedAtMiss.length === 2)
    expect(openedAtMiss).toEqual([3, 4])
  })

  it('is reopened if it is silent for too long', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => stream(response).raw(': hello\n\n'),
    })
    await shakeHands(await reach(url, { ...fast, keepAlive: 30 }))
    await until(() => gets(seen).length === 3)
    expect(gets(seen)[0]?.gone.aborted).toBe(true)
  })

  it('that cannot be reopened for a long time closes the connection', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => empty(response, 503),
    })
    const { connection } = await shakeHands(await reach(url, fast))
    expect(await connection.closed).toMatchObject({ reason: 'refused', status: 503, retryable: true })
    expect(gets(seen).length).toBe(3)
  })

  it('detects a deleted session', async () => {
    let count = 0
    const { url } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => (count++ === 0 ? stream(response).end() : empty(response, 404)),
    })
    const { connection } = await shakeHands(await reach(url, fast))
    expect(await connection.closed).toMatchObject({ reason: 'closed', status: 404, retryable: true })
  })

  it('detects a session that the server no longer knows, by 400 and the words of the official examples', async () => {
    let count = 0
    const { url } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => {
        if (count++ === 0) stream(response).end()
        else response.writeHead(400).end('Invalid or missing session ID')
      },
    })
    const { connection, problems } = await shakeHands(await reach(url, fast))
    expect(await connection.closed).toMatchObject({ reason: 'closed', status: 400, retryable: true })
    expect(problems).toMatchObject([{ reason: 'closed', status: 400 }])
  })

  it('with an event that is too large closes the connection, because the event would be replayed', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => stream(response).raw(`id: 1\ndata:\n\ndata: ${'x'.repeat(2_000)}\n\n`),
    })
    const { connection } = await shakeHands(await reach(url, { ...fast, maxEventSize: 1_000 }))
    expect(await connection.closed).toMatchObject({ reason: 'limit' })
    expect(gets(seen).length).toBe(1)
  })

  it('reports invalid messages and continues', async () => {
    const { url } = await serveLegacy((one, response) => result(response, one, {}), {
      get(_, response) {
        stream(response).raw(`data: junk\n\ndata: [${JSON.stringify(note('notifications/x'))},3]\n\n`)
      },
    })
    const { heard, problems } = await shakeHands(await reach(url, fast))
    await until(() => heard.length === 1 && problems.length === 2)
  })

  it('closes with the connection', async () => {
    const { url, seen } = await serveLegacy((one, response) => result(response, one, {}), {
      get: (_, response) => void stream(response),
    })
    const { connection } = await shakeHands(await reach(url, fast))
    await until(() => gets(seen).length === 1)
    await connection.close()
    await until(() => gets(seen)[0]?.gone.aborted === true)
    await delay(50)
    expect(gets(seen).length).toBe(1)
  })
})

describe('a request whose stream was cut', () => {
  /** Cuts the stream of each request after one event; `get` carries it on. */
  const cutting = async (
    get: Parameters<typeof serveLegacy>[0],
    first = 'id: p-1\nretry: 10\ndata:\n\n',
    options = fast,
  ) => {
    const peer = await serveLegacy(
      async (_, response) => {
        const events = stream(response)
        events.raw(first)
        await delay(5)
        events.end()
      },
      {
        get: (seen, response) =>
          seen.headers['last-event-id'] === undefined ? empty(response, 405) : get(seen, response),
      },
    )
    const reached = await shakeHands(await reach(peer.url, options))
    const resumed = () => gets(peer.seen).filter(({ headers }) => headers['last-event-id'] !== undefined)
    const call = () => peer.seen.find(({ message }) => message.method === 'tools/call')?.message
    return { ...peer, ...reached, resumed, call }
  }

  it('is answered on the resumed stream [C-064]', async () => {
    const { connection, resumed, call } = await cutting((_, response) => {
      const events = stream(response)
      events.event(note('notifications/progress', { progressToken: call().id, progress: 1 }), 'p-2')
      events.event({ jsonrpc: '2.0', id: call().id, result: { a: 1 } }, 'p-3')
      events.end()
    })
    let progress = 0
    expect(await connection.request('tools/call', {}, { onNotification: () => void progress++ })).toEqual({ a: 1 })
    expect(progress).toBe(1)
    expect(resumed()).toMatchObject([
      { headers: { 'last-event-id': 'p-1', 'mcp-session-id': 's-1', accept: 'text/event-stream' } },
    ])
  })

  it('is resumed repeatedly, each time after the last event', async () => {
    let count = 1
    const { connection, resumed, call } = await cutting((_, response) => {
      const events = stream(response)
      count += 1
      if (count < 7) events.raw(`id: p-${count}\ndata:\n\n`)
      else events.event({ jsonrpc: '2.0', id: call().id, result: {} })
      events.end()
    })
    await connection.request('tools/call')
    expect(resumed().map(({ headers }) => headers['last-event-id'])).toEqual(['p-1', 'p-2', 'p-3', 'p-4', 'p-5', 'p-6'])
  })

  it('waits for the retry time of the server instead of its own', async () => {
    const { connection, call } = await cutting(
      (_, response) => {
        const events = stream(response)
        events.event({ jsonrpc: '2.0', id: call().id, result: {} })
        events.end()
      },
      undefined,
      { reconnect: { minDelay: 60_000, maxDelay: 60_000, attempts: 3 } },
    )
    expect(await connection.request('tools/call', {}, { timeout: 2_000 })).toEqual({})
  })

  it('waits for the retry time of the server, up to the maximum of the client [C-064]', async () => {
    for (const [retry, maxDelay, least] of [
      [120, 1_000, 115],
      [100_000, 80, 75],
    ] as const) {
      let resumedAt = 0
      const { connection, call } = await cutting(
        (_, response) => {
          resumedAt = performance.now()
          const events = stream(response)
          events.event({ jsonrpc: '2.0', id: call().id, result: {} })
          events.end()
        },
        `id: p-1\nretry: ${retry}\ndata:\n\n`,
        { reconnect: { minDelay: 10, maxDelay, attempts: 3 } },
      )
      const begun = performance.now()
      await connection.request('tools/call')
      expect(resumedAt - begun).toBeGreaterThanOrEqual(least)
      expect(resumedAt - begun).toBeLessThan(least + 900)
    }
  })

  it('is resumed at most ten times a second, even if the server asks for more', async () => {
    let count = 1
    const { connection, call } = await cutting(
      (_, response) => {
        const events = stream(response)
        count += 1
        if (count < 6) events.raw(`id: p-${count}\ndata:\n\n`)
        else events.event({ jsonrpc: '2.0', id: call().id, result: {} })
        events.end()
      },
      'id: p-1\nretry: 0\ndata:\n\n',
      { reconnect: { minDelay: 1, maxDelay: 60_000, attempts: 3 } },
    )
    const begun = performance.now()
    expect(await connection.request('tools/call')).toEqual({})
    expect(performance.now() - begun).toBeGreaterThan(490)
  })

  it('does not increase its delay while events arrive', async () => {
    let count = 1
    const { connection, call } = await cutting(
      (_, response) => {
        const events = stream(response)
        count += 1
        if (count < 14) events.raw(`id: p-${count}\ndata:\n\n`)
        else events.event({ jsonrpc: '2.0', id: call().id, result: {} })
        events.end()
      },
      'id: p-1\ndata:\n\n',
      { reconnect: { minDelay: 5, maxDelay: 60_000, attempts: 3 } },
    )
    expect(await connection.request('tools/call', {}, { timeout: 3_000 })).toEqual({})
  })

  it('is not lost by outages that are not consecutive', async () => {
    let count = 0
    const { connection, call } = await cutting((_, response) => {
      count += 1
      if (count % 3 === 1) return empty(response, 502)
      if (count % 3 === 2) return response.destroy()
      const events = stream(response)
      if (count === 9) events.event({ jsonrpc: '2.0', id: call().id, result: {} })
      return events.end()
    })
    expect(await connection.request('tools/call')).toEqual({})
    expect(count).toBe(9)
  })

  it('is retried during outages, and lost after too many', async () => {
    let outages = 0
    const { connection, call } = await cutting((_, response) => {
      if (outages++ < 2) return empty(response, 503)
      const events = stream(response)
      events.event({ jsonrpc: '2.0', id: call().id, result: {} })
      return events.end()
    })
    expect(await connection.request('tools/call')).toEqual({})
    outages = -100
    expect(await catchError(() => connection.request('tools/call'))).toMatchObject({
      reason: 'unreachable',
      retryable: false,
      cause: { reason: 'refused', status: 503 },
    })
    expect(outages).toBe(-97)
  })

  it.each([400, 405, 403])('is lost if the server answers %i', async (status) => {
    const { connection, resumed } = await cutting((_, response) => empty(response, status))
    expect(await catchError(() => connection.request('resources/read'))).toMatchObject({
      reason: 'unreachable',
      retryable: true,
      cause: { status },
    })
    expect(resumed().length).toBe(1)
  })

  it('is lost with the session', async () => {
    const { connection } = await cutting((_, response) => empty(response, 404))
    expect(await catchError(() => connection.request('tools/call'))).toMatchObject({ reason: 'closed', status: 404 })
    expect(await connection.closed).toMatchObject({ reason: 'closed' })
  })

  it('is lost without an event id', async () => {
    for (const first of [': nothing\n\n', 'id: a\ndata:\n\nid:\ndata:\n\n']) {
      const { connection, resumed } = await cutting((_, response) => empty(response, 500), first)
      expect(await catchError(() => connection.request('tools/call'))).toMatchObject({
        reason: 'unreachable',
        retryable: false,
      })
      expect(resumed()).toEqual([])
    }
  })

  it('is not resumed if that is disabled', async () => {
    const options = { reconnect: { minDelay: 10, maxDelay: 40, attempts: 0 } }
    const { connection, resumed } = await cutting((_, response) => empty(response, 500), undefined, options)
    expect(await catchError(() => connection.request('tools/call'))).toMatchObject({ reason: 'unreachable' })
    expect(resumed()).toEqual([])
  })

  it('is not resumed after it was cancelled', async () => {
    const { connection, resumed, seen } = await cutting((_, response) => void stream(response))
    expect(await catchError(() => connection.request('tools/call', {}, { timeout: 300 }))).toMatchObject({
      reason: 'timeout',
    })
    await until(() => resumed()[0]?.gone.aborted === true)
    await until(() => seen.some(({ message }) => message.method === 'notifications/cancelled'))
    expect(resumed().length).toBe(1)
  })
})
