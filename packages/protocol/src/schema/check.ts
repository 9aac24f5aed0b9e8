/** Checks a value against a schema and says in one sentence what is wrong. */

import { kindOf } from '../jsonrpc/check.ts'
import { quoted } from '../jsonrpc/errors.ts'
import type { Flaw, Path, Schema } from './define.ts'

/** The value, or why it is not one. */
export type Checked<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string }

const MOST_FLAWS = 3
const MOST_WORDS = 12

export function check<T>(schema: Schema<T>, value: unknown, root = ''): Checked<T> {
  if (schema.fits(value)) return { value: value as T }
  const flaws = schema.flawsOf(value, [], MOST_FLAWS + 1)
  const texts = flaws.slice(0, MOST_FLAWS).map((flaw) => describe(flaw, value, root))
  if (flaws.length > MOST_FLAWS) texts.push('and more')
  return { problem: texts.join('; ') }
}

/** `params.tools[0].name`; names that are not plain words are shortened and quoted. */
export function placeOf(path: Path, root: string): string {
  const place = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    const name = String(key)
    return /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? `.${name}` : `[${quoted(name)}]`
  })
  const text = root + place.join('')
  return text.startsWith('.') ? text.slice(1) : text
}

function describe(flaw: Flaw, value: unknown, root: string): string {
  const found = flaw.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value)
  const place = placeOf(flaw.path, root)
  const problem = `expected ${wordsOf(flaw.expected)}, got ${kindOf(found)}`
  return place === '' ? problem : `${place}: ${problem}`
}

function wordsOf(expected: readonly string[]): string {
  const words = [...new Set(expected)]
  if (words.length === 1) return words[0] as string
  const shown = words.slice(0, MOST_WORDS).join(', ')
  return `one of ${shown}${words.length > MOST_WORDS ? ' …' : ''}`
}
