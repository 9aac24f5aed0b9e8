import { expect, it } from 'vitest'
import { SharedLimit } from './shared-limit.ts'

it('grants one caller its share, and the rest to others', () => {
  const limit = new SharedLimit(100, 0.25)
  expect([limit.acquire('a', 20), limit.acquire('a', 5), limit.acquire('a')]).toEqual([undefined, undefined, 'caller'])
  expect([limit.acquire('b', 25), limit.acquire('c', 25), limit.acquire('d', 25)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(limit.acquire('e')).toBe('total')
  limit.release('a', 10)
  expect([limit.acquire('e', 10), limit.acquire('a', 1)]).toEqual([undefined, 'total'])
})

it('limits callers that are not known by the total only', () => {
  const limit = new SharedLimit(100, 0.25)
  expect([limit.acquire(undefined, 100), limit.acquire(undefined)]).toEqual([undefined, 'total'])
})

it('grants 16 of a small limit to each caller', () => {
  expect(new SharedLimit(2, 0.25).perCaller).toBe(2)
  expect(new SharedLimit(40, 0.25).perCaller).toBe(16)
  expect(new SharedLimit(0, 0.25).acquire('a')).toBe('total')
})

it('forgets callers that use nothing, and counts the others still', () => {
  const limit = new SharedLimit(1_000_000, 0.001)
  expect(limit.acquire('stays', 1_000)).toBeUndefined()
  for (let n = 0; n < 5_000; n++) {
    limit.acquire(`caller ${n}`)
    limit.release(`caller ${n}`)
  }
  expect(limit.acquire('stays')).toBe('caller')
})
