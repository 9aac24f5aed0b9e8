/** Tools for `generateText` and `streamText` of the AI SDK. */
import { type AdapterOptions, definitionsOf, type RunOptions, toCallOptions } from './adapter.ts'
import { checkFunction, checkOptions, checkToolset } from './checks.ts'
import { joinText, type ResultPart, type ToolResult, toParts } from './results.ts'
import type { Dialect } from './schemas/dialects.ts'
import type { JsonObject } from './schemas/json.ts'
import type { Toolset } from './toolset.ts'

/** The options of `aiSdkTools`. */
export interface AiSdkOptions<Schema> extends AdapterOptions, Pick<RunOptions, 'onProgress'> {
  /** The function `jsonSchema` of the package `ai`. */
  readonly jsonSchema: (schema: never) => Schema
  /** The schemas that the provider of the model accepts. Default: `common`, which all providers accept. */
  readonly dialect?: Dialect | undefined
}

/** A part of the output for the model. */
export type AiSdkContent =
  | { type: 'text'; text: string }
  | { type: 'file'; data: { type: 'data'; data: string }; mediaType: string; filename: string }

/** The output for the model. */
export type AiSdkOutput = { type: 'text' | 'error-text'; value: string } | { type: 'content'; value: AiSdkContent[] }

/** A tool of the AI SDK. */
export interface AiSdkTool<Schema> {
  /** The AI SDK calls a tool dynamic if its types are known only at run time. */
  type: 'dynamic'
  /** Describes the tool to the model. */
  description?: string
  /** The schema of the arguments. */
  inputSchema: Schema
  /** Calls the tool. */
  execute(input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<ToolResult>
  /** Converts a result for the model. */
  toModelOutput(options: { readonly output: unknown }): AiSdkOutput
}

/**
 * Returns the tools of a toolset for the option `tools` of `generateText` and `streamText`. They do not change with the
 * toolset: call this function again after a change.
 *
 * ```ts
 * const tools = aiSdkTools(await createToolset(client), { jsonSchema })
 * ```
 */
export function aiSdkTools<Schema>(toolset: Toolset, options: AiSdkOptions<Schema>): Record<string, AiSdkTool<Schema>> {
  checkToolset('aiSdkTools', toolset)
  checkOptions('aiSdkTools', options, ['jsonSchema', 'dialect', 'media', 'onProgress'])
  const { jsonSchema, dialect = 'common', media = true, onProgress } = options
  checkFunction('aiSdkTools: jsonSchema', jsonSchema)
  const toSchema = jsonSchema as (schema: JsonObject) => Schema
  const entries = definitionsOf(toolset, dialect).map(({ name, description, schema }) => {
    const tool: AiSdkTool<Schema> = {
      type: 'dynamic',
      ...(description !== undefined && { description }),
      inputSchema: toSchema(schema),
      execute: (input, { abortSignal }) =>
        toolset.call(name, input, { ...toCallOptions(name, { signal: abortSignal, onProgress }), dialect }),
      toModelOutput: ({ output }) => toOutput(output as ToolResult, media ? /./ : undefined),
    }
    return [name, tool] as const
  })
  return Object.fromEntries(entries)
}

function toOutput(result: ToolResult, accepted: RegExp | undefined): AiSdkOutput {
  const parts = toParts(result, accepted)
  if (result.isError === true) return { type: 'error-text', value: joinText(toParts(result)) }
  if (parts.every(({ type }) => type === 'text')) return { type: 'text', value: joinText(parts) }
  return { type: 'content', value: parts.map(toContent) }
}

function toContent(part: ResultPart): AiSdkContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { data, mimeType, name } = part
  return { type: 'file', data: { type: 'data', data }, mediaType: mimeType, filename: name }
}
