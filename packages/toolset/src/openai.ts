/** Tools for the chat completions and the responses of the OpenAI API, and of APIs that are compatible with it. */
import { checkRun, definitionsOf, type RunOptions, runCall, type StrictOptions } from './adapter.ts'
import { checkOptions, checkToolset } from './checks.ts'
import { joinText, type ResultPart } from './results.ts'
import type { JsonObject } from './schemas/json.ts'
import type { Toolset } from './toolset.ts'

/** A tool of a chat completion. */
export interface OpenAiChatTool {
  /** Always `function`. */
  type: 'function'
  /** The definition. */
  function: { name: string; description?: string; parameters: JsonObject; strict?: boolean }
}

/** A tool call in the message of a chat completion. */
export interface OpenAiChatCall {
  /** The id of the call. */
  readonly id: string
  /** The kind of the call. All kinds except `function` are ignored. */
  readonly type: string
  /** The name of the tool, and its arguments as JSON. */
  readonly function?: { readonly name: string; readonly arguments: string }
}

/** A message with the result of a tool call, or with the images of all results. */
export type OpenAiChatMessage =
  | { role: 'tool'; tool_call_id: string; content: string }
  | {
      role: 'user'
      content: ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]
    }

/** Tools for `client.chat.completions.create`. */
export interface OpenAiChat {
  /** The tools for the request; read again for each request, because they may change. */
  readonly tools: OpenAiChatTool[]
  /**
   * Runs the calls of a message concurrently. Returns a message for each call and, because tool messages can contain
   * only text, a user message with the images.
   */
  run(calls: readonly OpenAiChatCall[] | null | undefined, options?: RunOptions): Promise<OpenAiChatMessage[]>
}

const images = /^image\/(?:png|jpeg|webp|gif)$/
const imagesAndDocuments = /^(?:image\/(?:png|jpeg|webp|gif)|application\/pdf)$/

/** Converts a toolset for chat completions. */
export function openaiChat(toolset: Toolset, options: StrictOptions = {}): OpenAiChat {
  checkToolset('openaiChat', toolset)
  checkOptions('openaiChat', options, ['strict', 'media'])
  const { strict = false, media = true } = options
  const dialect = strict ? 'openai-strict' : 'openai'
  return {
    get tools() {
      return definitionsOf(toolset, dialect).map(({ name, description, schema, ...fitted }) => ({
        type: 'function' as const,
        function: {
          name,
          ...(description !== undefined && { description }),
          parameters: schema,
          ...(strict && { strict: fitted.strict }),
        },
      }))
    },
    async run(calls, runOptions = {}) {
      checkRun('openaiChat.run', calls ?? [], 'message.tool_calls', runOptions)
      const results = await Promise.all(
        (calls ?? []).map(async ({ id, function: call }) => {
          if (call === undefined) return []
          const request = { name: call.name, args: call.arguments }
          const { parts } = await runCall(toolset, request, {
            ...runOptions,
            dialect,
            accepted: media ? images : undefined,
          })
          return [{ id, name: call.name, parts }]
        }),
      )
      return [...results.flat().map(toToolMessage), ...toImageMessages(results.flat())]
    },
  }
}

interface CallParts {
  readonly id: string
  readonly name: string
  readonly parts: readonly ResultPart[]
}

function toToolMessage({ id, parts }: CallParts): OpenAiChatMessage {
  const count = parts.filter(({ type }) => type === 'media').length
  const hint = count === 0 ? [] : [`[${count} image${count === 1 ? '' : 's'} in the next message]`]
  return {
    role: 'tool',
    tool_call_id: id,
    content: [joinText(parts), ...hint].filter((text) => text !== '').join('\n'),
  }
}

function toImageMessages(results: readonly CallParts[]): OpenAiChatMessage[] {
  const content = results.flatMap(({ name, parts }) => {
    const found = parts.flatMap((part) =>
      part.type === 'media' ? [{ type: 'image_url' as const, image_url: { url: toDataUrl(part) } }] : [],
    )
    return found.length === 0 ? [] : [{ type: 'text' as const, text: `Images of the tool ${name}:` }, ...found]
  })
  return content.length === 0 ? [] : [{ role: 'user', content }]
}

/** A tool of a response. */
export interface OpenAiResponsesTool {
  /** Always `function`. */
  type: 'function'
  /** The name that the model uses. */
  name: string
  /** Describes the tool to the model. */
  description?: string
  /** The schema of the arguments. */
  parameters: JsonObject
  /** Whether the API enforces the schema. */
  strict: boolean
}

/** An item in the output of a response. All types except `function_call` are ignored. */
export interface OpenAiResponsesItem {
  /** The kind of the item. */
  readonly type: string
  /** The id of a call. */
  readonly call_id?: string | null
  /** The name of the tool. */
  readonly name?: string | null
  /** The arguments as JSON. */
  readonly arguments?: unknown
}

/** The item with the result of a call. */
export interface OpenAiResponsesOutput {
  /** Always `function_call_output`. */
  type: 'function_call_output'
  /** The id of the call. */
  call_id: string
  /** The result: text, or a list with images and documents. */
  output: string | OpenAiResponsesContent[]
}

/** A part of a result. */
export type OpenAiResponsesContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string }

/** Tools for `client.responses.create`. */
export interface OpenAiResponses {
  /** The tools for the request; read again for each request, because they may change. */
  readonly tools: OpenAiResponsesTool[]
  /** Runs the calls of an output concurrently, and returns an item for each call. */
  run(output: readonly OpenAiResponsesItem[], options?: RunOptions): Promise<OpenAiResponsesOutput[]>
}

/** Converts a toolset for responses. */
export function openaiResponses(toolset: Toolset, options: StrictOptions = {}): OpenAiResponses {
  checkToolset('openaiResponses', toolset)
  checkOptions('openaiResponses', options, ['strict', 'media'])
  const { strict = false, media = true } = options
  const dialect = strict ? 'openai-strict' : 'openai'
  return {
    get tools() {
      return definitionsOf(toolset, dialect).map(({ name, description, schema, ...fitted }) => ({
        type: 'function' as const,
        name,
        ...(description !== undefined && { description }),
        parameters: schema,
        strict: fitted.strict,
      }))
    },
    async run(output, runOptions = {}) {
      checkRun('openaiResponses.run', output, 'response.output', runOptions)
      const calls = output.filter(({ type }) => type === 'function_call')
      return Promise.all(
        calls.map(async ({ call_id, name, arguments: args }) => {
          const accepted = media ? imagesAndDocuments : undefined
          const { parts } = await runCall(toolset, { name: name ?? '', args }, { ...runOptions, dialect, accepted })
          const isText = parts.every(({ type }) => type === 'text')
          return {
            type: 'function_call_output' as const,
            call_id: call_id ?? '',
            output: isText ? joinText(parts) : parts.map(toContent),
          }
        }),
      )
    },
  }
}

function toContent(part: ResultPart): OpenAiResponsesContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (images.test(part.mimeType)) return { type: 'input_image', image_url: toDataUrl(part), detail: 'auto' }
  return { type: 'input_file', filename: part.name, file_data: toDataUrl(part) }
}

export function toDataUrl({ mimeType, data }: { readonly mimeType: string; readonly data: string }): string {
  return `data:${mimeType};base64,${data}`
}
