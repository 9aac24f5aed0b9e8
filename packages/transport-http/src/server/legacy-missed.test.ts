import type { JsonObject } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { type McpApp, mcp, type SessionOptions } from '../index.ts'
import { feeding, listening, said } from './feeds.fixture.ts'
import { eventsOf, get, openSession } from './server.fixture.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A session whose client has gone. */
async function away(sessions?: SessionOptions) {
  const problems: Error[] = []
  const all = feeding()
  const app = mcp(all.server, { sessions, onWarning: (problem) => problems.push(problem) })
  const headers = { 'mcp-session-id': await openSession(app) }
  const events = eventsOf(await get(app, headers))
  await listening(all.listeners)
  const lastEventId = (await events.next())?.id as string
  await events.cancel()
  return { ...all, problems, app, headers, again: { ...headers, 'last-event-id': lastEventId } }
}

/** Returns the messages of a new stream until `ends` accepts one. */
async function told(app: McpApp, headers: Record<string, string>, ends: (message: JsonObject) => boolean) {
  const events = eventsOf(await get(app, headers))
  const messages: JsonObject[] = []
  for (;;) {
    const message = await events.message()
    if (message === undefined || ends(message)) return messages
    messages.push(message)
  }
}

const isEnd = (message: JsonObject) => said(message) === 'end'

describe('a message to a disconnected client of a session', () => {
  it('is stored, except for repeated changes', async () => {
    const { app, again, note, tell } = await away()
    note('elicitation/complete', { elicitationId: '1' })
    note('elicitation/complete', { elicitationId: '2' })
    note('tasks/status', { taskId: 'a', status: 'working' })
    note('tasks/status', { taskId: 'a', status: 'completed' })
    tell('end')
    expect((await told(app, again, isEnd)).map(({ params }) => params)).toEqual([
      { elicitationId: '1' },
      { elicitationId: '2' },
      { taskId: 'a', status: 'working' },
      { taskId: 'a', status: 'completed' },
    ])
    app.close()
  })

  it('is dropped with a warning above the limit, except for changes', async () => {
    const { app, again, note, tell, problems } = await away()
    note('tools/list_changed')
    for (let count = 1; count <= 1_010; count++) tell(`${count}`)
    note('prompts/list_changed')
    const events = eventsOf(await get(app, again))
    expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    for (let count = 1; count <= 899; count++) expect(said(await events.message())).toBe(`${count}`)
    expect(await events.message()).toMatchObject({ method: 'notifications/prompts/list_changed' })
    tell('end')
    expect(said(await events.message())).toBe('end')
    expect(problems).toMatchObject([{ reason: 'limit', message: expect.stringContaining('disconnected client') }])
    app.close()
  })

  it('is stored up to limits.unsent', async () => {
    const { app, again, tell, problems } = await away()
    for (let count = 1; count <= 9; count++) tell(`${count}${'x'.repeat(1024 * 1024)}`)
    const events = eventsOf(await get(app, again))
    for (const first of ['1', '2', '3']) expect(String(said(await events.message()))[0]).toBe(first)
    tell('end')
    expect(said(await events.message())).toBe('end')
    expect(problems).toHaveLength(1)
    app.close()
  })

  it('is sent to a client without Last-Event-ID', async () => {
    const { app, headers, note, tell } = await away()
    note('tools/list_changed')
    tell('logged')
    tell('end')
    const messages = await told(app, headers, isEnd)
    expect(messages.map((each) => said(each) ?? each.method)).toEqual(['notifications/tools/list_changed', 'logged'])
    app.close()
  })

  it('is sent even if the store rejects events', async () => {
    const inner = createMemoryEventStore()
    let isDown = false
    const append = (stream: string, data: string) => {
      if (isDown) throw new Error('down')
      return inner.append(stream, data)
    }
    const { app, again, note, tell } = await away({ events: { ...inner, append } })
    isDown = true
    note('tools/list_changed')
    tell('end')
    expect(await told(app, again, isEnd)).toMatchObject([{ method: 'notifications/tools/list_changed' }])
    app.close()
  })

  it('is sent after the store has failed to replay', async () => {
    const inner = createMemoryEventStore()
    let downs = 0
    const replay = (id: string) => {
      // Asked once to find the stream, and again to go on with it.
      if (downs++ === 1) throw new Error('down')
      return inner.replay(id)
    }
    const { app, again, note, tell } = await away({ events: { ...inner, replay } })
    note('tools/list_changed')
    expect(await told(app, again, isEnd)).toEqual([])
    tell('end')
    expect(await told(app, again, isEnd)).toMatchObject([{ method: 'notifications/tools/list_changed' }])
    app.close()
  })

  it('is sent on the next stream while a slow store is still storing it', async () => {
    const inner = createMemoryEventStore()
    let wait = 0
    const append = async (stream: string, data: string) => {
      await pause(wait)
      return inner.append(stream, data)
    }
    const { app, again, note, tell, listeners } = await away({ retry: 1, events: { ...inner, append } })
    wait = 400
    note('tools/list_changed')
    await expect.poll(() => listeners.size, { timeout: 2_000 }).toBe(0)
    wait = 0
    const events = eventsOf(await get(app, again))
    await listening(listeners)
    tell('end')
    expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(said(await events.message())).toBe('end')
    app.close()
  })

  it('is sent in order to the last of several reconnecting clients', async () => {
    const inner = createMemoryEventStore()
    const replay = async (id: string) => {
      await pause(5)
      return inner.replay(id)
    }
    const { app, again, note, tell, listeners } = await away({ events: { ...inner, replay } })
    note('tools/list_changed')
    const all = await Promise.all([get(app, again), get(app, again), get(app, again)])
    tell('end')
    const messages = await Promise.all(all.slice(0, 2).map((response) => eventsOf(response).message()))
    expect(messages).toEqual([undefined, undefined])
    const last = eventsOf(all[2] as Response)
    expect(await last.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(said(await last.message())).toBe('end')
    expect(listeners.size).toBe(1)
    app.close()
  })
})

it('all changes are sent to a client that opens a new stream, although together they exceed the limit of a stream', async () => {
  const { server, note, listeners } = feeding()
  const app = mcp(server, { limits: { unsent: 40_000 } })
  const headers = { 'mcp-session-id': await openSession(app) }
  const first = eventsOf(await get(app, headers))
  await listening(listeners)
  await first.next()
  await first.cancel()
  const uris = Array.from({ length: 100 }, (_, n) => `a:${n}/${'x'.repeat(2_000)}`)
  for (const uri of uris) note('resources/updated', { uri })
  const again = eventsOf(await get(app, headers))
  const received = new Set<unknown>()
  while (received.size < uris.length) {
    const message = await again.message()
    if (message === undefined) break
    received.add((message.params as { uri: string }).uri)
  }
  expect([...received]).toEqual(uris)
  await again.cancel()
})
