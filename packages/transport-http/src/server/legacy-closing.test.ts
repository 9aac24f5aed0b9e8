import { createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { delay } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { type McpApp, mcp } from '../index.ts'
import { feeding, listening } from './feeds.fixture.ts'
import { eventsOf, gate, get, HandWritten, openSession, post, request } from './server.fixture.ts'

const ways: [string, (app: McpApp) => unknown][] = [
  ['closed', (app) => app.close()],
  ['drained', (app) => app.drain(1)],
]

it('a result is stored before the endpoint is drained, although its client has disconnected', async () => {
  const inner = createMemoryEventStore()
  const events = {
    ...inner,
    async append(id: string, data: string) {
      await delay(30)
      return inner.append(id, data)
    },
  }
  const held = gate()
  const server = new HandWritten({
    'tools/call': async (_params, exchange) => {
      await exchange.notify('notifications/message', { level: 'info', data: 'one' })
      await held.promise
      return { content: [] }
    },
  })
  const app = mcp(server, { sessions: { events } })
  const stream = eventsOf(await post(app, request('tools/call'), { 'mcp-session-id': await openSession(app) }))
  const first = await stream.next()
  await stream.cancel()
  const drained = app.drain()
  held.open()
  await drained
  const replay = await inner.replay(first?.id as string)
  expect(replay).toMatchObject({ ended: true })
  expect(replay?.events.map(({ data }) => JSON.parse(data))).toMatchObject([{ params: { data: 'one' } }, { id: 1 }])
})

describe('the GET stream of a session', () => {
  it.each(ways)('is not opened by a client that is authenticated while the endpoint is %s', async (_, end) => {
    for (const path of ['/', '/sse']) {
      const { server, listeners } = feeding()
      let asked: Promise<void> | undefined
      const authenticate = async () => {
        await asked
        return { subject: 'a', scopes: [] }
      }
      const app = mcp(server, { sse: '/sse', authenticate })
      const headers = { accept: 'text/event-stream', 'mcp-session-id': await openSession(app) }
      const held = gate()
      asked = held.promise
      const getting = app.request(path, { headers })
      await end(app)
      held.open()
      const response = await getting
      expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json'])
      expect(listeners.size).toBe(0)
    }
  })

  it.each(ways)('is not opened for a session that is loaded while the endpoint is %s', async (_, end) => {
    const { server, listeners } = feeding()
    const inner = createMemorySessionStore()
    let reading: Promise<void> | undefined
    const store = {
      ...inner,
      async get(id: string, ttl?: number) {
        await reading
        return inner.get(id, ttl)
      },
    }
    const app = mcp(server, { sessions: { store } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const held = gate()
    reading = held.promise
    const getting = get(app, headers)
    await end(app)
    held.open()
    expect((await getting).status).toBe(503)
    expect(listeners.size).toBe(0)
  })

  it('is not resumed for a session that is deleted during the replay', async () => {
    const { server, listeners } = feeding()
    const inner = createMemoryEventStore()
    const held = gate()
    const replay = async (id: string) => {
      await held.promise
      return inner.replay(id)
    }
    const app = mcp(server, { sessions: { events: { ...inner, replay } } })
    const headers = { 'mcp-session-id': await openSession(app) }
    const events = eventsOf(await get(app, headers))
    await listening(listeners)
    const lastEventId = (await events.next())?.id as string
    await events.cancel()
    const getting = get(app, { ...headers, 'last-event-id': lastEventId })
    expect((await get(app, headers, { method: 'DELETE' })).status).toBe(204)
    held.open()
    expect((await getting).status).toBe(404)
    expect(listeners.size).toBe(0)
  })
})
