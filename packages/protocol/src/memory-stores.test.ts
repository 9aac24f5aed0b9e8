import type { EventStore, SessionStore } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemorySessionStore } from './memory-records.ts'
import { createMemoryReplayStore } from './memory-store.ts'
import { createMemoryEventStore } from './memory-stores.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

async function stored(store: EventStore, streamId: string, isEnded = false): Promise<string> {
  const id = await store.append(streamId, '')
  if (isEnded) await store.end(streamId)
  return id
}

describe('the records of all sessions', () => {
  /** The sessions of these that are still there, without using them. */
  async function existing(store: SessionStore, ids: readonly string[]): Promise<string[]> {
    const states = await Promise.all(ids.map((id) => store.get(id)))
    return ids.filter((_, index) => states[index] !== undefined)
  }

  const large = (length = 1_000) => ({ clientInfo: { name: 'x'.repeat(length), version: '1' } })
  const ids = ['a', 'b', 'c', 'd', 'e']

  it('have a limit in bytes: the sessions that were not used for longest go first', async () => {
    const evicted: string[] = []
    const store = createMemorySessionStore({ maxTotalBytes: 3_500, onEvict: (id) => evicted.push(id) })
    for (const id of ['a', 'b', 'c']) await store.create(id, large(), 10_000)
    await store.get('a')
    await store.create('d', large(), 10_000)
    expect([evicted, await existing(store, ids)]).toEqual([['b'], ['a', 'c', 'd']])
    await store.update('a', (state) => void Object.assign(state, large(2_500)))
    expect(await existing(store, ids)).toEqual(['a'])
    await store.create('e', large(10_000), 10_000)
    expect(await existing(store, ids)).toEqual(['e'])
  })

  it('count for nothing when they expire, are dropped or deleted, and for less when they shrink', async () => {
    const store = createMemorySessionStore({ maxTotalBytes: 3_500, maxSessions: 2 })
    for (let count = 0; count < 50; count++) {
      await store.create(`expires ${count}`, large(), 10)
      vi.advanceTimersByTime(11)
      await store.create(`deleted ${count}`, large(), 10)
      await store.delete(`deleted ${count}`)
      await store.create(`shrinks ${count}`, large(), 10)
      await store.update(`shrinks ${count}`, (state) => void Object.assign(state, large(1)))
    }
    for (const id of ['a', 'b']) await store.create(id, large(1_500), 10)
    expect(await existing(store, ids)).toEqual(['a', 'b'])
  })

  it('of the caller that takes the most memory are dropped first, so that others keep theirs', async () => {
    const evicted: string[] = []
    const store = createMemorySessionStore({ maxSessions: 3, onEvict: (id) => evicted.push(id) })
    await store.create('known', { ...large(), subject: 'alice' }, 10_000)
    await store.create('other', { openedFrom: '192.0.2.1' }, 10_000)
    for (const id of ['a', 'b', 'c']) await store.create(id, { ...large(), openedFrom: '192.0.2.2' }, 10_000)
    expect(evicted).toEqual(['a', 'b'])
    expect(await existing(store, ['known', 'other', 'c'])).toHaveLength(3)
    const many = createMemorySessionStore({ maxTotalBytes: 4_000 })
    await many.create('known', { ...large(), subject: 'alice' }, 10_000)
    for (const id of ['a', 'b', 'c', 'd']) await many.create(id, { ...large(), openedFrom: '192.0.2.2' }, 10_000)
    expect(await existing(many, ['known', 'a', 'b', 'c', 'd'])).toEqual(['known', 'c', 'd'])
  })

  it('of callers that take nearly the same memory are dropped by their last use', async () => {
    const evicted: string[] = []
    const store = createMemorySessionStore({ maxSessions: 3, onEvict: (id) => evicted.push(id) })
    for (const id of ['a', 'b', 'c']) await store.create(id, { ...large(), openedFrom: `192.0.2.${id}` }, 10_000)
    await store.get('a')
    await store.create('d', { ...large(), openedFrom: '192.0.2.d' }, 10_000)
    expect(evicted).toEqual(['b'])
  })

  it.each([
    ['objects', [], 18],
    ['items', 1, 64],
  ])('are 32 MiB by default, with the memory of their %s', async (_, item, count) => {
    const store = createMemorySessionStore()
    const list = Array.from({ length: 20_000 }, () => item)
    const many = Array.from({ length: 100 }, (_, index) => `${index}`)
    for (const id of many) await store.create(id, { clientCapabilities: { experimental: { a: { list } } } }, 10_000)
    expect(await existing(store, many)).toHaveLength(count)
  })
})

