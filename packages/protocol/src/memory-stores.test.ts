import type { EventStore } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryEventStore } from './memory-stores.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

async function stored(store: EventStore, streamId: string, isEnded = false): Promise<string> {
  const id = await store.append(streamId, '')
  if (isEnded) await store.end(streamId)
  return id
}

describe('events in memory', () => {
  it('are forgotten in their time, which begins again whenever their stream is refreshed', async () => {
    const store = createMemoryEventStore({ ttl: 10 })
    const [kept, forgotten] = [await stored(store, 'kept'), await stored(store, 'forgotten')]
    for (let times = 0; times < 3; times++) {
      vi.advanceTimersByTime(9)
      await store.refresh?.('kept')
    }
    expect(await store.replay(kept)).toMatchObject({ streamId: 'kept' })
    expect(await store.replay(forgotten)).toBeUndefined()
    await store.refresh?.('forgotten')
    expect(await store.replay(forgotten)).toBeUndefined()
  })

  it('have the defaults of options that are there and undefined', async () => {
    const store = createMemoryEventStore({ ttl: undefined, maxEvents: undefined } as object)
    const first = await store.append('s', '')
    for (let count = 0; count < 1_000; count++) await store.append('s', `${count}`)
    expect(await store.replay(first)).toBeUndefined()
    const last = await store.append('s', '')
    vi.advanceTimersByTime(300_001)
    expect(await store.replay(last)).toBeUndefined()
  })

  it('of streams that go on give way to no stream that has ended', async () => {
    const store = createMemoryEventStore({ maxStreams: 3 })
    const live = [await stored(store, 'live 1'), await stored(store, 'live 2')]
    const ended: string[] = []
    for (let count = 0; count < 20; count++) ended.push(await stored(store, `ended ${count}`, true))
    for (const id of live) expect(await store.replay(id)).toMatchObject({ ended: false })
    const known = await Promise.all(ended.map((id) => store.replay(id)))
    expect(known.map((replay) => replay?.ended ?? false).lastIndexOf(false)).toBe(16)
  })

  it('of streams that go on are bounded too, and those that were refreshed last stay', async () => {
    const store = createMemoryEventStore({ maxLive: 2 })
    const [first, second] = [await stored(store, 'a'), await stored(store, 'b')]
    await store.refresh?.('a')
    const third = await stored(store, 'c')
    expect(await store.replay(second)).toBeUndefined()
    for (const id of [first, third]) expect(await store.replay(id)).toBeDefined()
  })
})
