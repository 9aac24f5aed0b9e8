/** The messages between processes that serve the same sessions. */

import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { feeding, listening } from './feeds.fixture.ts'
import { eventsOf, get, json, openSession, post, request } from './server.fixture.ts'

/** Two processes, and the topics that they publish to. */
function createProcesses() {
  const inner = createMemoryEventBus()
  const topics: string[] = []
  const bus = {
    ...inner,
    publish(topic: string, message: string) {
      topics.push(topic.replace(/[0-9a-f]{16}$/, 'one'))
      return inner.publish(topic, message)
    },
  }
  const sessions = { store: createMemorySessionStore(), events: createMemoryEventStore(), bus }
  const [here, there] = [0, 1].map(() => {
    const all = feeding({
      'resources/subscribe': async ({ uri }, { session }) => {
        await session?.update((state) => void Object.assign(state, { subscriptions: [uri] }))
        return {}
      },
      'logging/setLevel': async ({ level }, { session }) => {
        await session?.update((state) => void Object.assign(state, { logLevel: level }))
        return {}
      },
    })
    return { ...all, app: mcp(all.server, { sessions }) }
  }) as [Process, Process]
  return { here, there, topics }
}

type Process = ReturnType<typeof feeding> & { app: ReturnType<typeof mcp> }

it('a change of a session is sent to the process of its GET stream alone', async () => {
  const { here, there, topics } = createProcesses()
  const headers = { 'mcp-session-id': await openSession(here.app) }
  const subscribe = (process: Process, uri: string) =>
    post(process.app, request('resources/subscribe', { uri }), headers).then(json)
  await subscribe(here, 'a:1')
  expect(topics).toEqual([])

  const events = eventsOf(await get(there.app, headers))
  await listening(there.listeners)
  await subscribe(here, 'a:2')
  expect(topics.splice(0)).toEqual(['mcpx/process/one'])
  expect(there.sessions[0]?.state.subscriptions).toEqual(['a:2'])
  await subscribe(there, 'a:3')
  expect(topics).toEqual([])

  // The client resumes the stream at the other process.
  const lastEventId = (await events.next())?.id as string
  const resumed = eventsOf(await get(here.app, { ...headers, 'last-event-id': lastEventId }))
  await listening(here.listeners)
  expect(topics.splice(0)).toEqual(['mcpx/process/one'])
  expect(await events.rest()).toEqual([])
  await subscribe(there, 'a:4')
  expect(topics.splice(0)).toEqual(['mcpx/process/one'])
  expect(here.sessions[0]?.state.subscriptions).toEqual(['a:4'])

  // Calls may run in any process.
  await json(await post(there.app, request('logging/setLevel', { level: 'error' }), headers))
  await get(there.app, headers, { method: 'DELETE' })
  expect(topics).toEqual(['mcpx/processes', 'mcpx/processes'])
  expect(await resumed.rest()).toEqual([])
})

it('a second GET stream is refused while the first one is open at another process', async () => {
  const { here, there } = createProcesses()
  const headers = { 'mcp-session-id': await openSession(here.app) }
  const events = eventsOf(await get(there.app, headers))
  await listening(there.listeners)
  expect((await get(here.app, headers)).status).toBe(409)
  expect(here.listeners.size).toBe(0)
  await events.cancel()
})

it('a GET stream without a position that follows one at another process sends everything as changed', async () => {
  const { here, there } = createProcesses()
  const headers = { 'mcp-session-id': await openSession(here.app) }
  const events = eventsOf(await get(there.app, headers))
  await listening(there.listeners)
  expect(there.gaps).toEqual([false])
  await events.cancel()
  const second = await get(here.app, headers)
  expect(second.status).toBe(200)
  expect(here.gaps).toEqual([true])
  await eventsOf(second).cancel()
})
