import { expect, it } from 'vitest'
import { SharedLimit } from './shared-limit.ts'

it('grants one caller its share, and the rest to others', () => {
  const limit = new SharedLimit(100, 0.25)
  expect([limit.take('a', 20), limit.take('a', 5), limit.take('a')]).toEqual([undefined, undefined, 'caller'])
  expect([limit.take('b', 25), limit.take('c', 25), limit.take('d', 25)]).toEqual([undefined, undefined, undefined])
  expect(limit.take('e')).toBe('total')
  limit.give('a', 10)
  expect([limit.take('e', 10), limit.take('a', 1)]).toEqual([undefined, 'total'])
})

it('limits callers that are not known by the total only', () => {
  const limit = new SharedLimit(100, 0.25)
  expect([limit.take(undefined, 100), limit.take(undefined)]).toEqual([undefined, 'total'])
})

it('grants 16 of a small limit to each caller', () => {
  expect(new SharedLimit(2, 0.25).perCaller).toBe(2)
  expect(new SharedLimit(40, 0.25).perCaller).toBe(16)
  expect(new SharedLimit(0, 0.25).take('a')).toBe('total')
})

it('forgets callers that use nothing, and counts the others still', () => {
  const limit = new SharedLimit(1_000_000, 0.001)
  expect(limit.take('stays', 1_000)).toBeUndefined()
  for (let n = 0; n < 5_000; n++) {
    limit.take(`caller ${n}`)
    limit.give(`caller ${n}`)
  }
  expect(limit.take('stays')).toBe('caller')
})
