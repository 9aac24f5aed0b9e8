import type { EventStore } from '@mcpx/protocol'
import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { feeding, listening, said } from './feeds.fixture.ts'
import { eventsOf, gate, get, HandWritten, json, openSession, post, request } from './server.fixture.ts'

/** Revisions whose clients reject an event without data. */
const OLD = ['2025-03-26', '2025-06-18']

describe('the GET stream of a session', () => {
  it('carries notifications of the session, and ends when the client disconnects [S-130, S-135]', async () => {
    const { server, tell, listeners } = feeding()
    const app = mcp(server, { sessions: { events: false } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const response = await get(app, headers)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const events = eventsOf(response)
    await listening(listeners)
    tell('one')
    expect(said(await events.message())).toBe('one')
    await events.cancel()
    tell('two')
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(listeners.size).toBe(0)
  })

  it('is unique: a second one is rejected until the first has ended', async () => {
    const { server } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = await get(app, headers)
    expect((await get(app, headers)).status).toBe(409)
    await first.body?.cancel()
    const again = await get(app, headers)
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })

  it('is not available if the server sends no notifications [S-130]', async () => {
    const app = mcp(new HandWritten())
    const response = await get(app, { 'mcp-session-id': await openSession(app) })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, DELETE'])
  })

  it('needs a client that accepts events', async () => {
    const app = mcp(feeding().server)
    const headers = { 'mcp-session-id': await openSession(app), accept: 'text/html' }
    expect((await get(app, headers)).status).toBe(406)
  })

  it('ends with the session', async () => {
    const { server, listeners } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    await get(app, headers, { method: 'DELETE' })
    expect(await events.rest()).toEqual([])
  })

  it('ends when another process ends the session', async () => {
    const { server, listeners } = feeding()
    const sessions = { store: createMemorySessionStore(), bus: createMemoryEventBus() }
    const [here, there] = [mcp(server, { sessions }), mcp(server, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here) }
    const events = eventsOf(await get(here, headers))
    await listening(listeners)
    await get(there, headers, { method: 'DELETE' })
    expect(await events.rest()).toEqual([])
  })

  it('keeps its session alive, and sees changes of other requests', async () => {
    const { server, sessions, listeners } = feeding()
    const app = mcp(server, { sessions: { ttl: 200 }, keepAlive: 20 })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    await new Promise((resolve) => setTimeout(resolve, 350))
    expect((await post(app, request('nope'), headers)).status).toBe(200)
    expect(sessions[0]?.state.revision).toBe('2025-11-25')
    await events.cancel()
  })

  it('sees changes of other requests in other processes, and ignores outdated records', async () => {
    const { server, sessions: seen, listeners } = feeding()
    const inner = createMemorySessionStore()
    let hold: Promise<void> | undefined
    const store = {
      ...inner,
      async get(id: string, ttl?: number) {
        const state = await inner.get(id, ttl)
        await hold
        return state
      },
    }
    const sessions = { store, bus: createMemoryEventBus() }
    const changing = new HandWritten({
      'logging/setLevel': async ({ level }, { session }) => {
        await session?.update((state) => void Object.assign(state, { logLevel: level }))
        return {}
      },
    })
    const [here, there] = [mcp(server, { sessions }), mcp(changing, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here) }
    const events = eventsOf(await get(here, headers))
    await listening(listeners)
    const late = gate()
    hold = late.promise
    const reading = post(here, request('nope'), headers)
    await new Promise((resolve) => setTimeout(resolve, 1))
    hold = undefined
    await post(there, request('logging/setLevel', { level: 'error' }), headers)
    expect(seen[0]?.state.logLevel).toBe('error')
    late.open()
    await reading
    expect(seen[0]?.state.logLevel).toBe('error')
    await events.cancel()
  })

  it('continues after the last received event', async () => {
    const { server, tell, listeners } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await get(app, headers))
    await listening(listeners)
    tell('one')
    tell('two')
    await first.next()
    const one = await first.next()
    expect(one?.data).toContain('one')
    await first.next()
    const second = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
    expect(said(await second.message())).toBe('two')
    expect(await first.next()).toBeUndefined()
    await listening(listeners)
    tell('three')
    expect(said(await second.message())).toBe('three')
    await second.cancel()
  })

  it('does not send its events to another session [S-138]', async () => {
    const { server } = feeding()
    const app = mcp(server)
    const events = eventsOf(await get(app, { 'mcp-session-id': await openSession(app) }))
    const prime = await events.next()
    const response = await get(app, { 'mcp-session-id': await openSession(app), 'last-event-id': prime?.id ?? '' })
    expect([response.status, await json(response)]).toMatchObject([400, { error: { code: -32600 } }])
    await events.cancel()
  })

  it.each(OLD)(
    'begins with a message in %s, whose clients reject empty events, and is resumed after it',
    async (revision) => {
      const { server, tell, listeners } = feeding()
      const app = mcp(server)
      const headers = { 'mcp-session-id': await openSession(app, revision) }
      const first = eventsOf(await get(app, headers))
      await listening(listeners)
      tell('one')
      tell('two')
      const one = await first.next()
      expect(one).toMatchObject({ id: expect.any(String), data: expect.stringContaining('one') })
      await first.cancel()
      const second = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
      expect((await second.next())?.data).toContain('two')
      await second.cancel()
    },
  )

  it('sends what an older client missed before its first event, without an empty event', async () => {
    const { server, tell, listeners } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app, OLD[1]) }
    const first = eventsOf(await get(app, headers))
    await listening(listeners)
    await first.cancel()
    tell('one')
    const second = eventsOf(await get(app, headers))
    expect(await second.next()).toMatchObject({ id: expect.any(String), data: expect.stringContaining('one') })
    await second.cancel()
  })
})

