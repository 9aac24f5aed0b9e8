import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ExpiringMap } from './memory-stores.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('a map with expiring entries', () => {
  it('removes expired entries; each use restarts their time', () => {
    const map = new ExpiringMap<number>(9)
    map.set('a', 1, 10)
    vi.advanceTimersByTime(9)
    expect(map.get('a', 10)).toBe(1)
    vi.advanceTimersByTime(9)
    expect(map.get('a')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(map.get('a')).toBeUndefined()
  })

  it('removes expired entries while others are used', () => {
    const dropped: string[] = []
    const map = new ExpiringMap<number>(9, (key) => dropped.push(key))
    map.set('dead', 1, 10)
    map.set('alive', 2, 100)
    vi.advanceTimersByTime(10)
    for (let times = 0; times < 5; times++) expect(map.get('alive')).toBe(2)
    expect(dropped).toEqual(['dead'])
  })

  it('does not return expired entries behind living ones', () => {
    const dropped: string[] = []
    const map = new ExpiringMap<number>(9, (key) => dropped.push(key))
    map.set('long', 1, 100)
    map.set('short', 2, 10)
    vi.advanceTimersByTime(10)
    expect(map.get('short', 50)).toBeUndefined()
    expect(dropped).toEqual(['short'])
  })

  it('drops an expired entry although one that lives longer was deleted before', () => {
    const dropped: string[] = []
    const map = new ExpiringMap<number>(9, (key) => dropped.push(key))
    map.set('long', 1, 100)
    map.set('short', 2, 10)
    map.delete('long')
    vi.advanceTimersByTime(10)
    map.set('other', 3, 100)
    expect(dropped).toEqual(['short'])
  })

  it('evicts the least recently used entry first', () => {
    const map = new ExpiringMap<number>(2)
    map.set('a', 1, 10)
    map.set('b', 2, 10)
    map.get('a')
    map.set('c', 3, 10)
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3])
  })

  it('keeps no memory of earlier uses', () => {
    const map = new ExpiringMap<number>(9)
    map.set('a', 1, 10)
    for (let times = 0; times < 1_000; times++) map.get('a')
    collect()
    const before = process.memoryUsage().heapUsed
    for (let times = 0; times < 100_000; times++) map.get('a')
    collect()
    // A leak would be a table of the map, about 150 bytes per use.
    const left = process.memoryUsage().heapUsed - before
    expect(map.get('a')).toBe(1)
    expect(left).toBeLessThan(2e6)
  })
})
