import type { EventBus } from '@mcpx/protocol'
import { createMemoryEventBus, createMemorySessionStore } from '@mcpx/protocol/memory'
import { describe, expect, it, vi } from 'vitest'
import { mcp } from '../index.ts'
import type { EndpointOptions } from './options.ts'
import { eventsOf, gate, get, HandWritten, openSession, post, request } from './server.fixture.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A server whose one tool asks the client, with the options given by the test. */
function asking(ask: object, options: EndpointOptions = {}) {
  const outcomes: unknown[] = []
  const server = new HandWritten({
    'tools/call': async (_params, { session }) => {
      const outcome = await session?.request('roots/list', {}, ask).catch((error: unknown) => error)
      outcomes.push(outcome)
      return {}
    },
  })
  return { app: mcp(server, options), outcomes }
}

describe('an input request', () => {
  it('is cancelled at the client if the handler cancels it', async () => {
    const controller = new AbortController()
    const { app, outcomes } = asking({ signal: controller.signal })
    const events = eventsOf(await post(app, request('tools/call'), { 'mcp-session-id': await openSession(app) }))
    const asked = await events.message()
    controller.abort()
    const [told] = await events.rest()
    expect(told).toMatchObject({ method: 'notifications/cancelled', params: { requestId: asked?.id } })
    expect(outcomes).toMatchObject([{ reason: 'cancelled' }])
  })

  it('is not sent if it is cancelled before', async () => {
    const { app, outcomes } = asking({ signal: AbortSignal.abort() })
    const response = await post(app, request('tools/call'), { 'mcp-session-id': await openSession(app) })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(outcomes).toMatchObject([{ reason: 'cancelled' }])
  })

  it.each([undefined, {}, { progressToken: null, progress: 1 }, { progressToken: {}, progress: 1 }])(
    'ignores unmatched progress: %j',
    async (params) => {
      const thrown: unknown[] = []
      const inner = createMemoryEventBus()
      const bus: EventBus = {
        publish: (topic, text) => inner.publish(topic, text),
        subscribe: (topic, listener) =>
          inner.subscribe(topic, (text) => {
            try {
              listener(text)
            } catch (error) {
              thrown.push(error)
            }
          }),
      }
      const options: EndpointOptions = { sessions: { store: createMemorySessionStore(), bus } }
      const { app, outcomes } = asking({}, options)
      const other = asking({}, options).app
      const headers = { 'mcp-session-id': await openSession(app) }
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', ...(params && { params }) }
      expect((await post(app, progress, headers)).status).toBe(202)
      const events = eventsOf(await post(app, request('tools/call'), headers))
      const asked = await events.message()
      for (const each of [app, other]) expect((await post(each, progress, headers)).status).toBe(202)
      await post(app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
      await events.rest()
      expect([outcomes, thrown]).toEqual([[{ roots: [] }], []])
    },
  )

  it('reports invalid events of the bus', async () => {
    const listeners: ((text: string) => void)[] = []
    const bus: EventBus = {
      publish() {},
      subscribe(_, listener) {
        listeners.push(listener)
        return () => {}
      },
    }
    const reported: Error[] = []
    const { app, outcomes } = asking({}, { sessions: { bus }, onWarning: (problem) => reported.push(problem) })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call'), headers))
    const asked = await events.message()
    const texts = ['', 'invalid JSON', 'null', '5', '{"notification":null}', '{"answer":null}']
    for (const text of texts) listeners.at(-1)?.(text)
    expect(reported).toHaveLength(texts.length)
    await post(app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
    await events.rest()
    expect(outcomes).toEqual([{ roots: [] }])
  })

  it('has its timeout extended by progress of the client', async () => {
    const heard: unknown[] = []
    const { app, outcomes } = asking({ timeout: 150, onNotification: (progress: unknown) => heard.push(progress) })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call'), headers))
    const asked = await events.message()
    const progressToken = asked?.id
    expect(asked?.params).toEqual({ _meta: { progressToken } })
    for (let progress = 1; progress <= 3; progress++) {
      await pause(70)
      await post(
        app,
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } },
        headers,
      )
    }
    await post(app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
    await events.rest()
    expect(outcomes).toEqual([{ roots: [] }])
    expect(heard).toHaveLength(3)
  })

  it('is rejected, and gives its place back, if the client reads no stream and sends nothing for long', async () => {
    const { app, outcomes } = asking({}, { sessions: { awayTimeout: 600 }, limits: { running: 3 } })
    const [gone, pinging, reading] = [await openSession(app), await openSession(app), await openSession(app)]
    const open = async (session: string) => {
      const events = eventsOf(await post(app, request('tools/call'), { 'mcp-session-id': session }))
      expect(await events.message()).toMatchObject({ method: 'roots/list' })
      return events
    }
    const kept = await open(reading)
    for (const session of [gone, pinging]) await (await open(session)).cancel()
    expect((await post(app, request('tools/call'), { 'mcp-session-id': gone })).status).toBe(503)
    for (let times = 0; times < 10; times++) {
      await pause(100)
      await get(app, { 'mcp-session-id': pinging, 'last-event-id': 'unknown' })
    }
    expect(outcomes).toMatchObject([{ name: 'ConnectionError', reason: 'unreachable' }])
    expect((await post(app, request('ping', {}, 2), { 'mcp-session-id': pinging })).status).toBe(200)
    await kept.cancel()
    await expect.poll(() => outcomes.length, { timeout: 2_000 }).toBe(3)
  })

  it('ignores a late answer', async () => {
    const problems: Error[] = []
    const [gaveUp, held] = [gate<unknown>(), gate()]
    const server = new HandWritten({
      'tools/call': async (_params, { session }) => {
        gaveUp.open(await session?.request('roots/list', {}, { timeout: 5 }).catch((error: unknown) => error))
        await held.promise
        return {}
      },
    })
    const app = mcp(server, { onWarning: (problem) => problems.push(problem) })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await post(app, request('tools/call'), headers))
    const asked = await events.message()
    expect(await gaveUp.promise).toMatchObject({ reason: 'timeout' })
    expect((await post(app, { jsonrpc: '2.0', id: asked?.id, result: {} }, headers)).status).toBe(202)
    expect(problems).toMatchObject([{ reason: 'unmatched' }])
    held.open()
    await events.rest()
  })

  it('is answered across processes repeatedly, with two bus subscriptions per process, which close() ends', async () => {
    const inner = createMemoryEventBus()
    let subscribed = 0
    const bus = {
      ...inner,
      async subscribe(topic: string, listener: (message: string) => void) {
        subscribed += 1
        const stop = await inner.subscribe(topic, listener)
        return () => {
          subscribed -= 1
          return stop()
        }
      },
    }
    const sessions = { store: createMemorySessionStore(), bus }
    const [here, there] = [asking({}, { sessions }), asking({}, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here.app) }
    for (const n of [1, 2]) {
      const events = eventsOf(await post(here.app, request('tools/call', {}, n), headers))
      const asked = await events.message()
      await post(there.app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
      expect(await events.rest()).toMatchObject([{ id: n, result: {} }])
    }
    expect(here.outcomes).toEqual([{ roots: [] }, { roots: [] }])
    expect(subscribed).toBe(4)
    here.app.close()
    there.app.close()
    await pause(1)
    expect(subscribed).toBe(0)
  })

  it('is answered across processes after the bus has recovered', async () => {
    const inner = createMemoryEventBus()
    let isBroken = true
    const bus: EventBus = {
      ...inner,
      async subscribe(topic, listener) {
        if (isBroken) throw new Error('no bus')
        return inner.subscribe(topic, listener)
      },
    }
    const sessions = { store: createMemorySessionStore(), bus }
    const [here, there] = [asking({}, { sessions, onWarning: () => {} }), asking({}, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here.app) }
    expect((await post(here.app, request('tools/call'), headers)).status).toBe(500)
    isBroken = false
    const events = eventsOf(await post(here.app, request('tools/call'), headers))
    const asked = await events.message()
    await post(there.app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
    expect(await events.message()).toMatchObject({ id: 1, result: {} })
  })

  it('is answered again if its process does not confirm the response, also in a batch, whose requests do not run', async () => {
    const { app, outcomes } = asking({}, { sessions: { bus: createMemoryEventBus() } })
    const headers = { 'mcp-session-id': await openSession(app, '2025-03-26') }
    const answer = { jsonrpc: '2.0', id: '0123456789abcdef-12345678-1', result: { roots: [] } }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const posts = [post(app, answer, headers), post(app, [request('tools/call'), answer], headers)]
      await vi.advanceTimersByTimeAsync(6_000)
      expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([503, 503])
    } finally {
      vi.useRealTimers()
    }
    expect(outcomes).toEqual([])
  })

  it('is answered across processes although the bus failed for one of two simultaneous requests', async () => {
    const inner = createMemoryEventBus()
    let subscribed = 0
    const bus: EventBus = {
      ...inner,
      async subscribe(topic, listener) {
        subscribed += 1
        const isFirst = subscribed === 1
        await pause(5)
        if (isFirst) throw new Error('no bus')
        return inner.subscribe(topic, listener)
      },
    }
    const sessions = { store: createMemorySessionStore(), bus }
    const [here, there] = [asking({}, { sessions, onWarning: () => {} }), asking({}, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here.app) }
    const both = await Promise.all([1, 2].map((n) => post(here.app, request('tools/call', {}, n), headers)))
    expect(both.map(({ status }) => status)).toEqual([500, 500])
    const events = eventsOf(await post(here.app, request('tools/call'), headers))
    const asked = await events.message()
    await post(there.app, { jsonrpc: '2.0', id: asked?.id, result: { roots: [] } }, headers)
    expect(await events.message()).toMatchObject({ id: 1, result: {} })
  })

  it('is cancelled with its request, from any process', async () => {
    const sessions = { store: createMemorySessionStore(), bus: createMemoryEventBus() }
    const signals: AbortSignal[] = []
    const server = new HandWritten({
      'tools/call': (_params, { signal }) => {
        signals.push(signal)
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})))
      },
    })
    const [here, there] = [mcp(server, { sessions }), mcp(server, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here) }
    const running = post(here, request('tools/call', {}, 'x'), headers)
    await pause(5)
    await post(there, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } }, headers)
    expect(await (await running).text()).toBe('')
    expect(signals[0]?.aborted).toBe(true)
  })
})
