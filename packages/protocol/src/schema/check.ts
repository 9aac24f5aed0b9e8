/** Checks a value against a schema and says in one sentence what is wrong; zod's own texts, and its locales, stay out. */

import { type core, safeParse } from 'zod/mini'
import { kindOf } from '../jsonrpc/check.ts'
import { quoted } from '../jsonrpc/errors.ts'
import type { Schema } from './define.ts'

/** The value, or why it is not one. */
export type Checked<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string }

/** What is wrong at one place. `expected` names types, or words in quotes. */
interface Flaw {
  path: PropertyKey[]
  expected: string[]
}

const MOST_FLAWS = 3
const MOST_WORDS = 12

/**
 * Checks a value. A problem reads `params.name: expected string, got number`: it names places and kinds, never
 * values, and at most three flaws of many. `root` is what the place of the value itself is called.
 */
export function check<T>(schema: Schema<T>, value: unknown, root = ''): Checked<T> {
  const result = safeParse(schema, value)
  if (result.success) return { value: result.data }
  const { issues } = result.error
  const texts = issues.slice(0, MOST_FLAWS).map((issue) => describe(flawOf(issue, []), value, root))
  if (issues.length > MOST_FLAWS) texts.push(`${issues.length - MOST_FLAWS} more`)
  return { problem: texts.join('; ') }
}

/** `params.tools[0].name`; names that are not plain words are shortened and quoted. */
export function placeOf(path: readonly PropertyKey[], root: string): string {
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

function flawOf(issue: core.$ZodIssue, above: PropertyKey[]): Flaw {
  const path = [...above, ...issue.path]
  if (issue.code === 'invalid_union') {
    return likeliest(
      issue.errors.map((branch) => branch.map((each) => flawOf(each, path))),
      path.length,
    )
  }
  if (issue.code === 'invalid_value') return { path, expected: issue.values.map((word) => quoted(String(word))) }
  if (issue.code === 'invalid_type') return { path, expected: [typeNames[issue.expected] ?? issue.expected] }
  return { path, expected: [issue.message] }
}

const typeNames: Readonly<Record<string, string>> = { record: 'object', nonoptional: 'a value' }

/**
 * Of what is wrong with each shape of a union, what the sender most likely meant: the shape of the right kind, with
 * the right tag and the fewest flaws. Where none has those, what all of them expect in that place.
 */
function likeliest(branches: readonly Flaw[][], depth: number): Flaw {
  const meant = branches.filter((flaws) => !flaws.some((flaw) => isKind(flaw, depth) || isTag(flaw, depth)))
  if (meant.length > 0) return meant.reduce((best, flaws) => (flaws.length < best.length ? flaws : best))[0] as Flaw
  const flaws = branches.flat()
  const tagged = flaws.filter((flaw) => isTag(flaw, depth))
  const same = tagged.length > 0 ? tagged : flaws.filter((flaw) => isKind(flaw, depth))
  return { path: (same[0] as Flaw).path, expected: same.flatMap(({ expected }) => expected) }
}

/** The value is of another kind altogether. */
function isKind({ path }: Flaw, depth: number): boolean {
  return path.length === depth
}

/** The member that tells the shapes of a union apart says something else. */
function isTag({ path }: Flaw, depth: number): boolean {
  return path.length === depth + 1 && tags.has(path[depth] as PropertyKey)
}

const tags: ReadonlySet<PropertyKey> = new Set(['type', 'method', 'mode'])
