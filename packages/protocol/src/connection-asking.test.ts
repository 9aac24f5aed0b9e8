import { describe, expect, it } from 'vitest'
import { bare, note, turn } from './connection.fixture.ts'
import { createDuplex } from './connection.ts'
import type { ConnectionError } from './errors.ts'
import type { Responder } from './exchange.ts'
import { createChannelPair } from './memory.ts'
import { resultMessage } from './messages.ts'

describe('asking', () => {
  it('reports an unmatched response once', async () => {
    const { duplex, far, problems } = bare()
    const call = duplex.request('m')
    await far.send(resultMessage(1, { first: true }))
    await far.send(resultMessage(1, { second: true }))
    await far.send(resultMessage(99, {}))
    await far.send(resultMessage('1', {}))
    await far.send({ jsonrpc: '2.0', error: { code: -32700, message: 'what?' } })
    expect(await call).toEqual({ first: true })
    await turn()
    expect(problems.map((problem) => (problem as ConnectionError).reason)).toEqual([
      'unmatched',
      'unmatched',
      'unmatched',
      'unmatched',
    ])
  })

  it('accepts the id of a response as a string, with one warning', async () => {
    const { duplex, far, problems } = bare()
    const results = [duplex.request('m'), duplex.request('m')]
    await far.send(resultMessage('2', { second: true }))
    await far.send(resultMessage('1', { first: true }))
    expect(await Promise.all(results)).toEqual([{ first: true }, { second: true }])
    expect(problems).toMatchObject([
      {
        reason: 'invalid-message',
        message: 'The peer sends ids of requests back as strings: expected the number 2, got a string',
        hint: expect.stringContaining('report this'),
      },
    ])
  })

  it('sends one cancellation to the peer, and none for a request that must not be cancelled', async () => {
    const { duplex, far, received, problems } = bare()
    const controller = new AbortController()
    const cancelled = duplex.request('m', {}, { signal: controller.signal }).catch((error) => error)
    const timedOut = duplex.request('m', {}, { timeout: 20 }).catch((error) => error)
    const quiet = duplex.request('initialize', {}, { timeout: 20, announceCancel: false }).catch((error) => error)
    controller.abort('enough')
    expect(await cancelled).toMatchObject({ reason: 'cancelled', cause: 'enough' })
    expect(await timedOut).toMatchObject({ reason: 'timeout', message: 'No response to m within 20 ms' })
    expect(await quiet).toMatchObject({ reason: 'timeout' })
    await turn()
    expect(received.slice(3)).toEqual([
      note('notifications/cancelled', { requestId: 1, reason: 'enough' }),
      note('notifications/cancelled', { requestId: 2, reason: 'The request timed out' }),
    ])
    await far.send(resultMessage(1, {}))
    await turn()
    expect(problems).toMatchObject([{ reason: 'unmatched' }])
  })

  it('extends the timeout on progress, up to the maximum', async () => {
    const { duplex, far } = bare()
    const started = performance.now()
    const call = duplex
      .request('m', {}, { timeout: 60, maxTimeout: 200, onNotification: () => {} })
      .catch((error) => error)
    const ticking = setInterval(
      () => void far.send(note('notifications/progress', { progressToken: 1, progress: performance.now() })),
      20,
    )
    const error = await call
    clearInterval(ticking)
    expect(error).toMatchObject({ reason: 'timeout', message: expect.stringContaining('maxTimeout') })
    expect(performance.now() - started).toBeGreaterThan(150)
  })

  it('never times out with Infinity, and rejects an invalid timeout', async () => {
    const { duplex, far } = bare()
    const call = duplex.request('m', {}, { timeout: Number.POSITIVE_INFINITY })
    for (const timeout of [0, -1, Number.NaN])
      await expect(duplex.request('m', {}, { timeout })).rejects.toThrow(RangeError)
    await far.send(resultMessage(1, { ok: true }))
    expect(await call).toEqual({ ok: true })
    expect(duplex.load.pending).toBe(0)
  })

  it('keeps the caller’s metadata beside the progress token, and does not change its argument', async () => {
    const { duplex, received } = bare()
    const params = { a: 1, _meta: { 'x/y': 1 } }
    duplex.request('m', params, { onNotification: () => {} }).catch(() => {})
    await turn()
    expect(received).toMatchObject([{ params: { a: 1, _meta: { 'x/y': 1, progressToken: 1 } } }])
    expect(params).toEqual({ a: 1, _meta: { 'x/y': 1 } })
    await duplex.close()
  })

  it('delivers a notification and the end to the subscription with the same id', async () => {
    const heard: string[] = []
    const { duplex, far } = bare({ responder: { respond: (message) => void heard.push(`other ${message.method}`) } })
    const own = (name: string) => ({
      onNotification: ({ method }: { method: string }) => void heard.push(`${name} ${method}`),
    })
    const calls = [
      duplex.request('subscriptions/listen', {}, own('a')),
      duplex.request('subscriptions/listen', {}, own('b')),
    ]
    const tagged = (id: number) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } })
    await far.send(note('notifications/x', tagged(2)))
    await far.send(note('notifications/x', tagged(1)))
    await far.send(note('notifications/x', tagged(3)))
    await far.send(note('notifications/cancelled', { requestId: 2 }))
    await turn()
    expect(heard).toEqual([
      'b notifications/x',
      'a notifications/x',
      'other notifications/x',
      'b notifications/cancelled',
    ])
    await duplex.close()
    await Promise.allSettled(calls)
  })

  it('does not confuse cancellations of the peer’s requests with its own requests of the same id', async () => {
    const { duplex, far } = bare()
    const heard: string[] = []
    const call = duplex.request('m', {}, { timeout: 40, onNotification: ({ method }) => void heard.push(method) })
    await far.send(note('notifications/cancelled', { requestId: 1 }))
    await far.send(resultMessage(1, {}))
    await call
    expect(heard).toEqual([])
  })

  it('reports a listener that throws', async () => {
    const { duplex, far, problems } = bare()
    const throwing = {
      onNotification: () => {
        throw new Error('listener')
      },
    }
    const call = duplex.request('m', {}, throwing)
    await far.send(note('notifications/progress', { progressToken: 1, progress: 1 }))
    await far.send(resultMessage(1, { ok: true }))
    expect(await call).toEqual({ ok: true })
    expect(problems.map(({ message }) => message)).toEqual(['listener'])
  })

  it('rejects more pending requests than the limit', async () => {
    const { duplex } = bare({ limits: { pending: 2 } })
    const waiting = [duplex.request('m'), duplex.request('m')]
    await expect(duplex.request('m')).rejects.toMatchObject({ reason: 'limit', retryable: true })
    await duplex.close()
    await Promise.allSettled(waiting)
  })
})

