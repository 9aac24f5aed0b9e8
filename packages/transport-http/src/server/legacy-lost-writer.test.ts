import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { delay } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { eventsOf, get, HandWritten, json, openSession } from './server.fixture.ts'

/** An endpoint that knows a stream to which a process wrote that is gone. */
async function withLostWriter(bus = createMemoryEventBus()) {
  const events = createMemoryEventStore()
  const app = mcp(new HandWritten(), { sessions: { store: createMemorySessionStore(), events, bus } })
  const session = await openSession(app)
  const stream = `${session}~post~1-${WRITER}`
  const first = await events.append(stream, '')
  const resume = (id = first) => get(app, { 'mcp-session-id': session, 'last-event-id': id })
  return { bus, events, session, stream, resume }
}

/** The id of the process that wrote the stream. */
const WRITER = '0123456789abcdef'

/** Says for a while that it writes to every stream, as a process would. */
async function writeElsewhere({ bus }: Awaited<ReturnType<typeof withLostWriter>>) {
  return bus.subscribe(`mcpx/process/${WRITER}`, (text) => {
    const { from, id } = JSON.parse(text) as { from: string; id: number }
    void bus.publish(`mcpx/process/${from}`, JSON.stringify({ from: WRITER, replyTo: id, reply: true }))
  })
}

describe.concurrent('a stream of a terminated process', () => {
  it('is rejected, because its response would never arrive', async () => {
    const { resume } = await withLostWriter()
    const response = await resume()
    expect(response.status).toBe(400)
    expect(await json(response)).toMatchObject({ error: { message: expect.stringContaining('has ended') } })
  })

  it('ends after all stored events if the process terminates while the stream is resumed', async () => {
    const lost = await withLostWriter()
    const stop = await writeElsewhere(lost)
    const stream = eventsOf(await lost.resume())
    await lost.events.append(lost.stream, '{"n":1}')
    expect(await stream.message()).toEqual({ n: 1 })
    await stop()
    await lost.events.append(lost.stream, '{"n":2}')
    expect(await stream.message()).toEqual({ n: 2 })
    expect(await stream.message()).toBeUndefined()
  })

  it('is resumed if it had ended before', async () => {
    const { events, stream, resume } = await withLostWriter()
    await events.append(stream, '{"n":1}')
    await events.end(stream)
    expect(await eventsOf(await resume()).rest()).toEqual([{ n: 1 }])
  })

  it('is resumed if it ends while its process is checked', async () => {
    const { events, stream, resume } = await withLostWriter()
    const response = resume()
    await delay(50)
    await events.append(stream, '{"n":1}')
    await events.end(stream)
    expect(await eventsOf(await response).rest()).toEqual([{ n: 1 }])
  })
})
