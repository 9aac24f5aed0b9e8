import type { EventStore } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { eventsOf, get, HandWritten, openSession, post, request } from './server.fixture.ts'

const server = () => new HandWritten({ 'tools/call': () => ({ content: [] }) })

function slow(store: EventStore): EventStore {
  return {
    append: async (stream, data) => store.append(stream, data),
    end: async (stream) => store.end(stream),
    replay: (id) => store.replay(id),
    follow: (id, signal) => store.follow(id, signal),
    delete: (stream) => store.delete(stream),
  }
}

it.each(['events', 'auto'] as const)(
  'the responses to a batch are all sent, whatever their size, with responses: %s',
  async (responses) => {
    const large = new HandWritten({
      'tools/call': async (_params, exchange) => {
        await exchange.notify('notifications/message', { level: 'info', data: 'begun' })
        return { text: 'x'.repeat(2_000_000) }
      },
    })
    const app = mcp(large, { responses })
    const headers = { 'mcp-session-id': await openSession(app, '2025-03-26') }
    const ids = [1, 2, 3, 4, 5]
    const response = await post(
      app,
      ids.map((id) => request('tools/call', {}, id)),
      headers,
    )
    const messages = await eventsOf(response).rest()
    expect(messages.flatMap(({ id, result }) => (result === undefined ? [] : [id]))).toEqual(ids)
  },
)

describe('a response that is the only event of its stream', () => {
  for (const [name, events] of [
    ['at once', createMemoryEventStore()],
    ['later', slow(createMemoryEventStore())],
  ] as const) {
    it(`can be had again from a store that keeps it ${name}`, async () => {
      const app = mcp(server(), { responses: 'events', sessions: { events, retry: 7 } })
      const headers = { 'mcp-session-id': await openSession(app) }
      const text = await (await post(app, request('tools/call'), headers)).text()
      const [first, second] = text.split('\n\n')
      expect(first).toMatch(/^id: \S+\nretry: 7\ndata:$/)
      expect(second).toMatch(/^id: \S+\ndata: .*"result"/)
      const lastEventId = /^id: (\S+)/.exec(first ?? '')?.[1]
      const again = await (await get(app, { ...headers, 'last-event-id': lastEventId })).text()
      expect(again).toContain(second)
    })
  }

  const full = () => Promise.reject(new Error('full'))
  const failing: readonly [string, { readonly [name in keyof EventStore]?: unknown }, number][] = [
    ['to append', { append: full }, 2],
    ['to append and to end', { append: full, end: full }, 3],
  ]
  it.each(failing)('reaches the client if the store fails %s', async (_, broken, problems) => {
    const reported: Error[] = []
    const events = { ...createMemoryEventStore(), ...broken } as EventStore
    const app = mcp(server(), { responses: 'events', sessions: { events }, onWarning: (error) => reported.push(error) })
    const headers = { 'mcp-session-id': await openSession(app) }
    const text = await (await post(app, request('tools/call'), headers)).text()
    expect(text).toMatch(/^data: .*"result".*\n\n$/)
    expect(reported).toHaveLength(problems)
  })

  it('is appended in order and then ended', async () => {
    const inner = createMemoryEventStore()
    const asked: string[] = []
    const events: EventStore = {
      ...inner,
      append: (stream, data) => {
        asked.push(data.slice(0, 10))
        return inner.append(stream, data)
      },
      end: (stream) => {
        asked.push('end')
        return inner.end(stream)
      },
    }
    const app = mcp(server(), { responses: 'events', sessions: { events } })
    const headers = { 'mcp-session-id': await openSession(app) }
    await (await post(app, request('tools/call'), headers)).text()
    expect(asked).toEqual(['', '{"jsonrpc"', 'end'])
  })
})
