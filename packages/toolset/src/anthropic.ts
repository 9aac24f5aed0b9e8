/** Tools for the messages of the Anthropic API. */
import { checkRun, definitionsOf, type RunOptions, runCall, type StrictOptions } from './adapter.ts'
import { checkOptions, checkToolset } from './checks.ts'
import type { ResultPart } from './results.ts'
import type { JsonObject } from './schemas/json.ts'
import type { Toolset } from './toolset.ts'

/** A tool of a request. */
export interface AnthropicTool {
  /** The name that the model uses. */
  name: string
  /** Describes the tool to the model. */
  description?: string
  /** The schema of the arguments. */
  input_schema: JsonObject & { type: 'object' }
  /** Whether the API enforces the schema. */
  strict?: boolean
}

/** A content block of a message. All types except `tool_use` are ignored. */
export interface AnthropicBlock {
  /** The kind of the block. */
  readonly type: string
  /** The id of a call. */
  readonly id?: string
  /** The name of the tool. */
  readonly name?: string
  /** The arguments. */
  readonly input?: unknown
}

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** A part of a result. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string }; title: string }

/** The result of a call, for the content of the next user message. */
export interface AnthropicToolResult {
  /** Always `tool_result`. */
  type: 'tool_result'
  /** The id of the call. */
  tool_use_id: string
  /** The content of the result. */
  content: AnthropicContent[]
  /** Whether the tool failed. */
  is_error: boolean
}

/** Tools for `client.messages.create`. */
export interface AnthropicMessages {
  /** The current tools. Read them again for each request, because they may change. */
  readonly tools: AnthropicTool[]
  /** Runs the calls of a message concurrently, and returns a block for each call. */
  run(content: readonly AnthropicBlock[], options?: RunOptions): Promise<AnthropicToolResult[]>
}

const imagesAndDocuments = /^(?:image\/(?:png|jpeg|webp|gif)|application\/pdf)$/

/** Converts a toolset to the tools of the Messages API. The API accepts at most 20 strict tools per request. */
export function anthropicMessages(toolset: Toolset, options: StrictOptions = {}): AnthropicMessages {
  checkToolset('anthropicMessages', toolset)
  checkOptions('anthropicMessages', options, ['strict', 'media'])
  const { strict = false, media = true } = options
  const dialect = strict ? 'anthropic-strict' : 'anthropic'
  return {
    get tools() {
      return definitionsOf(toolset, dialect).map(({ name, description, schema, ...fitted }) => ({
        name,
        ...(description !== undefined && { description }),
        input_schema: schema,
        ...(fitted.strict && { strict: true }),
      }))
    },
    async run(content, runOptions = {}) {
      checkRun('anthropicMessages.run', content, 'message.content', runOptions)
      const calls = content.filter(({ type }) => type === 'tool_use')
      return Promise.all(
        calls.map(async ({ id = '', name = '', input }) => {
          const accepted = media ? imagesAndDocuments : undefined
          const { result, parts } = await runCall(toolset, { name, args: input }, { ...runOptions, dialect, accepted })
          return {
            type: 'tool_result' as const,
            tool_use_id: id,
            content: parts.filter((part) => part.type !== 'text' || part.text !== '').map(toContent),
            is_error: result.isError === true,
          }
        }),
      )
    },
  }
}

function toContent(part: ResultPart): AnthropicContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { data, mimeType } = part
  if (mimeType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: mimeType, data }, title: part.name }
  }
  return { type: 'image', source: { type: 'base64', media_type: mimeType as ImageType, data } }
}
