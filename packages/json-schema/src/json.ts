/** Functions for JSON values: types, safe member access, and JSON pointers (RFC 6901). */

/** A JSON Schema as JSON: an object of keywords, or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Returns whether a value is an object or an array. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns whether an object has an own member. Undefined members do not count, because JSON omits them. */
export function hasMember(value: JsonObject, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name)
}

/** Returns a member of an object or an item of an array. Inherited members are ignored. */
export function getMember(value: unknown, key: string): unknown {
  if (!isContainer(value) || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

/** Returns the JSON Schema type of a value. Integers are `number`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Appends a key to a JSON pointer. */
export function appendToPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the keys of a JSON pointer. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Calls a function. Returns undefined if it throws. */
export function tryOrUndefined<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
