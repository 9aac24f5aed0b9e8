/**
 * The words that protocol shapes are written in. A shape is a function, so nothing is built before it is used, and
 * `@__PURE__` lets every bundler drop the shapes that nobody reaches. Objects are open: members this version does not
 * know pass through; the types list only the known ones. A check copies nothing.
 */

import { isObject } from '../jsonrpc/check.ts'

/** Where something is, from the value that is checked. */
export type Path = readonly PropertyKey[]

/** What is wrong in one place. `expected` names kinds, or words in quotes. */
export interface Flaw {
  path: Path
  expected: readonly string[]
}

/** Describes values of type T. */
export interface Schema<out T> {
  /** Whether a value is one. */
  fits(value: unknown): boolean
  /**
   * What is wrong with a value that does not fit; no other is asked about. So many flaws at most, as there can be one
   * for each item of a long list.
   */
  flawsOf(value: unknown, path: Path, most: number): Flaw[]
  /** Of what type its values are; never there. */
  readonly type?: T
}

/** A schema of a member that may be absent. */
export interface OptionalSchema<out T> extends Schema<T | undefined> {
  readonly isOptional: true
}

type Members = Readonly<Record<string, Schema<unknown>>>
type Optional<M extends Members> = { [Key in keyof M]: M[Key] extends { isOptional: true } ? Key : never }[keyof M]

/** What a function that returns members describes: `interface Tool extends Shape<typeof tool> {}`. */
export type Shape<Make extends () => Members> = Flat<
  { [Key in Exclude<keyof ReturnType<Make>, Optional<ReturnType<Make>>>]: Infer<ReturnType<Make>[Key]> } & {
    [Key in Optional<ReturnType<Make>>]?: Infer<ReturnType<Make>[Key]>
  }
>
type Flat<T> = { [Key in keyof T]: T[Key] }

/** The type a schema describes. */
export type Infer<S> = S extends Schema<infer T> ? T : never

/** Whatever a test lets through; `expected` names it in error texts. */
export function custom<T>(fits: (value: unknown) => boolean, ...expected: string[]): Schema<T> {
  return { fits, flawsOf: (_value, path) => [{ path, expected }] }
}

/** A schema for each part of a value. */
type Parts = Iterable<readonly [key: PropertyKey, schema: Schema<unknown>]>

/** Describes values that have parts: members or items. `is` tells the kind alone. */
function container<T, Value extends object>(
  kind: string,
  is: (value: unknown) => value is Value,
  fits: (value: unknown) => boolean,
  partsOf: (value: Value) => Parts,
): Schema<T> {
  return {
    fits,
    flawsOf(value, path, most) {
      if (!is(value)) return [{ path, expected: [kind] }]
      const flaws: Flaw[] = []
      for (const [key, schema] of partsOf(value)) {
        const part: unknown = value[key as keyof Value]
        if (!schema.fits(part)) flaws.push(...schema.flawsOf(part, [...path, key], most - flaws.length))
        if (flaws.length >= most) break
      }
      return flaws
    },
  }
}

/** An open object with at least these members. */
export function object<T>(make: () => { [Key in keyof T]-?: Schema<T[Key]> }): Schema<T> {
  let made: [string, Schema<unknown>][] | undefined
  const members = () => (made ??= Object.entries<Schema<unknown>>(make()))
  const fits = (value: unknown) => isObject(value) && members().every(([key, schema]) => schema.fits(value[key]))
  return container('object', isObject, fits, members)
}

/** A member that may be absent. `undefined` counts as absent, so that objects are easy to build. */
export function optional<T>(schema: Schema<T>): OptionalSchema<T> {
  return { ...schema, fits: (value) => value === undefined || schema.fits(value), isOptional: true }
}

/** An array of one kind of item. */
export function array<T>(item: Schema<T>): Schema<T[]> {
  const fits = (value: unknown) => Array.isArray(value) && value.every((each) => item.fits(each))
  return container('array', Array.isArray, fits, (value) => each(value.keys(), item))
}

/** An object that maps any name to one kind of value. */
export function record<T>(item: Schema<T>): Schema<Record<string, T>> {
  const fits = (value: unknown) => isObject(value) && Object.values(value).every((each) => item.fits(each))
  return container('object', isObject, fits, (value) => each(Object.keys(value), item))
}

/** The same schema for each key, one by one: the first few may be enough. */
function* each(keys: Iterable<PropertyKey>, schema: Schema<unknown>): Generator<[PropertyKey, Schema<unknown>]> {
  for (const key of keys) yield [key, schema]
}

/** So many flaws of each shape of a union are compared to find the shape that was meant. */
const MOST_PER_BRANCH = 8

/** One of several shapes. */
export function union<const Options extends readonly Schema<unknown>[]>(
  options: Options,
): Schema<Infer<Options[number]>> {
  return {
    fits: (value) => options.some((option) => option.fits(value)),
    flawsOf: (value, path) =>
      likeliest(
        options.map((option) => option.flawsOf(value, path, MOST_PER_BRANCH)),
        path.length,
      ),
  }
}

/** A word, or one of a few. */
export function literal<const Word extends string>(words: Word | readonly Word[]): Schema<Word> {
  const all: readonly unknown[] = [words].flat()
  return custom((value) => all.includes(value), ...all.map((word) => `"${word}"`))
}

export const string: Schema<string> = /* @__PURE__ */ custom((value) => typeof value === 'string', 'string')
export const number: Schema<number> = /* @__PURE__ */ custom(Number.isFinite, 'number')
export const boolean: Schema<boolean> = /* @__PURE__ */ custom((value) => typeof value === 'boolean', 'boolean')

/** Any JSON value; where it is required, `null` counts and absence does not. */
export const unknown: Schema<unknown> = /* @__PURE__ */ custom((value) => value !== undefined, 'a value')

/**
 * Of what is wrong with each shape of a union, what the sender most likely meant: the shape of the right kind, with
 * the right tag and the fewest flaws. Where none has those, what all of them expect in that place.
 */
function likeliest(branches: readonly Flaw[][], depth: number): Flaw[] {
  /** The value is of another kind altogether. */
  const isKind = ({ path }: Flaw) => path.length === depth
  /** The member that tells the shapes of a union apart says something else. */
  const isTag = ({ path }: Flaw) => path.length === depth + 1 && TAGS.includes(path[depth] as PropertyKey)
  const [meant] = branches
    .filter((flaws) => !flaws.some((flaw) => isKind(flaw) || isTag(flaw)))
    .sort((some, others) => some.length - others.length)
  if (meant !== undefined) return meant.slice(0, 1)
  const flaws = branches.flat()
  const same = flaws.some(isTag) ? flaws.filter(isTag) : flaws.filter(isKind)
  return [{ path: (same[0] as Flaw).path, expected: same.flatMap(({ expected }) => expected) }]
}

const TAGS: readonly PropertyKey[] = ['type', 'method', 'mode']
