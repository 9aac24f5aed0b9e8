/**
 * Checks of schemas by the compiler. Each type is `unknown` for a usable schema, and otherwise a sentence that names
 * the option and the remedy. The compiler shows this sentence as the type that it expected.
 */

import type { SchemaInput } from './standard-schema.ts'

/** A schema whose values are objects. */
export type ObjectSchema<Option extends string, S> = Verdict<Option, SchemaProblem<S> | NonObjectProblem<S>>

/** A schema of any values. */
export type ValueSchema<Option extends string, S> = Verdict<Option, SchemaProblem<S>>

/** A schema whose values are objects of strings, before the schema converts them. */
export type StringsSchema<Option extends string, S> = Verdict<
  Option,
  SchemaProblem<S> | NonObjectProblem<S> | NonStringProblem<S>
>

/** A schema whose values fit into a form: objects of strings, numbers, booleans and lists of strings. */
export type FlatSchema<Option extends string, S> = Verdict<
  Option,
  SchemaProblem<S> | NonObjectProblem<S> | NestedProblem<S>
>

type Verdict<Option extends string, Problem extends string> = [Problem] extends [never]
  ? unknown
  : `${Option}: ${Problem}`

type IsAny<T> = 0 extends 1 & T ? true : false

/** A schema of a library, possibly of a version that cannot convert it to JSON Schema. */
interface LibrarySchema {
  readonly '~standard': object
}

/** A schema of zod. zod 4 has `_zod`. zod 3 has `_def`, and `~standard` since 3.24. */
type ZodSchema = { readonly _zod: object } | { readonly _def: object }

/** A schema of Effect. Only these schemas have `ast`. */
interface EffectSchema {
  readonly ast: object
}

type SchemaProblem<S> =
  IsAny<S> extends true
    ? never
    : S extends { readonly '~standard': { readonly jsonSchema: object } }
      ? never
      : S extends ZodSchema
        ? 'zod 4.2 or newer is needed; wrap a schema of zod/mini with z.toJSONSchema(schema)'
        : S extends EffectSchema
          ? 'wrap a schema of Effect: Schema.toStandardSchemaV1(Schema.toStandardJSONSchemaV1(schema))'
          : S extends LibrarySchema
            ? 'this schema has no JSON Schema; wrap one of Valibot with toStandardJsonSchema(schema)'
            : S extends object
              ? [SchemaMember<S>] extends [never]
                ? never
                : 'expected one schema, got an object of schemas; write z.object({ … }) around the properties'
              : 'expected a schema, such as z.object({ … })'

/** The members of an object that are schemas of a library. */
type SchemaMember<S> = {
  [Key in keyof S]-?: IsAny<S[Key]> extends true ? never : S[Key] extends LibrarySchema | ZodSchema ? Key : never
}[keyof S]

type NonObjectProblem<S> =
  unknown extends SchemaInput<S>
    ? never
    : [SchemaInput<S>] extends [object]
      ? never
      : 'expected a schema of an object, such as z.object({ … })'

type NonStringProblem<S> = DescribeNonString<MembersOf<S, string>>

type DescribeNonString<Name> = Name extends string
  ? `${Name} must accept a string; convert it with z.coerce.number() or z.string().transform(…)`
  : never

type NestedProblem<S> = DescribeNested<MembersOf<S, string | number | boolean | readonly string[]>>

type DescribeNested<Name> = Name extends string
  ? `${Name} must be a string, a number, a boolean or a list of choices, because forms are flat`
  : never

/** The names of the properties of `S` that accept no value of the types `Allowed`. */
type MembersOf<S, Allowed> =
  unknown extends SchemaInput<S>
    ? never
    : {
        [Key in keyof SchemaInput<S>]-?: Accepts<SchemaInput<S>[Key], Allowed> extends true ? never : Key
      }[keyof SchemaInput<S>]

/**
 * Whether a type accepts a value of the types `Allowed`. It is also true for `never`, the type of the members of an
 * empty object.
 */
type Accepts<Value, Allowed> = unknown extends Value
  ? true
  : [Value] extends [never]
    ? true
    : [Extract<Value, Allowed>] extends [never]
      ? false
      : true
