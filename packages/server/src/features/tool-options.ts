/** What a tool is registered with, as types. */

import type {
  AnySchema,
  Awaitable,
  CallToolResult,
  Context,
  Icon,
  InputRequiredResult,
  MetaObject,
  RawJsonSchema,
  StandardSchema,
  ToolAnnotations,
} from '@mcpx/protocol'
import type { ToolContext } from '../tool-context.ts'
import type { VisibilityOptions } from '../visibility.ts'

interface TypedSchema {
  readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined }
}

interface ShownSchema extends TypedSchema {
  readonly '~standard': TypedSchema['~standard'] & { readonly jsonSchema: object }
}

/** `AnySchema`, told by as few of its members as will do: the compiler compares each with those of the schema. */
export type SomeSchema = ShownSchema | RawJsonSchema

/** What a schema gives. As `SchemaOutput`, in the form that costs the compiler least (measured). */
export type Given<S> = S extends TypedSchema ? NonNullable<S['~standard']['types']>['output'] : Record<string, unknown>

/** What a schema takes. */
export type Taken<S> = S extends TypedSchema ? NonNullable<S['~standard']['types']>['input'] : Record<string, unknown>

/** Stands for no schema: there are no arguments. */
export interface NoInput extends StandardSchema<Record<string, never>> {}

/** Stands for no schema: anything may be returned. */
export interface NoOutput extends StandardSchema<unknown> {}

export interface ToolOptions<Input = AnySchema, Output = AnySchema> extends VisibilityOptions {
  /** The name to show. Default: the tool's name. */
  title?: string
  /** Tells the model what the tool does and when to use it. */
  description?: string
  /** The arguments: a schema of any library that shows itself as JSON Schema, or a JSON Schema. Default: none. */
  input?: Input
  /** What `structuredContent` of results looks like. Default: results have none. */
  output?: Output
  annotations?: ToolAnnotations
  icons?: Icon[]
  _meta?: MetaObject
  /** Whether a tool that has this name already is replaced. Default: false, which refuses the name. */
  replace?: boolean
}

/**
 * What a tool may return: what its `output` takes, or a whole result. Without `output` anything: a string, content
 * made by `text()` and the like, an array of those, nothing, or a value that is shown to the model as JSON.
 *
 * While the compiler makes out what a `new Promise` in the tool gives, `Output` is not known yet, and so `never`.
 */
export type ToolReturn<Output, Result = CallToolResult | InputRequiredResult> = [Output] extends [never]
  ? unknown
  : Awaitable<Taken<Output> | Result>

export type RunTool<Input, Output> = (args: Given<Input>, ctx: Context) => ToolReturn<Output>

/** A tool that asks the client nothing. */
export type RunPlainTool<Input, Output> = (args: Given<Input>, ctx: ToolContext) => ToolReturn<Output, CallToolResult>
