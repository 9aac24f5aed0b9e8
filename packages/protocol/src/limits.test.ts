import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator } from './json-schema.ts'
import { withDefaultLimits } from './limits.ts'

describe('limits', () => {
  it('that are absent or undefined are the defaults', () => {
    const defaults = { a: 1, b: 2 }
    expect(withDefaultLimits(defaults, { a: undefined as never })).toEqual({ a: 1, b: 2 })
    expect(withDefaultLimits(defaults, { b: 0 })).toEqual({ a: 1, b: 0 })
  })

  it('that bound nothing are refused by name', () => {
    for (const a of [Number.NaN, -1, '5' as never]) expect(() => withDefaultLimits({ a: 1 }, { a })).toThrow('limits.a')
    expect(() => createJsonSchemaValidator({ maxDepth: Number.NaN })).toThrow('limits.maxDepth')
  })

  it('of the validator hold when undefined is given', () => {
    const validator = createJsonSchemaValidator({ maxDepth: undefined as never })
    expect(validator.compile({ type: 'string' })('x').valid).toBe(true)
  })
})