describe('the events of all streams', () => {
  const large = 'x'.repeat(1_000)

  /** The streams that can still be resumed. */
  async function keptOf(store: EventStore, ids: readonly string[]): Promise<number[]> {
    const replays = await Promise.all(ids.map((id) => store.replay(id)))
    return replays.flatMap((replay, index) => (replay === undefined ? [] : [index]))
  }

  it('have a limit in characters: the complete streams that were not used for longest go first', async () => {
    const store = createMemoryEventStore({ maxTotalCharacters: 10_000 })
    const ids = [await store.append('live', large)]
    for (let count = 1; count < 20; count++) {
      ids.push(await store.append(`ended ${count}`, large))
      await store.end(`ended ${count}`)
    }
    expect(await keptOf(store, ids)).toEqual([0, 12, 13, 14, 15, 16, 17, 18, 19])
  })

  it('then the open streams that were not used for longest, but never the newest', async () => {
    const store = createMemoryEventStore({ maxTotalCharacters: 3_500 })
    const ids: string[] = []
    for (let count = 0; count < 6; count++) ids.push(await store.append(`live ${count}`, large))
    await store.refresh?.('live 3')
    ids.push(await store.append('live 6', large))
    expect(await keptOf(store, ids)).toEqual([3, 5, 6])
    const newest = await store.append('live 7', 'x'.repeat(10_000))
    expect(await store.replay(newest)).toBeDefined()
    expect(await keptOf(store, ids)).toEqual([])
  })

  it('count for nothing when they expire, are dropped or deleted', async () => {
    const store = createMemoryEventStore({ maxTotalCharacters: 3_500, maxStreams: 1, maxEvents: 2, ttl: 10 })
    for (let count = 0; count < 50; count++) {
      await store.append('many events', large)
      if (count % 10 === 9) await store.delete('many events')
      await store.append(`ended ${count}`, large)
      await store.end(`ended ${count}`)
      vi.advanceTimersByTime(count % 3 === 0 ? 11 : 1)
    }
    vi.advanceTimersByTime(11)
    const ids = [await store.append('a', large), await store.append('b', large), await store.append('c', large)]
    expect(await keptOf(store, ids)).toEqual([0, 1, 2])
  })

  it.each([
    ['characters', {}, 30, 'x'.repeat(1_000)],
    ['complete streams', { maxStreams: 20 }, 100, 'x'],
  ])(
    'of the caller that uses the most %s are dropped first, so that others keep theirs',
    async (_, options, count, data) => {
      const store = createMemoryEventStore({ maxTotalCharacters: 10_000, ...options })
      const add = async (stream: string, caller: string, isEnded: boolean) => {
        const id = await store.append(stream, '', caller)
        await store.append(stream, large, caller)
        if (isEnded) await store.end(stream)
        return id
      }
      const ids = [await add('bob', 'bob', true), await add('carol', 'carol', false)]
      for (let n = 0; n < count; n++) {
        await store.append(`alice ${n}`, data, 'alice')
        await store.end(`alice ${n}`)
      }
      expect(await keptOf(store, ids)).toEqual([0, 1])
      const last = await add('dave', 'dave', false)
      expect(await keptOf(store, [...ids, last])).toEqual([0, 1, 2])
    },
  )

  it('are 32 Mi characters by default', async () => {
    const store = createMemoryEventStore()
    const ids: string[] = []
    for (let count = 0; count < 600; count++) {
      ids.push(await store.append(`ended ${count}`, 'x'.repeat(1_000_000)))
      await store.end(`ended ${count}`)
    }
    expect(await keptOf(store, ids)).toHaveLength(33)
  })
})

describe('events in memory', () => {
  it('expire after their time, which restarts when their stream is refreshed', async () => {
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

  it('use the defaults for undefined options', async () => {
    const store = createMemoryEventStore({ ttl: undefined, maxEvents: undefined } as object)
    const first = await store.append('s', '')
    for (let count = 0; count < 1_000; count++) await store.append('s', `${count}`)
    expect(await store.replay(first)).toBeUndefined()
    const last = await store.append('s', '')
    vi.advanceTimersByTime(300_001)
    expect(await store.replay(last)).toBeUndefined()
  })

  it('of open streams are not evicted for ended streams', async () => {
    const store = createMemoryEventStore({ maxStreams: 3 })
    const live = [await stored(store, 'live 1'), await stored(store, 'live 2')]
    const ended: string[] = []
    for (let count = 0; count < 20; count++) ended.push(await stored(store, `ended ${count}`, true))
    for (const id of live) expect(await store.replay(id)).toMatchObject({ ended: false })
    const known = await Promise.all(ended.map((id) => store.replay(id)))
    expect(known.map((replay) => replay?.ended ?? false).lastIndexOf(false)).toBe(16)
  })

  it('of open streams are bounded too, and the most recently refreshed streams stay', async () => {
    const store = createMemoryEventStore({ maxLive: 2 })
    const [first, second] = [await stored(store, 'a'), await stored(store, 'b')]
    await store.refresh?.('a')
    const third = await stored(store, 'c')
    expect(await store.replay(second)).toBeUndefined()
    for (const id of [first, third]) expect(await store.replay(id)).toBeDefined()
  })
})

describe('the options of the stores in memory', () => {
  it.each([Number.NaN, -1, '5'])('refuse the number %s by name', (value) => {
    const option = (name: string) => ({ [name]: value }) as object
    const expected = (name: string) => `${name}: expected a number from 0, got ${value}`
    for (const name of ['maxSessions', 'maxTotalBytes'])
      expect(() => createMemorySessionStore(option(name))).toThrow(expected(`createMemorySessionStore: ${name}`))
    for (const name of ['ttl', 'maxStreams', 'maxLive', 'maxEvents', 'maxCharacters', 'maxTotalCharacters'])
      expect(() => createMemoryEventStore(option(name))).toThrow(expected(`createMemoryEventStore: ${name}`))
    expect(() => createMemoryReplayStore(option('maxIds'))).toThrow(expected('createMemoryReplayStore: maxIds'))
  })

  it('that do not exist are refused', () => {
    expect(() => createMemorySessionStore({ maxSession: 5 } as object)).toThrow('did you mean "maxSessions"?')
    expect(() => createMemoryEventStore({ maxEvent: 5 } as object)).toThrow('did you mean "maxEvents"?')
  })
})
