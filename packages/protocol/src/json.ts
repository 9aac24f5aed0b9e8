/** Parts of error messages about JSON values: types and places. Messages never contain a value. */

/** Returns the type of a value for messages, such as `string`, `null` or `array`. `nothing` means undefined. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value === undefined) return 'nothing'
  return typeof value
}

/** Returns whether a value is a JSON object: not null, and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the type of a value for messages. A string is `another string` if quoted literals are expected, such as `"2.0"`. */
export function mismatchedKind(expected: string, value: unknown): string {
  return typeof value === 'string' && /^(?:one of )?"/.test(expected) ? 'another string' : kindOf(value)
}

/** Returns a sentence such as `params: expected object, got array`. */
export function unexpected(place: string, expected: string, value: unknown): string {
  return `${place}: expected ${expected}, got ${mismatchedKind(expected, value)}`
}

/** Returns a sentence about a value that is not a safe integer. */
export function notInteger(place: string, expected: string, value: unknown): string {
  if (typeof value !== 'number') return unexpected(place, expected, value)
  return Number.isInteger(value)
    ? `${place}: expected an integer within ±(2^53−1), got a larger one`
    : `${place}: expected ${expected}, got a number that is not an integer`
}

/** Returns a sentence such as `id: expected at most 1024 characters, got 4000`. */
export function tooLong(place: string, limit: number, value: string): string {
  return `${place}: expected at most ${limit} characters, got ${value.length}`
}

const MAX_QUOTED_LENGTH = 100

/** Quotes and shortens a name that a peer sent, so that it is safe to print. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH)}…` : name)
}

/** Returns a path such as `params.tools[0].name`. Names that are not identifiers are shortened and quoted. */
export function placeOf(path: readonly PropertyKey[], root: string): string {
  const place = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    const name = String(key)
    return /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? `.${name}` : `[${quoted(name)}]`
  })
  const text = root + place.join('')
  return text.startsWith('.') ? text.slice(1) : text
}
