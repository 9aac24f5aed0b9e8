import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { mcp } from '../index.ts'
import { feeding, listening, said } from './feeds.fixture.ts'
import { eventsOf, gate, get, json, openSession, post, request } from './server.fixture.ts'

const MINUTE = 60_000
afterEach(() => void vi.useRealTimers())
const fakeTime = () => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })

/** A call that says one thing, and answers when it is let. */
function calling() {
  const held = gate()
  const all = feeding({
    'tools/call': async (_params, exchange) => {
      await exchange.notify('notifications/message', { level: 'info', data: 'one' })
      await held.promise
      return { content: [] }
    },
  })
  return { ...all, held }
}

describe('the GET stream of a session whose last event was evicted', () => {
  it('continues with missed changes and a new event id', async () => {
    const { server, note, listeners } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await get(app, headers))
    await listening(listeners)
    const lastId = (await first.next())?.id as string
    fakeTime()
    vi.setSystemTime(Date.now() + 6 * MINUTE)
    await first.cancel()
    note('tools/list_changed')
    const response = await get(app, { ...headers, 'last-event-id': lastId })
    expect(response.status).toBe(200)
    const again = eventsOf(response)
    const place = await again.next()
    expect(place).toMatchObject({ data: '', id: expect.any(String) })
    expect(await again.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await again.cancel()
    note('prompts/list_changed')
    const third = eventsOf(await get(app, { ...headers, 'last-event-id': place?.id ?? '' }))
    expect(await third.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(await third.message()).toMatchObject({ method: 'notifications/prompts/list_changed' })
    app.close()
  })

  it('continues if the client is no longer expected, or its disconnection was not noticed', async () => {
    const { server, note, listeners } = feeding()
    const app = mcp(server, { sessions: { retry: 1, events: createMemoryEventStore({ maxLive: 1 }) } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const lastEventId = (await eventsOf(await get(app, headers)).next())?.id as string
    await eventsOf(await get(app, { 'mcp-session-id': await openSession(app) })).next()
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastEventId }))
    await again.cancel()
    await expect.poll(() => listeners.size, { timeout: 5_000 }).toBe(1)
    const third = eventsOf(await get(app, { ...headers, 'last-event-id': lastEventId }))
    await expect.poll(() => listeners.size).toBe(2)
    note('tools/list_changed')
    expect(await third.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    app.close()
  })

  it('is not evicted while it is open', async () => {
    fakeTime()
    const { server, tell, listeners } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await get(app, headers))
    await listening(listeners)
    const lastId = (await first.next())?.id as string
    tell('unseen')
    vi.advanceTimersByTime(20 * MINUTE)
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastId }))
    expect(said(await again.message())).toBe('unseen')
    app.close()
  })

  it('is not evicted while its client is expected', async () => {
    fakeTime()
    const { server, tell, listeners } = feeding()
    const app = mcp(server, { sessions: { ttl: 60 * MINUTE, retry: MINUTE } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await get(app, headers))
    await listening(listeners)
    const lastId = (await first.next())?.id as string
    tell('unseen')
    await first.cancel()
    vi.advanceTimersByTime(20 * MINUTE)
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastId }))
    expect(said(await again.message())).toBe('unseen')
    app.close()
  })
})

describe('the stream of a call in a session', () => {
  it('is resumed after a long silence and a cut', async () => {
    const { server, held } = calling()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    const lastId = (await first.next())?.id as string
    fakeTime()
    vi.setSystemTime(Date.now() + 6 * MINUTE)
    await first.cancel()
    const response = await get(app, { ...headers, 'last-event-id': lastId })
    expect(response.status).toBe(200)
    held.open()
    expect(await eventsOf(response).rest()).toMatchObject([{ id: 5, result: {} }])
    app.close()
  })

  it.each(['read', 'not read'])('is stored while the call runs silently and %s', async (how) => {
    fakeTime()
    const { server, held } = calling()
    const app = mcp(server, { sessions: { ttl: 60 * MINUTE } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call', {}, 5), headers))
    const lastId = (await first.next())?.id as string
    if (how === 'not read') await first.cancel()
    vi.advanceTimersByTime(20 * MINUTE)
    if (how === 'read') await first.cancel()
    held.open()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastId }))
    expect(await again.rest()).toMatchObject([{ params: { data: 'one' } }, { id: 5, result: {} }])
    app.close()
  })

  it('is resumed only by its own events, also if they were evicted [S-138]', async () => {
    const held = Array.from({ length: 11 }, () => gate())
    const { server } = feeding({
      'tools/call': async ({ nth }, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'one' })
        await held[nth as number]?.promise
        return { nth: nth as number }
      },
    })
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const lastIds: string[] = []
    for (let nth = 0; nth < 11; nth++) {
      const events = eventsOf(await post(app, request('tools/call', { nth }, nth), headers))
      lastIds.push((await events.next())?.id as string)
    }
    held[10]?.open()
    await new Promise((resolve) => setTimeout(resolve, 5))
    fakeTime()
    vi.setSystemTime(Date.now() + 6 * MINUTE)
    const eleventh = await get(app, { ...headers, 'last-event-id': lastIds[10] as string })
    expect([eleventh.status, await json(eleventh)]).toMatchObject([400, { error: { code: -32600 } }])
    const first = eventsOf(await get(app, { ...headers, 'last-event-id': lastIds[0] as string }))
    held[0]?.open()
    expect(await first.rest()).toMatchObject([{ id: 0, result: { nth: 0 } }])
    app.close()
  })
})
