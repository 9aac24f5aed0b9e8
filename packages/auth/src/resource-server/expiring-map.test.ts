import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ExpiringMap } from './expiring-map.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('ExpiringMap', () => {
  it('drops entries when they expire', () => {
    const map = new ExpiringMap<number>(9)
    map.set('a', 1, 10)
    expect(map.get('a')).toBe(1)
    vi.advanceTimersByTime(10)
    expect(map.get('a')).toBeUndefined()
  })

  it('drops the oldest entry when it is full', () => {
    const map = new ExpiringMap<number>(2)
    for (const key of ['a', 'b', 'c']) map.set(key, 1, 10)
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([undefined, 1, 1])
  })
})
