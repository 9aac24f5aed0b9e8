/** Words for what is asked for and what is there instead. They never hold the value itself. */

import { attempt } from './attempt.ts'
import { excerpt } from './schema-error.ts'

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** `a, b or c`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? 'nothing') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** A value from the schema, as far as it is short. */
export function literal(value: unknown): string {
  return excerpt(attempt(() => JSON.stringify(value)) ?? `a certain ${typeOf(value)}`, 60)
}

export function literals(values: readonly unknown[]): string {
  const shown = [...new Set(values.slice(0, 10).map(literal))]
  return either(values.length > 10 ? [...shown, `${values.length - 10} more`] : shown)
}

/** The first ten of many words. */
export function someOf(words: readonly string[]): string {
  return either(words.length > 10 ? [...words.slice(0, 10), `${words.length - 10} more`] : words)
}

/** `1 item`, `2 items`. */
export function count(number: number, thing: string, things = `${thing}s`): string {
  return `${number} ${number === 1 ? thing : things}`
}
