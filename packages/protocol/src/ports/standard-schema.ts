/**
 * A schema of any library: it checks values, and it can be shown as JSON Schema.
 * The shape is that of the Standard Schema and Standard JSON Schema interfaces (standardschema.dev).
 */

import type { JsonObject } from '../jsonrpc/message.ts'

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
      /** What is to be passed in, before defaults and conversions. Throws when JSON Schema cannot say it. */
      readonly input: (target: JsonSchemaTarget) => Record<string, unknown>
      readonly output: (target: JsonSchemaTarget) => Record<string, unknown>
    }
  }
}

/** What the schema takes. */
export type SchemaInput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly input: infer I } | undefined }
}
  ? I
  : JsonObject

/** What the schema gives. */
export type SchemaOutput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer O } | undefined }
}
  ? O
  : JsonObject

/** A JSON Schema as it stands; what it describes is not known to the compiler. */
export interface RawJsonSchema {
  readonly type?: unknown
  readonly [keyword: string]: unknown
}

/** What can be given wherever a schema is asked for. */
export type AnySchema = StandardSchema | RawJsonSchema
