/**
 * Writes values of handlers as JSON. Refuses values that would become empty objects in JSON, such as a Map or a
 * promise.
 */

import { isObject, placeOf } from '@mcpx/protocol'
import { ResultError } from './errors.ts'

/** Writes a value as JSON. Throws a `ResultError` that names the place for a value that JSON cannot express. */
export function toJson(value: unknown, place = 'result'): string {
  if (!isPlainJson(value)) refuseLostValues(value, place)
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new ResultError(`${place}: a ${typeof value} cannot be written as JSON`)
  return json
}

/** The depth at which `isPlainJson` stops. Deeper or cyclic values are converted by `JSON.stringify`, which handles them. */
const PLAIN_DEPTH = 500

/**
 * Returns whether a value is the same after it was written as JSON and parsed. Also returns false for values that are
 * slow to check, such as class instances.
 */
export function isPlainJson(value: unknown, depth: number = PLAIN_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  if (depth === 0 || hasToJson(value)) return false
  if (Array.isArray(value)) {
    // Do not use `every`, which skips holes.
    for (const item of value) if (!isPlainJson(item, depth - 1)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((member) => member === undefined || isPlainJson(member, depth - 1))
}

function hasToJson(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

/** Throws a `ResultError` for the first value, at any depth, that JSON cannot express or would write as an empty object. */
export function refuseLostValues(root: unknown, place: string): void {
  const seen = new Set<object>()
  const waiting: { value: unknown; path: readonly PropertyKey[] }[] = [{ value: root, path: [] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next
    const lost = lostValue(value)
    if (lost !== undefined) throw new ResultError(`${placeOf(path, place)}: ${lost}`)
    if (typeof value !== 'object' || value === null || hasToJson(value) || seen.has(value)) continue
    seen.add(value)
    const members = Object.entries(value).map(([key, member]) => {
      return { value: member, path: [...path, Array.isArray(value) ? Number(key) : key] }
    })
    waiting.push(...members.reverse())
  }
}

/** The remedies for values that JSON would write as empty objects, by the name of their class. */
const REMEDIES: Readonly<Record<string, string>> = {
  Map: 'return Object.fromEntries(map)',
  Set: 'return an array: [...set]',
  Promise: 'write `await` before it',
  Response: 'return `await response.json()` or `await response.text()`',
  Headers: 'return Object.fromEntries(headers)',
}

const DEFAULT_REMEDY = 'return a plain object, or give it a method toJSON()'

/** Describes a value whose contents JSON would lose, with a remedy. Returns undefined for all other values. */
function lostValue(value: unknown): string | undefined {
  if (typeof value === 'bigint') return 'a bigint cannot be written as JSON; return a string or a number'
  if (!isObject(value) || hasToJson(value)) return undefined
  if (value instanceof Error) return 'an Error would be sent without its message; throw it, or return error.message'
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return 'bytes cannot be written as JSON; return them with image(), audio() or resource()'
  }
  if (typeof value.next === 'function') {
    return 'an iterator or generator would be sent empty; collect its values, and report progress with ctx.progress()'
  }
  const prototype: object | null = Object.getPrototypeOf(value)
  // Accept plain objects of other realms, too: the prototype of their prototype is null.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null
  if (isPlain || Object.keys(value).length > 0) return undefined
  const name = value.constructor?.name || 'object'
  const article = /^[AEIOU]/i.test(name) ? 'an' : 'a'
  return `${article} ${name} would be sent empty; ${Object.hasOwn(REMEDIES, name) ? REMEDIES[name] : DEFAULT_REMEDY}`
}
