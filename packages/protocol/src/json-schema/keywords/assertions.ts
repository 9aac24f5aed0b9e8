/** Keywords that compare values of one type with a limit. */

import type { Maker } from '../node.ts'
import { fail } from '../run.ts'
import { count } from '../words.ts'

export function assertion<Value, Limit>(
  concerns: (value: unknown) => value is Value,
  fits: (value: Value, limit: Limit) => boolean,
  say: (limit: Limit, value: Value) => string,
): Maker<Limit> {
  return (limit) => (value, run) => !concerns(value) || fits(value, limit) || fail(run, say, limit, value)
}

/** A least or a most size. */
export function sized<Value>(
  bound: 'least' | 'most',
  concerns: (value: unknown) => value is Value,
  sizeOf: (value: Value) => number,
  thing: string,
  things?: string,
): Maker<number> {
  return assertion(
    concerns,
    (value, limit) => (bound === 'least' ? sizeOf(value) >= limit : sizeOf(value) <= limit),
    (limit, value) => `expected at ${bound} ${count(limit, thing, things)}, got ${sizeOf(value)}`,
  )
}
