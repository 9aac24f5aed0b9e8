/** Streams of calls whose last events the event store refuses. */

import type { EventStore } from '@mcpx/protocol'
import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp, type SessionOptions } from '../index.ts'
import { eventsOf, gate, get, HandWritten, json, openSession, post, request } from './server.fixture.ts'

describe('a stream that ends while the event store refuses', () => {
  /** A call whose client has gone, with a store that fails from then on, and the position of the client. */
  async function endWithoutStore(broken: 'append' | 'end', options: SessionOptions = {}) {
    const inner = createMemoryEventStore()
    const store = { isBroken: false }
    const fail = async () => Promise.reject(new Error('full'))
    const events: EventStore = {
      ...inner,
      append: async (id, data) => (store.isBroken && broken === 'append' ? fail() : inner.append(id, data)),
      end: async (id) => (store.isBroken ? fail() : inner.end(id)),
    }
    const held = gate()
    const answer = { content: [{ type: 'text', text: 'x'.repeat(200_000) }] }
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'one' })
        await held.promise
        return answer
      },
    })
    const problems: Error[] = []
    const bus = createMemoryEventBus()
    const sessions = { store: createMemorySessionStore(), events, bus, ...options }
    const app = mcp(server, { sessions, onWarning: (problem) => problems.push(problem) })
    const other = mcp(server, { sessions })
    const headers = { 'mcp-session-id': await openSession(app) }
    const first = eventsOf(await post(app, request('tools/call'), headers))
    const prime = await first.next()
    await first.cancel()
    store.isBroken = true
    held.open()
    await expect.poll(() => problems).not.toEqual([])
    const again = { ...headers, 'last-event-id': prime?.id ?? '' }
    const expected = [{ params: { data: 'one' } }, { id: 1, result: answer }]
    return { app, other, store, again, expected, problems }
  }

  it.each(['append', 'end'] as const)('is sent whole to a client that comes back while `%s` fails', async (broken) => {
    const { app, again, expected } = await endWithoutStore(broken)
    expect(await eventsOf(await get(app, again)).rest()).toMatchObject(expected)
    app.close()
  })

  it.each(['append', 'end'] as const)('is sent whole by another process after `%s` has failed', async (broken) => {
    const { app, other, store, again, expected } = await endWithoutStore(broken)
    const rest = eventsOf(await get(other, again)).rest()
    store.isBroken = false
    expect(await rest).toMatchObject(expected)
    app.close()
    other.close()
  })

  it('is given up after `awayTimeout`, with a warning', async () => {
    const { app, again, problems } = await endWithoutStore('append', { awayTimeout: 50 })
    const last = () => problems.at(-1)?.message
    await expect
      .poll(last, { timeout: 5_000 })
      .toBe('Dropped messages for a disconnected client: the event store has refused them for too long')
    const response = await get(app, again)
    expect(response.status).toBe(400)
    expect(await json(response)).toMatchObject({ error: { message: expect.stringContaining('has ended') } })
    app.close()
  })
})

it('the events that fill the limit while the store refuses them are all sent to a client that comes back', async () => {
  const inner = createMemoryEventStore()
  let isBroken = false
  const append = async (id: string, data: string) => {
    if (isBroken) throw new Error('full')
    return inner.append(id, data)
  }
  const held = gate()
  const note = (data: string) => ({ method: 'notifications/message', params: { level: 'info', data } })
  const size = JSON.stringify({ jsonrpc: '2.0', ...note('') }).length
  const server = new HandWritten({
    'tools/call': async (_params, exchange) => {
      await exchange.notify('notifications/message', note('begun').params)
      await held.promise
      // Together as long as the limit.
      for (let n = 0; n < 2; n++) await exchange.notify('notifications/message', note('x'.repeat(5_000 - size)).params)
      return { content: [] }
    },
  })
  const warnings: string[] = []
  const app = mcp(server, {
    sessions: { events: { ...inner, append } },
    limits: { unsent: 10_000 },
    onWarning: ({ message }) => warnings.push(message),
  })
  const headers = { 'mcp-session-id': await openSession(app) }
  const first = eventsOf(await post(app, request('tools/call'), headers))
  const position = (await first.next())?.id as string
  await first.cancel()
  isBroken = true
  held.open()
  await expect.poll(() => warnings.length).toBeGreaterThan(2)
  const resumed = eventsOf(await get(app, { ...headers, 'last-event-id': position }))
  const messages = (await resumed.rest()).map(({ method, id }) => method ?? id)
  expect(messages).toEqual([...Array.from({ length: 3 }, () => 'notifications/message'), 1])
  app.close()
})
