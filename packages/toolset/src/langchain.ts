/** Structured tools for LangChain and LangGraph. */
import { type AdapterOptions, definitionsOf, type RunOptions, toCallOptions } from './adapter.ts'
import { checkFunction, checkOptions, checkToolset } from './checks.ts'
import { toDataUrl } from './openai.ts'
import { joinText, type ResultPart, toParts } from './results.ts'
import type { Dialect } from './schemas/dialects.ts'
import type { JsonObject } from './schemas/json.ts'
import type { Toolset } from './toolset.ts'

/** The options of `langchainTools`. */
export interface LangChainOptions<Tool> extends AdapterOptions, Pick<RunOptions, 'onProgress'> {
  /** Creates a tool from its fields: `(fields) => new DynamicStructuredTool(fields)`. */
  readonly create: (fields: LangChainToolFields) => Tool
  /** The class `ToolMessage` of `@langchain/core/messages`, for results with a status. */
  readonly ToolMessage: new (
    fields: never,
  ) => object
  /** The schemas that the provider of the model accepts. Default: `common`, which all providers accept. */
  readonly dialect?: Dialect | undefined
}

/** A part of the content of a message. */
export type LangChainContent = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** The fields of a structured tool. */
export interface LangChainToolFields {
  /** The name that the model uses. */
  name: string
  /** Describes the tool to the model. */
  description: string
  /** The schema of the arguments. */
  schema: JsonObject & { type: 'object' }
  /** Calls the tool. */
  func(input: unknown, manager?: unknown, config?: LangChainConfig): Promise<unknown>
}

/** The members of the configuration of an invocation that are used. */
export interface LangChainConfig {
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** The tool call of the model. */
  readonly toolCall?: { readonly id?: string }
}

const images = /^image\/(?:png|jpeg|webp|gif)$/

/**
 * Returns the tools of a toolset as structured tools. They do not change with the toolset: call this function again
 * after a change. If a tool is invoked with a tool call, it returns a `ToolMessage` with the status `success` or
 * `error`, and with the whole result as its artifact.
 */
export function langchainTools<Tool>(toolset: Toolset, options: LangChainOptions<Tool>): Tool[] {
  checkToolset('langchainTools', toolset)
  checkOptions('langchainTools', options, ['create', 'ToolMessage', 'dialect', 'media', 'onProgress'])
  const { create, ToolMessage, dialect = 'common', media = true, onProgress } = options
  checkFunction('langchainTools: create', create)
  checkFunction('langchainTools: ToolMessage', ToolMessage)
  return definitionsOf(toolset, dialect).map(({ name, description = '', schema }) => {
    async function func(input: unknown, _manager: unknown, { signal, toolCall }: LangChainConfig = {}) {
      const result = await toolset.call(name, input, { ...toCallOptions(name, { signal, onProgress }), dialect })
      const parts = toParts(result, media ? images : undefined)
      const content = parts.every(({ type }) => type === 'text') ? joinText(parts) : parts.map(toContent)
      if (toolCall?.id === undefined) return content
      const status = result.isError === true ? 'error' : 'success'
      return new ToolMessage({ content, name, tool_call_id: toolCall.id, status, artifact: result } as never)
    }
    return create({ name, description, schema, func })
  })
}

function toContent(part: ResultPart): LangChainContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'image_url', image_url: { url: toDataUrl(part) } }
}
