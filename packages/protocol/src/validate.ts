/** Checks values with zod schemas, describes the problems in one sentence, and limits the work for hostile values. */

import * as z from 'zod/mini'
import { isObject, mismatchedKind, placeOf } from './json.ts'

/** A zod schema for values of type T, from `zod` or `zod/mini`. */
export type Schema<T = unknown> = z.core.$ZodType<T>

/** The type of the values of a schema. */
export type Infer<S extends Schema> = z.output<S>

/** A value, or the problem with it. */
export type Checked<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string }

/**
 * Checks a value. Returns the value itself, not a copy, or a sentence about its first problems. Never throws for schemas of
 * this package and JSON values.
 */
export function check<T>(schema: Schema<T>, value: unknown, root = ''): Checked<T> {
  const problem = problemOf(schema, value, root)
  return problem === undefined ? { value: value as T } : { problem }
}

const MAX_FLAWS = 3
const MAX_NAMED = 12

/**
 * Describes at most three problems of a value in one sentence, such as `params.name: expected string, got number`. Returns
 * undefined if it is valid.
 */
export function problemOf(schema: Schema, value: unknown, root = ''): string | undefined {
  const flaws = flawsIn(schema, value)
  if (flaws.length === 0) return undefined
  const sentences = flaws.slice(0, MAX_FLAWS).map((flaw) => describe(flaw, value, root))
  if (flaws.length > MAX_FLAWS) sentences.push('and more')
  return sentences.join('; ')
}

/** One problem, with its place and the expected types or quoted literals. */
interface Flaw {
  readonly path: readonly PropertyKey[]
  readonly expected: readonly string[]
  /** A custom message of the schema. */
  readonly message?: string
}

function describe({ path, expected, message }: Flaw, value: unknown, root: string): string {
  const found = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value)
  const place = placeOf(path, root)
  const hasLength = typeof found === 'string' && expected[0]?.endsWith(' characters')
  const kinds = anyOf(expected)
  const problem = message ?? `expected ${kinds}, got ${hasLength ? found.length : mismatchedKind(kinds, found)}`
  return place === '' ? problem : `${place}: ${problem}`
}

function anyOf(expected: readonly string[]): string {
  const distinct = [...new Set(expected)]
  if (distinct.length === 1) return distinct[0] as string
  return `one of ${distinct.slice(0, MAX_NAMED).join(', ')}${distinct.length > MAX_NAMED ? ' …' : ''}`
}

/** The prefix of messages that are merged into one sentence. */
const EXPECTED = 'expected '

/** Creates the error message of a zod schema for a type that zod has no name for, such as `integer`. */
/* @__NO_SIDE_EFFECTS__ */
export function expected(kind: string): { error: string } {
  return { error: EXPECTED + kind }
}

function flawsIn(schema: Schema, value: unknown): Flaw[] {
  const error = (issue: z.core.$ZodRawIssue) =>
    EXPECTED + (issue.code === 'invalid_type' ? issue.expected : 'a valid value')
  const result = z.safeParse(schema, value, { error })
  return result.success ? [] : result.error.issues.flatMap(flawsOf)
}

function flawsOf(issue: z.core.$ZodIssue): Flaw[] {
  const { path, message } = issue
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const flaw = likeliest(issue.errors.map((branch) => branch.flatMap(flawsOf)))
    return [{ ...flaw, path: [...path, ...flaw.path] }]
  }
  if (!message.startsWith(EXPECTED)) return [{ path, expected: [], message }]
  if (issue.code !== 'invalid_value') return [{ path, expected: [message.slice(EXPECTED.length)] }]
  return [{ path, expected: issue.values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))) }]
}

/**
 * Selects the flaw of a union that the sender most likely has to correct. It is the first flaw of the option with the
 * right type, the right tag and the fewest flaws. If there is no such option, returns a flaw with all expected tags or
 * types.
 */
function likeliest(options: readonly (readonly Flaw[])[]): Flaw {
  const isKind = ({ path }: Flaw) => path.length === 0
  const isTag = ({ path }: Flaw) => path.length === 1 && TAGS.includes(path[0] as PropertyKey)
  const [meant] = options
    .filter((flaws) => !flaws.some((flaw) => isKind(flaw) || isTag(flaw)))
    .sort((some, others) => some.length - others.length)
  if (meant !== undefined) return meant[0] as Flaw
  const flaws = options.flat()
  const same = flaws.some(isTag) ? flaws.filter(isTag) : flaws.filter(isKind)
  return { ...(same[0] as Flaw), expected: same.flatMap(({ expected }) => expected) }
}

const TAGS: readonly PropertyKey[] = ['type', 'method', 'mode', 'status']

/**
 * Creates an array schema that stops after a few invalid items. `z.array` collects the problems of all items, so a hostile
 * list takes seconds, or causes a `RangeError` by overflowing the stack.
 */
/* @__NO_SIDE_EFFECTS__ */
export function list<T>(item: Schema<T>): z.ZodMiniType<T[]> {
  return z
    .custom<T[]>(Array.isArray, { ...expected('array'), abort: true })
    .check(({ value, issues }) => addFlaws(issues, value.keys(), item, value))
}

/** Creates a schema for an object with values of one type. Stops after a few invalid values, like `list`. */
/* @__NO_SIDE_EFFECTS__ */
export function record<T>(item: Schema<T>): z.ZodMiniType<Record<string, T>> {
  return z
    .custom<Record<string, T>>(isObject, { ...expected('object'), abort: true })
    .check(({ value, issues }) => addFlaws(issues, Object.keys(value), item, value))
}

/**
 * Creates a schema for an object with the members of another one and more, like `z.extend`. `z.extend` takes several
 * times as long, which delays the import. A spread into `z.object` is fast too, but bundlers cannot remove it.
 */
/* @__NO_SIDE_EFFECTS__ */
export function extend<Base extends z.ZodMiniObject, More extends z.core.$ZodShape>(
  base: Base,
  more: More,
): z.ZodMiniObject<z.core.util.Extend<Base['shape'], More>, z.core.$strip> {
  // The compiler does not know the type of a spread of type parameters.
  return z.object({ ...base.shape, ...more }) as never
}

/** Creates a schema for an object with the members of two others. */
/* @__NO_SIDE_EFFECTS__ */
export function merge<One extends z.ZodMiniObject, Other extends z.ZodMiniObject>(
  one: One,
  other: Other,
): z.ZodMiniObject<z.core.util.Extend<One['shape'], Other['shape']>, z.core.$strip> {
  return extend(one, other.shape) as never
}

function addFlaws(issues: z.core.$ZodRawIssue[], keys: Iterable<PropertyKey>, item: Schema, values: object): void {
  const before = issues.length
  for (const key of keys) {
    const value: unknown = values[key as keyof typeof values]
    for (const { path, expected, message = EXPECTED + anyOf(expected) } of flawsIn(item, value)) {
      issues.push({ code: 'custom', input: value, path: [key, ...path], message })
    }
    if (issues.length - before > MAX_FLAWS) return
  }
}
