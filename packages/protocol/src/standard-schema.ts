/**
 * A schema of any library: it checks values and can be converted to JSON Schema.
 * The interface is that of Standard Schema and Standard JSON Schema (standardschema.dev).
 */

import type { JsonObject } from './messages.ts'

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface JsonSchemaTarget {
  readonly target: 'draft-2020-12' | 'draft-07'
}

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema: {
      /** Describes the value before defaults and conversions. Throws when JSON Schema cannot express it. */
      readonly input: (target: JsonSchemaTarget) => Record<string, unknown>
      readonly output: (target: JsonSchemaTarget) => Record<string, unknown>
    }
  }
}

/** The type of the values that a schema accepts. */
export type SchemaInput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly input: infer I } | undefined }
}
  ? I
  : JsonObject

/** The type of the values that a schema returns. */
export type SchemaOutput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer O } | undefined }
}
  ? O
  : JsonObject

/** A plain JSON Schema; the compiler does not know the values that it describes. */
export interface RawJsonSchema {
  readonly type?: unknown
  readonly [keyword: string]: unknown
}

/** A schema of a library, or a plain JSON Schema. */
export type AnySchema = StandardSchema | RawJsonSchema
