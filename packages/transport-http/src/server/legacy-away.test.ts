import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type McpApp, mcp } from '../index.ts'
import { feeding, listening, said } from './feeds.fixture.ts'
import { eventsOf, get, openSession } from './server.fixture.ts'

describe('the GET stream of a disconnected client', () => {
  it('stores messages and sends them once after the client reconnects [S-136]', async () => {
    const { server, tell, listeners } = feeding()
    const app = mcp(server, { sessions: { retry: 50 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    tell('one')
    await events.next()
    const one = await events.next()
    expect(one?.data).toContain('one')
    const lastId = one?.id as string
    await events.cancel()
    tell('two')
    tell('three')
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastId }))
    expect([said(await again.message()), said(await again.message())]).toEqual(['two', 'three'])
    expect(listeners.size).toBe(1)
    tell('four')
    expect(said(await again.message())).toBe('four')
    await get(app, headers, { method: 'DELETE' })
    expect(await again.rest()).toEqual([])
    expect(listeners.size).toBe(0)
  })

  it('sends repeated changes once, and all log messages', async () => {
    const { server, listeners, note, tell } = feeding()
    const app = mcp(server)
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    const lastId = (await events.next())?.id as string
    await events.cancel()
    for (let count = 0; count < 2_000; count++) note('resources/updated', { uri: 'note://1' })
    for (let count = 0; count < 2_000; count++) note('tools/list_changed')
    note('resources/updated', { uri: 'note://2' })
    for (const data of ['a', 'a']) tell(data)
    const again = eventsOf(await get(app, { ...headers, 'last-event-id': lastId }))
    const told = [await again.message(), await again.message(), await again.message(), await again.message()]
    told.push(await again.message())
    expect(told.map((each) => (each?.params as JsonObject | undefined)?.uri ?? said(each) ?? each?.method)).toEqual([
      'note://1',
      'notifications/tools/list_changed',
      'note://2',
      'a',
      'a',
    ])
    await again.cancel()
    app.close()
  })

  it.each([
    ['for a while', async () => {}],
    ['until the session ends', (app: McpApp, headers: object) => get(app, headers as never, { method: 'DELETE' })],
    ['until the endpoint closes', (app: McpApp) => app.close()],
    ['until it is opened again', (app: McpApp, headers: object) => get(app, headers as never)],
  ])('waits for its client %s', async (name, end) => {
    const { server, listeners } = feeding()
    const app = mcp(server, { sessions: { retry: name === 'for a while' ? 1 : 60_000 } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    const [kept] = listeners
    await events.cancel()
    expect(listeners.has(kept as never)).toBe(true)
    await end(app, headers)
    await expect.poll(() => listeners.has(kept as never), { timeout: 5_000 }).toBe(false)
    app.close()
  })

  it('is kept for a limited number of clients: the oldest one is dropped', async () => {
    const { server, listeners } = feeding()
    const app = mcp(server)
    const kept: unknown[] = []
    for (let count = 0; count < 1_002; count++) {
      const response = await get(app, { 'mcp-session-id': await openSession(app) })
      await listening(listeners)
      kept.push([...listeners].at(-1))
      await response.body?.cancel()
    }
    expect(listeners.size).toBe(1_000)
    expect(kept.map((each) => listeners.has(each as never)).indexOf(true)).toBe(2)
    app.close()
    expect(listeners.size).toBe(0)
  })
})
