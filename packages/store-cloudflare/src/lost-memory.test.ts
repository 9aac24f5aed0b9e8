/** Objects that lose their memory: because they hibernate, or because their machine fails. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CloudflareStore, durableObjectStore } from './index.ts'
import { objectsAt, type RunningWorker, startWorker } from './workerd.fixture.ts'

/** The runtime lets an object hibernate after 10 s without requests. */
const IDLE = 13_000
const TIMEOUT = 60_000

let worker: RunningWorker
beforeAll(async () => {
  worker = await startWorker(new URL('worker.fixture.ts', import.meta.url), { STORE: 'TestStore' })
}, TIMEOUT)
afterAll(() => worker?.stop())

/** Returns a number that an object draws when it is loaded into memory. */
async function loadOf(prefix: string, name: string): Promise<string> {
  const place = `http://127.0.0.1:${worker.port}/object?name=${encodeURIComponent(prefix + name)}`
  return (await fetch(place, { headers: { 'x-of-test': 'id' } })).text()
}

const names = ['session:a', 'events:s', 'topic:t', 'counter:k', 'replay:p', 'task:held', 'task:lapsed', 'leases']
const loadsOf = (prefix: string) => Promise.all(names.map((name) => loadOf(prefix, name)))

/** Stores something in each kind of object. Returns the id of an event. */
async function fill(store: CloudflareStore): Promise<string> {
  await store.sessions.create('a', { subject: 's' }, 60_000)
  const start = await store.events.append('s', 'zero')
  await store.events.append('s', 'one')
  await store.bus.publish('t', 'before')
  await store.counters.increment('k', 60_000)
  await store.replays.add('p', 60_000)
  await store.tasks.create('held', 'x', 60_000, { owner: 'one', duration: 60_000 })
  await store.tasks.create('lapsed', 'x', 60_000, { owner: 'one', duration: 1_000 })
  return start
}

/** Requires that all that `fill` has stored is there. */
async function expectAll(store: CloudflareStore, start: string): Promise<void> {
  expect(await store.sessions.get('a')).toEqual({ subject: 's' })
  expect(await store.events.replay(start)).toMatchObject({ events: [{ data: 'one' }], ended: false })
  expect((await store.counters.increment('k', 60_000)).count).toBe(2)
  expect(await store.replays.add('p', 60_000)).toBe(false)
  expect(await store.tasks.get('held')).toMatchObject({ version: 1, data: 'x', owner: 'one' })
  const claim = () => store.tasks.claim({ owner: 'two', duration: 60_000 })
  await expect.poll(claim, { timeout: 5_000 }).toMatchObject({ id: 'lapsed', version: 2, owner: 'two' })
  expect(await claim()).toBeUndefined()
}

describe('objects', { timeout: TIMEOUT }, () => {
  it('that hibernate between two messages keep their state, subscriptions and followers', async () => {
    const prefix = 'idle:'
    const warnings: Error[] = []
    const store = durableObjectStore(objectsAt(worker.port), { prefix, onWarning: (error) => warnings.push(error) })
    const start = await fill(store)
    const asleep = durableObjectStore(objectsAt(worker.port), { prefix: 'asleep:' })
    const asleepStart = await fill(asleep)
    const received: string[] = []
    await store.bus.subscribe(
      't',
      (message) => received.push(message),
      () => received.push('gap'),
    )
    const followed: string[] = []
    const following = (async () => {
      for await (const { data } of store.events.follow(start, new AbortController().signal)) followed.push(data)
    })()
    await expect.poll(() => followed).toEqual(['one'])
    const loads = await loadsOf(prefix)
    await new Promise((resolve) => setTimeout(resolve, IDLE))
    await store.bus.publish('t', 'after')
    await store.events.append('s', 'two')
    await expect.poll(() => [received, followed]).toEqual([['after'], ['one', 'two']])
    const later = await loadsOf(prefix)
    for (const [index, name] of names.entries()) expect(later[index], name).not.toBe(loads[index])
    await expectAll(asleep, asleepStart)
    await store.events.end('s')
    await following
    await store.close()
    const reopened = durableObjectStore(objectsAt(worker.port), { prefix })
    expect(await reopened.events.replay(start)).toMatchObject({
      events: [{ data: 'one' }, { data: 'two' }],
      ended: true,
    })
    expect(warnings).toEqual([])
  })

  it('whose runtime is killed keep what was confirmed', async () => {
    const prefix = 'killed:'
    const start = await fill(durableObjectStore(objectsAt(worker.port), { prefix }))
    await worker.restart()
    await expectAll(durableObjectStore(objectsAt(worker.port), { prefix }), start)
  })
})