describe('the stream of a POST', () => {
  function speaking() {
    const held = gate()
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'one' })
        await held.promise
        await exchange.notify('notifications/message', { level: 'info', data: 'two' })
        return { content: [] }
      },
    })
    return { server, held }
  }

  it('keeps its session alive', async () => {
    const { server, held } = speaking()
    const app = mcp(server, { sessions: { ttl: 200 }, keepAlive: 20 })
    const headers = { 'mcp-session-id': await openSession(app) }
    const response = await post(app, request('tools/call', {}, 5), headers)
    await new Promise((resolve) => setTimeout(resolve, 350))
    expect((await post(app, request('nope'), headers)).status).toBe(200)
    held.open()
    expect(await response.text()).toContain('"id":5')
  })

  it('begins with an event id and a retry time [S-139]', async () => {
    const { server, held } = speaking()
    const app = mcp(server, { sessions: { retry: 250 } })
    held.open()
    const text = await (await post(app, request('tools/call'), { 'mcp-session-id': await openSession(app) })).text()
    expect(text).toMatch(/^id: \S+\nretry: 250\ndata:\n\nid: \S+\ndata: \{/)
    const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(4)
  })

  it.each(OLD)(
    'begins with a message in %s, whose clients reject empty events, and is resumed after it',
    async (revision) => {
      const { server, held } = speaking()
      const app = mcp(server)
      const headers = { 'mcp-session-id': await openSession(app, revision) }
      const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
      const one = await first.next()
      expect(one).toMatchObject({ id: expect.any(String), data: expect.stringContaining('one') })
      expect(one).not.toHaveProperty('retry')
      await first.cancel()
      const second = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
      await second.comment()
      held.open()
      expect(await second.next()).toMatchObject({ id: expect.any(String), data: expect.stringContaining('two') })
      expect(await second.rest()).toMatchObject([{ id: 5, result: {} }])
    },
  )

  it('is resumed after a cut without duplicate messages [S-136, S-138]', async () => {
    const { server, held } = speaking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    const prime = await first.next()
    expect(prime).toMatchObject({ data: '' })
    const one = await first.next()
    await first.cancel()
    const second = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
    await second.comment()
    held.open()
    expect(await second.rest()).toMatchObject([{ params: { data: 'two' } }, { id: 5, result: {} }])
  })

  it('is moved to the newest reader without duplicate messages [S-136]', async () => {
    const { server, held } = speaking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    await first.next()
    const one = await first.next()
    const second = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
    await second.comment()
    expect(await first.next()).toBeUndefined()
    held.open()
    expect(await second.rest()).toMatchObject([{ params: { data: 'two' } }, { id: 5 }])
  })

  it('can be closed by the server, and is resumed by the client', async () => {
    const held = gate()
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          exchange.closeStream?.()
          await held.promise
          return { content: [] }
        },
      }),
    )
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    const prime = await first.next()
    expect(await first.next()).toBeUndefined()
    const second = eventsOf(await get(app, { ...headers, 'last-event-id': prime?.id ?? '' }))
    await second.comment()
    held.open()
    expect(await second.rest()).toMatchObject([{ id: 5, result: {} }])
    const old = { 'mcp-session-id': await openSession(app, OLD[1]) }
    expect(await json(await post(app, request('tools/call', {}, 6), old))).toMatchObject({ id: 6 })
  })

  it('has no event ids without sessions, and is not closed early', async () => {
    const app = mcp(
      new HandWritten({
        'tools/call': async (_params, exchange) => {
          await exchange.notify('notifications/message', { level: 'info', data: 'one' })
          exchange.closeStream?.()
          await new Promise((resolve) => setTimeout(resolve, 5))
          return { content: [] }
        },
      }),
      { sessions: false },
    )
    const response = await post(app, request('tools/call', {}, 5), { 'mcp-protocol-version': '2025-11-25' })
    const text = await response.text()
    expect(text).not.toMatch(/^(?:id|retry):/m)
    expect(text).toMatch(/"data":"one"[\s\S]*"id":5,"result"/)
  })

  it('is resumed after its end, also from the beginning', async () => {
    const { server, held } = speaking()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    const prime = await first.next()
    await first.cancel()
    held.open()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': prime?.id ?? '' }))
    expect(await again.rest()).toMatchObject([{ params: { data: 'one' } }, { params: { data: 'two' } }, { id: 5 }])
  })

  it('is resumed in another process with the same stores', async () => {
    const { server, held } = speaking()
    const sessions = { store: createMemorySessionStore(), events: createMemoryEventStore() }
    const [here, there] = [mcp(server, { sessions }), mcp(server, { sessions })]
    const headers = { 'mcp-session-id': await openSession(here) }
    const first = eventsOf(await post(here, request('tools/call', {}, 5), headers))
    const prime = await first.next()
    await first.cancel()
    const second = eventsOf(await get(there, { ...headers, 'last-event-id': prime?.id ?? '' }))
    expect(said(await second.message())).toBe('one')
    held.open()
    expect(await second.rest()).toMatchObject([{ params: { data: 'two' } }, { id: 5 }])
  })

  it('cannot be resumed from an unknown event', async () => {
    const app = mcp(new HandWritten())
    const headers = { 'mcp-session-id': await openSession(app), 'last-event-id': 'x.1' }
    expect((await get(app, headers)).status).toBe(400)
  })

  it('keeps the order of messages with a slow store', async () => {
    const inner = createMemoryEventStore()
    let wait = 8
    const events = {
      ...inner,
      async append(stream: string, data: string) {
        await new Promise((resolve) => setTimeout(resolve, wait--))
        return inner.append(stream, data)
      },
    }
    const app = mcp(
      new HandWritten({
        'tools/call': (_params, exchange) => {
          for (const data of ['a', 'b', 'c']) void exchange.notify('notifications/message', { level: 'info', data })
          return {}
        },
      }),
      { sessions: { events } },
    )
    const headers = { 'mcp-session-id': await openSession(app) }
    const all = await eventsOf(await post(app, request('tools/call'), headers)).rest()
    expect(all.map(said)).toEqual(['a', 'b', 'c', undefined])
  })

  it('keeps the messages that the store refuses while the client is away', async () => {
    const inner = createMemoryEventStore()
    let isBroken = false
    const events: EventStore = {
      ...inner,
      append: async (id, data) => (isBroken ? Promise.reject(new Error('full')) : inner.append(id, data)),
    }
    const [away, sent, held] = [gate(), gate(), gate()]
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'one' })
        await away.promise
        await exchange.notify('notifications/message', { level: 'info', data: 'two' })
        isBroken = false
        await exchange.notify('notifications/message', { level: 'info', data: 'three' })
        isBroken = true
        await exchange.notify('notifications/message', { level: 'info', data: 'four' })
        isBroken = false
        sent.open()
        await held.promise
        return {}
      },
    })
    const app = mcp(server, { sessions: { events } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call'), headers))
    await first.next()
    const one = await first.next()
    await first.cancel()
    isBroken = true
    away.open()
    await sent.promise
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': one?.id ?? '' }))
    for (const data of ['two', 'three', 'four']) expect(said(await again.message())).toBe(data)
    held.open()
    expect(await again.rest()).toMatchObject([{ id: 1, result: {} }])
  })

  it('loses resumability, but no messages, if the store fails', async () => {
    const problems: Error[] = []
    const events = { ...createMemoryEventStore(), append: () => Promise.reject(new Error('full')) }
    const { server, held } = speaking()
    held.open()
    const app = mcp(server, { sessions: { events }, onWarning: (problem) => problems.push(problem) })
    const headers = { 'mcp-session-id': await openSession(app) }
    const all = await eventsOf(await post(app, request('tools/call'), headers)).rest()
    expect(all.map(said)).toEqual(['one', 'two', undefined])
    expect(problems[0]).toMatchObject({ message: 'full' })
  })

  it('is one of a limited number', async () => {
    const { server, held } = speaking()
    const app = mcp(server, { limits: { sessionStreams: 1 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = await post(app, request('tools/call', {}, 1), headers)
    const second = await post(app, request('tools/call', {}, 2), headers)
    expect([second.status, await second.text()]).toMatchObject([429, expect.stringContaining('at most 1')])
    held.open()
    await first.text()
    expect((await post(app, request('tools/call', {}, 3), headers)).status).toBe(200)
  })
})

it('the result for a client that is disconnected is kept, however much another caller stores', async () => {
  const server = new HandWritten({
    'tools/call': async (_params, exchange) => {
      await exchange.notify('notifications/message', { level: 'info', data: 'begun' })
      return { text: 'x'.repeat(300_000) }
    },
  })
  const authenticate = ({ headers }: Request) => ({ subject: headers.get('x-who') ?? '', scopes: [] })
  const events = createMemoryEventStore({ maxTotalCharacters: 1_000_000 })
  const app = mcp(server, { authenticate, sessions: { events } })
  const join = async (who: string) => {
    const own = { 'x-who': who }
    return { ...own, 'mcp-session-id': await openSession(app, undefined, own) }
  }
  const [ada, bob] = [await join('ada'), await join('bob')]
  const stream = eventsOf(await post(app, request('tools/call'), bob))
  const position = (await stream.next())?.id as string
  await stream.cancel()
  for (let id = 1; id <= 5; id++) await eventsOf(await post(app, request('tools/call', {}, id), ada)).rest()
  const resumed = eventsOf(await get(app, { ...bob, 'last-event-id': position }))
  expect(await resumed.rest()).toMatchObject([{ params: { data: 'begun' } }, { id: 1, result: {} }])
})
