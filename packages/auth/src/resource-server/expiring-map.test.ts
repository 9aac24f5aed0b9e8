import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryReplayStore } from './dpop.ts'
import { ExpiringMap } from './expiring-map.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('ExpiringMap', () => {
  it('drops entries when they expire', () => {
    const map = new ExpiringMap<number>(9, 'refuse')
    map.set('a', 1, 10)
    expect(map.get('a')).toBe(1)
    vi.advanceTimersByTime(10)
    expect(map.get('a')).toBeUndefined()
  })

  it('drops the oldest entry or refuses new ones when it is full', () => {
    const dropping = new ExpiringMap<number>(2, 'drop-oldest')
    const refusing = new ExpiringMap<number>(2, 'refuse')
    const stored = ['a', 'b', 'c'].map((key) => [dropping.set(key, 1, 10), refusing.set(key, 1, 10)])
    expect(stored).toEqual([
      [true, true],
      [true, true],
      [true, false],
    ])
    expect(['a', 'b', 'c'].map((key) => dropping.get(key))).toEqual([undefined, 1, 1])
    vi.advanceTimersByTime(10)
    expect(refusing.set('c', 1, 10)).toBe(true)
  })

  it('finds expired entries behind others when it is full', () => {
    const map = new ExpiringMap<number>(2, 'refuse')
    map.set('long', 1, 100)
    map.set('short', 1, 10)
    vi.advanceTimersByTime(10)
    expect(map.set('new', 1, 10)).toBe(true)
    expect(map.get('long')).toBe(1)
  })
})

describe('createMemoryReplayStore', () => {
  it('finds stored ids, and throws when it is full', async () => {
    const store = createMemoryReplayStore({ maxIds: 2 })
    expect([store.add('a', 10), store.add('a', 10), store.add('b', 10)]).toEqual([true, false, true])
    expect(() => store.add('c', 10)).toThrow('maxIds')
    vi.advanceTimersByTime(10)
    expect(store.add('a', 10)).toBe(true)
  })
})
