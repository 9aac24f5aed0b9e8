import { describe, expect, it } from 'vitest'
import { withDefaultLimits } from './limits.ts'

describe('limits', () => {
  it('that are absent or undefined are the defaults', () => {
    const defaults = { a: 1, b: 2 }
    expect(withDefaultLimits(defaults, { a: undefined as never })).toEqual({ a: 1, b: 2 })
    expect(withDefaultLimits(defaults, { b: 0 })).toEqual({ a: 1, b: 0 })
  })

  it('that are invalid are rejected by name', () => {
    for (const a of [Number.NaN, -1, '5' as never]) expect(() => withDefaultLimits({ a: 1 }, { a })).toThrow('limits.a')
  })
})
