/** Infers a type from a plain JSON Schema that is written `as const`. */

import type { JsonObject } from './messages.ts'

/**
 * The type of the values that a JSON Schema describes. Parts that the schema does not describe are `unknown`. Supports
 * `const`, `enum`, `type`, `properties`, `required`, `additionalProperties`, `items`, `anyOf` and `oneOf`. Other
 * keywords restrict values only at run time.
 *
 * ```ts
 * const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } as const
 * type Value = FromJsonSchema<typeof schema> // { id: number }
 * ```
 */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Type }
      ? FromType<Type extends readonly (infer One)[] ? One : Type, S>
      : S extends { readonly anyOf: readonly (infer Option)[] } | { readonly oneOf: readonly (infer Option)[] }
        ? FromJsonSchema<Option>
        : unknown

interface Scalars {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type FromType<Type, S> = string extends Type
  ? unknown
  : Type extends keyof Scalars
    ? Scalars[Type]
    : Type extends 'array'
      ? S extends { readonly items: infer Item }
        ? FromJsonSchema<Item>[]
        : unknown[]
      : Type extends 'object'
        ? FromObject<S>
        : unknown

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? FromProperties<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
  : S extends { readonly additionalProperties: infer Value extends object }
    ? { [name: string]: FromJsonSchema<Value> }
    : JsonObject

type FromProperties<Properties, Required> = Flat<
  { -readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]> } & {
    -readonly [Name in keyof Properties as Name extends Required ? never : Name]?:
      | FromJsonSchema<Properties[Name]>
      | undefined
  }
>

/** Converts an intersection to one object type, so that editors show short types. */
type Flat<T> = { [Name in keyof T]: T[Name] }
