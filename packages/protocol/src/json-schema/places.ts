/** Places in a schema or a value, written as JSON pointers (RFC 6901). */

/** The place of a member. */
export function placeIn(place: string, key: string | number): string {
  return `${place}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The keys on the way to a place. */
export function keysOf(place: string): string[] {
  return place
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** A member of an object or an item of a list, by its own key only. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
