import type { EventStore } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { feeding, listening, said } from './feeds.fixture.ts'
import { eventsOf, get, openSession } from './server.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A store that takes its time, but for 0 ms. */
function slowStore(ms: number): EventStore {
  const store = createMemoryEventStore()
  if (ms === 0) return store
  return {
    ...store,
    append: (streamId, data) => pause(ms).then(() => store.append(streamId, data)),
    replay: (lastEventId) => pause(ms).then(() => store.replay(lastEventId)),
  }
}

const visit = fc.record({
  /** How many events are read before the client goes, and how long it stays away. */
  reads: fc.nat(6),
  away: fc.nat(3),
  /** How many readers come back at once; the last of them goes on. */
  readers: fc.constantFrom(1, 1, 2),
  /** How many messages are said before the client is back. */
  said: fc.nat(4),
})
const scene = fc.record({
  visits: fc.array(visit, { minLength: 1, maxLength: 12 }),
  latency: fc.constantFrom(0, 1, 3),
  length: fc.constantFrom(1, 6_000),
})

it('a session receives each message once and in order over many reconnections [S-136]', async () => {
  await fc.assert(
    fc.asyncProperty(scene, async ({ visits, latency, length }) => {
      const { server, listeners, tell } = feeding()
      const app = mcp(server, { sessions: { events: slowStore(latency) } })
      const headers = { 'mcp-session-id': await openSession(app) }
      const heard: number[] = []
      let count = 0
      let events = eventsOf(await get(app, headers))
      await listening(listeners)
      let lastEventId = (await events.next())?.id as string
      const read = async () => {
        const event = await events.next()
        if (event === undefined) throw new Error('The stream has ended')
        if (event.id !== undefined) lastEventId = event.id
        if (event.data !== '') heard.push(Number.parseInt(`${said(JSON.parse(event.data))}`, 10))
      }
      const speak = (times: number) => {
        for (let each = 0; each < times; each++) tell(`${++count} ${'x'.repeat(length)}`)
      }
      for (const { reads, away, readers, said: times } of visits) {
        speak(times)
        for (let each = 0; each < reads && heard.length < count; each++) await read()
        await events.cancel()
        speak(times)
        await pause(away)
        const again = { ...headers, 'last-event-id': lastEventId }
        const back = await Promise.all(Array.from({ length: readers }, () => get(app, again)))
        speak(1)
        events = eventsOf(back.at(-1) as Response)
      }
      while (heard.length < count) await read()
      await events.cancel()
      app.close()
      expect(heard).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    }),
    { seed, numRuns: 20 },
  )
})