describe('both directions at once', () => {
  it('lets a responder send requests during a request', async () => {
    const [near, far] = createChannelPair()
    createDuplex(far, {
      responder: {
        async respond(message, { session }) {
          const answer = await session?.request('roots/list')
          return 'id' in message ? resultMessage(message.id, { answer }) : undefined
        },
      },
    })
    const client = createDuplex(near, {
      responder: { respond: (message) => ('id' in message ? resultMessage(message.id, { roots: [] }) : undefined) },
    })
    expect(await client.request('tools/call')).toEqual({ answer: { roots: [] } })
    await client.close()
  })

  it('sends notifications of the responder to a ready session until it closes', async () => {
    let stopped = false
    const responder: Responder = {
      respond(message, { session }) {
        if (message.method === 'notifications/initialized')
          void session?.update((state) => void Object.assign(state, { initialized: true }))
        return undefined
      },
      watchChanges(_, tell) {
        queueMicrotask(() => void tell({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
        return () => {
          stopped = true
        }
      },
    }
    const { far, received, duplex } = bare({ responder })
    await far.send(note('notifications/x'))
    await turn()
    expect(received).toEqual([])
    await far.send(note('notifications/initialized'))
    await turn()
    expect(received).toEqual(
      [note('notifications/tools/list_changed')].map((message) => ({
        jsonrpc: '2.0',
        method: message && 'method' in message && message.method,
      })),
    )
    await duplex.close()
    await turn()
    expect(stopped).toBe(true)
  })
})
