/** Functions for JSON values that several modules use. */

/** A JSON object. */
export type JsonObject = { [name: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** Returns the elements of an array, and an empty list for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/**
 * Compares two JSON values, including the order of members. Returns true only for equal values, but may return false
 * for equal values whose members have another order.
 */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** Returns a copy without some members. */
export function omit(value: JsonObject, names: Iterable<string>): JsonObject {
  const rest = { ...value }
  for (const name of names) delete rest[name]
  return rest
}

/** Returns the JSON Schema type of a value. Whole numbers are integers. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
