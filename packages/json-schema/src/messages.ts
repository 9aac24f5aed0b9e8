/** Parts of messages. They may show values of the schema, but never the value that is checked. */

import { jsonTypeOf, tryOrUndefined } from './json.ts'

const MAX_LISTED = 10

/** Cuts a string that a peer wrote to a number of UTF-16 code units. */
export function truncate(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}

/** `a, b or c`. Ends with `n more` when words were omitted. */
export function joinWithOr(words: readonly string[], omitted = 0): string {
  const listed = omitted > 0 ? [...words, `${omitted} more`] : words
  return listed.length < 2 ? (listed[0] ?? 'nothing') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}`
}

/** The same for any number of words. Lists the first ten. */
export function joinFirstWithOr(words: readonly string[]): string {
  return joinWithOr(words.slice(0, MAX_LISTED), words.length - MAX_LISTED)
}

/** A value of the schema as JSON, cut to 60 characters. */
export function formatValue(value: unknown): string {
  return truncate(tryOrUndefined(() => JSON.stringify(value)) ?? `a certain ${jsonTypeOf(value)}`, 60)
}

/** Values of the schema as JSON, joined by `or`. Formats the first ten only. */
export function formatValues(values: readonly unknown[]): string {
  const words = new Set(values.slice(0, MAX_LISTED).map(formatValue))
  return joinWithOr([...words], values.length - MAX_LISTED)
}

/** `1 item`, `2 items`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}

/** Appends a key to a path such as `arguments.items[2]["odd key"]`. Cuts long keys and long paths. */
export function appendToPath(path: string, key: string | number): string {
  if (path.length > 200) return path.endsWith('...') ? path : `${path}...`
  if (typeof key === 'number') return `${path}[${key}]`
  const name = truncate(key, 60)
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
}
