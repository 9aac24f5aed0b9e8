/**
 * The types of user schemas: schemas of any library with the interfaces Standard Schema and Standard JSON Schema
 * (standardschema.dev), and plain JSON Schemas with a validator.
 */

import type { FromJsonSchema } from './json-schema-type.ts'
import type { JsonObject } from './messages.ts'

/** One problem that a schema library found in a value. */
export interface SchemaIssue {
  /** One sentence about the problem. */
  readonly message: string
  /** The keys that lead to the invalid value. Default: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The outcome of a validation: the converted value, or the issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** The dialect into which a schema library converts its schema. */
export interface JsonSchemaTarget {
  /** The name of the dialect. */
  readonly target: 'draft-2020-12' | 'draft-07'
}

/** A schema of a library that implements Standard Schema, such as zod, valibot or arktype. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema: {
      /** Returns the JSON Schema of the value before defaults and conversions. Throws if JSON Schema cannot express it. */
      readonly input: (target: JsonSchemaTarget) => Record<string, unknown>
      readonly output: (target: JsonSchemaTarget) => Record<string, unknown>
    }
  }
}

/** A schema of a library that implements Standard Schema, for values that need no JSON Schema. */
export interface CheckingSchema<Input = unknown, Output = Input> {
  readonly '~standard': Omit<StandardSchema<Input, Output>['~standard'], 'jsonSchema'>
}

/** The type of the values that a schema accepts. */
export type SchemaInput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly input: infer I } | undefined }
}
  ? I
  : RawValue<S>

/** The type of the values that a schema returns. */
export type SchemaOutput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer O } | undefined }
}
  ? O
  : RawValue<S>

/**
 * The values of a plain JSON Schema. The compiler infers them if the schema is written `as const`; otherwise they are
 * any object.
 */
type RawValue<S> = unknown extends FromJsonSchema<S> ? JsonObject : FromJsonSchema<S>

/** A plain JSON Schema. If it is written `as const`, `FromJsonSchema` infers the type of its values. */
export interface RawJsonSchema {
  /** The `type` keyword. An object schema has `object`. */
  readonly type?: unknown
  readonly [keyword: string]: unknown
}

/** A schema of a library, or a plain JSON Schema. */
export type AnySchema = StandardSchema | RawJsonSchema

/** A JSON Schema as JSON: an object of keywords, or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** One problem of a value, for humans and models. Display it as `${path}: ${message}`. */
export interface JsonSchemaProblem {
  /** The place in the value, starting with the name that the caller passed: `arguments.items[2].name`. */
  readonly path: string
  /** The problem, such as `expected string, got number`. Never contains the value. */
  readonly message: string
}

/** The outcome of a check: valid, or invalid with the problems. */
export type JsonSchemaVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly problems: readonly JsonSchemaProblem[] }

/** Checks a value and never throws. The paths of problems start with `name`. Default of `name`: `value`. */
export type CompiledSchema = (value: unknown, name?: string) => JsonSchemaVerdict

/** Compiles JSON Schemas. `@mcpx/json-schema` has an implementation. */
export interface JsonSchemaValidator {
  /** Compiles a schema. Throws an error that names the problem if the schema cannot be used. Never fetches anything. */
  compile(schema: JsonSchema): CompiledSchema
}
