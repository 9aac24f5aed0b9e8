/** `type`, `const` and `enum`: what a value is, whatever is in it. */

import type { Family, Maker } from '../node.ts'
import { type Asked, type Check, fail } from '../run.ts'
import { either, literals, typeOf } from '../words.ts'
import { anything, isSetOf } from './shapes.ts'

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const isType = (value: unknown) => types.includes(value as string)

const sayType = (expected: readonly string[], value: unknown) => {
  const fraction = typeof value === 'number' && expected.includes('integer')
  return `expected ${either(expected)}, got ${fraction ? 'a number with a fraction' : typeOf(value)}`
}

/** Lets pass all that `JSON.parse` can give, and throws at everything else. */
export const isJson: Check = (value) => {
  if (['object', 'string', 'number', 'boolean'].includes(typeof value)) return true
  throw new TypeError('no JSON')
}

const type: Maker<string | readonly string[]> = (given) => {
  const expected = [given].flat()
  const asked: Asked = { what: 'type', words: expected }
  // Settles most values at once. Lists and null are no objects here, and the other names are none of `typeof`.
  const plain = given === 'object' ? '' : given
  return (value, run, seen) =>
    typeof value === plain ||
    expected.includes(typeOf(value)) ||
    (expected.includes('integer') && Number.isInteger(value)) ||
    (isJson(value, run, seen) && fail(run, sayType, expected, value, asked))
}

/** Whether two JSON values are the same value. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const keys = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key as never], other[key as never]))
  )
}

const sayValue = (values: readonly unknown[], value: unknown) => {
  const found = typeOf(value)
  const another = value !== null && values.some((allowed) => typeOf(allowed) === found)
  return `expected ${literals(values)}, got ${another ? 'another ' : ''}${found}`
}

const oneOfValues: Maker<readonly unknown[]> = (values) => {
  const known = new Set(values)
  const asked: Asked = { what: 'value', words: [literals(values)] }
  return (value, run) =>
    known.has(value) ||
    (typeof value === 'object' && values.some((allowed) => isEqual(allowed, value))) ||
    fail(run, sayValue, values, value, asked)
}

export const values: Family = {
  type: [
    [
      `one of ${types.join(', ')}, or a list of different ones`,
      (value) => isType(value) || (isSetOf(value, isType) && (value as unknown[]).length > 0),
    ],
    type,
  ],
  const: [anything, (value, ...rest) => oneOfValues([value], ...rest)],
  enum: [['a list', Array.isArray], oneOfValues],
}
