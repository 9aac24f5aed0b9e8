/** Formats parts of messages. They may contain values of the schema, but never the checked value. */

import { jsonTypeOf, tryOrUndefined } from './json.ts'

const MAX_LISTED = 10

/** Shortens a string to a number of UTF-16 code units. */
export function truncate(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}

/** Joins words as in `a, b or c`. Ends with `n more` if words were omitted. */
export function joinWithOr(words: readonly string[], omitted = 0): string {
  const listed = omitted > 0 ? [...words, `${omitted} more`] : words
  return listed.length < 2 ? (listed[0] ?? 'nothing') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}`
}

/** Joins the first ten words, and adds the number of further words. */
export function joinFirstWithOr(words: readonly string[]): string {
  return joinWithOr(words.slice(0, MAX_LISTED), words.length - MAX_LISTED)
}

/** Writes a value of the schema as JSON, shortened to 60 characters. */
export function formatValue(value: unknown): string {
  return truncate(tryOrUndefined(() => JSON.stringify(value)) ?? `a certain ${jsonTypeOf(value)}`, 60)
}

/** Writes the first ten values of the schema as JSON, joined by `or`. */
export function formatValues(values: readonly unknown[]): string {
  const words = new Set(values.slice(0, MAX_LISTED).map(formatValue))
  return joinWithOr([...words], values.length - MAX_LISTED)
}

/** Writes a count with its noun: `1 item`, `2 items`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}

/** Appends a key to a path such as `arguments.items[2]["odd key"]`. Shortens long keys and paths. */
export function appendToPath(path: string, key: string | number): string {
  if (path.length > 200) return path.endsWith('...') ? path : `${path}...`
  if (typeof key === 'number') return `${path}[${key}]`
  const name = truncate(key, 60)
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
}
