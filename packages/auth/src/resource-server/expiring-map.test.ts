import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryReplayStore } from './dpop.ts'
import { createExpiringMap } from './expiring-map.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('a map whose entries die', () => {
  it('forgets them in their time', () => {
    const map = createExpiringMap<number>(9, 'refuse')
    map.set('a', 1, 10)
    expect(map.get('a')).toBe(1)
    vi.advanceTimersByTime(10)
    expect(map.get('a')).toBeUndefined()
  })

  it('lets the oldest give way, or takes no more, when it is full', () => {
    const giving = createExpiringMap<number>(2, 'forget-oldest')
    const refusing = createExpiringMap<number>(2, 'refuse')
    const taken = ['a', 'b', 'c'].map((key) => [giving.set(key, 1, 10), refusing.set(key, 1, 10)])
    expect(taken).toEqual([
      [true, true],
      [true, true],
      [true, false],
    ])
    expect(['a', 'b', 'c'].map((key) => giving.get(key))).toEqual([undefined, 1, 1])
    vi.advanceTimersByTime(10)
    expect(refusing.set('c', 1, 10)).toBe(true)
  })

  it('finds the dead behind the living when it is full', () => {
    const map = createExpiringMap<number>(2, 'refuse')
    map.set('long', 1, 100)
    map.set('short', 1, 10)
    vi.advanceTimersByTime(10)
    expect(map.set('new', 1, 10)).toBe(true)
    expect(map.get('long')).toBe(1)
  })
})

describe('the memory of proofs', () => {
  it('knows what it has seen, and says when it can take no more', async () => {
    const store = createMemoryReplayStore({ maxIds: 2 })
    expect([store.add('a', 10), store.add('a', 10), store.add('b', 10)]).toEqual([true, false, true])
    expect(() => store.add('c', 10)).toThrow('maxIds')
    vi.advanceTimersByTime(10)
    expect(store.add('a', 10)).toBe(true)
  })
})
