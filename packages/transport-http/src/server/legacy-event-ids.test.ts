import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { feeding, listening } from './feeds.fixture.ts'
import { eventsOf, get, openSession, post, request } from './server.fixture.ts'

describe('the event store of a session', () => {
  it.each([7, 'a\nb'])('that returns the id %j loses resumability, but no event', async (id) => {
    const problems: Error[] = []
    const { server, listeners, note } = feeding({ 'tools/call': () => ({ content: [] }) })
    const events = { ...createMemoryEventStore(), append: () => id as string }
    const app = mcp(server, {
      responses: 'events',
      sessions: { events },
      onWarning: (problem) => problems.push(problem),
    })
    const headers = { 'mcp-session-id': await openSession(app) }
    const stream = eventsOf(await get(app, headers))
    await listening(listeners)
    note('tools/list_changed')
    expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(problems[0]).toMatchObject({ name: 'TypeError', message: expect.stringContaining('event store') })
    const answered = await post(app, request('tools/call', {}, 5), headers)
    expect(await eventsOf(answered).rest()).toMatchObject([{ id: 5, result: {} }])
    app.close()
  })
})
