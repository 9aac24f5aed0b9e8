/** Keywords that compare values of one type with a limit. */

import type { Maker } from '../node.ts'
import { fail, type Run } from '../run.ts'
import { count } from '../words.ts'

export function assertion<Value, Limit>(
  concerns: (value: unknown) => value is Value,
  fits: (value: Value, limit: Limit, run: Run) => boolean,
  say: (limit: Limit, value: Value) => string,
): Maker<Limit> {
  return (limit) => (value, run) => !concerns(value) || fits(value, limit, run) || fail(run, say, limit, value)
}

/** A least or a most size. */
export function sized<Value>(
  bound: 'least' | 'most',
  concerns: (value: unknown) => value is Value,
  sizeOf: (value: Value, run: Run) => number,
  thing: string,
  things?: string,
): Maker<number> {
  return (limit) => (value, run) => {
    if (!concerns(value)) return true
    const size = sizeOf(value, run)
    const fits = bound === 'least' ? size >= limit : size <= limit
    return fits || fail(run, (most) => `expected at ${bound} ${count(most, thing, things)}, got ${size}`, limit, value)
  }
}
