/**
 * The words that protocol shapes are written in: zod/mini's, in a form that costs nothing until it is used.
 *
 * A shape is a function, so a schema is built when it first checks something, and `@__PURE__` lets every bundler drop
 * the schemas that nobody reaches. esbuild drops neither `z.object(...)` nor an object spread without it (measured).
 * Objects are open: members this version does not know pass through; the types list only the known ones.
 */

import {
  type core,
  type ZodMiniObject,
  type ZodMiniOptional,
  type ZodMiniType,
  array as zodArray,
  boolean as zodBoolean,
  catchall as zodCatchall,
  custom as zodCustom,
  lazy as zodLazy,
  literal as zodLiteral,
  looseObject as zodLooseObject,
  number as zodNumber,
  object as zodObject,
  optional as zodOptional,
  string as zodString,
  union as zodUnion,
  unknown as zodUnknown,
} from 'zod/mini'

/** A schema whose values go out as they came in. */
export interface Schema<out T> extends ZodMiniType<T, T> {}

/** What a function that returns members describes: `interface Tool extends Shape<typeof tool> {}`. */
export type Shape<Members extends () => core.$ZodShape> = core.output<ZodMiniObject<ReturnType<Members>, core.$strip>>

/** The type a schema describes. */
export type Infer<S extends Schema<unknown>> = core.output<S>

/** An open object with at least these members. */
export function object<T>(members: () => { [Key in keyof T]-?: Schema<T[Key]> }): Schema<T> {
  return zodLazy(() => zodLooseObject(members() as core.$ZodShape)) as unknown as Schema<T>
}

/** A member that may be absent. `undefined` counts as absent, so that objects are easy to build. */
export function optional<T>(schema: Schema<T>): ZodMiniOptional<Schema<T>> {
  return zodOptional(schema)
}

/** An array of one kind of item. */
export function array<T>(item: Schema<T>): Schema<T[]> {
  return zodArray(item) as unknown as Schema<T[]>
}

/** An object that maps any name to one kind of value. */
export function record<T>(value: Schema<T>): Schema<Record<string, T>> {
  return zodCatchall(zodObject({}), value as never) as unknown as Schema<Record<string, T>>
}

/** One of several shapes; the first that fits is taken. */
export function union<const Options extends readonly Schema<unknown>[]>(
  options: Options,
): Schema<Infer<Options[number]>> {
  return zodUnion(options) as unknown as Schema<Infer<Options[number]>>
}

/** A word, or one of a few. */
export function literal<const Word extends string>(words: Word | readonly Word[]): Schema<Word> {
  return zodLiteral(words as Word) as unknown as Schema<Word>
}

/** Whatever a test of our own lets through, uncopied; `expected` names it in error texts. */
export function custom<T>(fits: (value: unknown) => boolean, expected: string): Schema<T> {
  return zodCustom<T>(fits, expected) as unknown as Schema<T>
}

export const string: Schema<string> = /* @__PURE__ */ zodString()
export const number: Schema<number> = /* @__PURE__ */ zodNumber()
export const boolean: Schema<boolean> = /* @__PURE__ */ zodBoolean()

/** Any JSON value; where it is required, `null` counts and absence does not. */
export const unknown: Schema<unknown> = /* @__PURE__ */ zodUnknown()
