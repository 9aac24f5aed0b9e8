/** JSON values: their types, safe member access, and JSON pointers (RFC 6901). */

/** A JSON Schema as JSON: an object of keywords, or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Whether a value is an object or an array. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether an object has a member of its own. A member that is `undefined` is absent, as in JSON text. */
export function hasMember(value: JsonObject, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name)
}

/** Returns a member of an object or an item of an array. Inherited members are ignored. */
export function getMember(value: unknown, key: string): unknown {
  if (!isContainer(value) || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

/** The name of a value's type in JSON Schema; `integer` counts as `number`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Appends a key to a JSON pointer. */
export function appendToPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The keys of a JSON pointer. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Calls a function and returns `undefined` when it throws. */
export function tryOrUndefined<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
