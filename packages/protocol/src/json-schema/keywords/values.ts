/** `type`, `const` and `enum`: what a value is, whatever is in it. */

import type { Family, Maker } from '../node.ts'
import { type Asked, type Check, fail, type Run, spend } from '../run.ts'
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

export const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A list or an object as a text that is the same for all that are the same JSON value. */
export function textOf(value: unknown, run: Run): string {
  if (!isNested(value)) {
    isJson(value, run, undefined)
    const text = JSON.stringify(value)
    spend(run, text.length >> 4)
    return text
  }
  if (Array.isArray(value)) {
    spend(run, value.length)
    return `[${value.map((item) => textOf(item, run))}]`
  }
  const names = Object.keys(value).filter((name) => value[name as never] !== undefined)
  spend(run, names.length * 4)
  return `{${names.sort().map((name) => `${textOf(name, run)}:${textOf(value[name as never], run)}`)}}`
}

const oneOfValues: Maker<readonly unknown[]> = (values) => {
  const known = new Set(values)
  const kinds = new Set(values.map(typeOf))
  const nested = values.filter(isNested)
  // Made for the first value that may be one of them: only there is a text that never ends a problem of the value.
  let texts: Set<string> | undefined
  const words = literals(values)
  const asked: Asked = { what: 'value', words: [words] }
  const say = (_: number, value: unknown) => {
    const found = typeOf(value)
    return `expected ${words}, got ${value !== null && kinds.has(found) ? 'another ' : ''}${found}`
  }
  return (value, run) => {
    if (known.has(value)) return true
    if (nested.length > 0 && isNested(value)) {
      texts ??= new Set(nested.map((allowed) => textOf(allowed, run)))
      if (texts.has(textOf(value, run))) return true
    }
    return fail(run, say, 0, value, asked)
  }
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
