import { describe, expect, it } from 'vitest'
import { evaluate } from './evaluate.ts'
import { resolveLimits } from './limits.ts'

describe('a check that throws an unexpected error', () => {
  const check = () => {
    throw new TypeError('a bug of a keyword')
  }

  it('is not reported as a value that is not JSON', () => {
    expect(() => evaluate({ check }, resolveLimits({}), { a: 1 }, 'value')).toThrow('a bug of a keyword')
  })

  it('is reported as such for a value that cannot be written as JSON', () => {
    const problem = { path: 'value', message: 'expected a JSON value, got object that JSON cannot represent' }
    const value = { a: 1n }
    expect(evaluate({ check }, resolveLimits({}), value, 'value')).toEqual({ valid: false, problems: [problem] })
  })
})
