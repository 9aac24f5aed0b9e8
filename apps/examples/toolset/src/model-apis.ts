/** The two plain JSON shapes in which model APIs take tools: as functions with text arguments, and with an input schema. */
import type { JsonObject, Tool } from '@mcpx/client'
import { type Toolset, wordsOf } from './toolset.ts'

/** Chat completions: `tools` of the request, `tool_calls` of the answer, a message of the role `tool` back. */
export const functions = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({
      type: 'function' as const,
      function: { name, ...described(tool), parameters: tool.inputSchema },
    })),

  async answer(toolset: Toolset, { id, function: { name, arguments: text } }: FunctionCall) {
    const result = await toolset.call(name, JSON.parse(text) as JsonObject)
    return { role: 'tool' as const, tool_call_id: id, content: wordsOf(result) }
  },
}

export interface FunctionCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Messages: `tools` of the request, blocks of the type `tool_use` in the answer, blocks of the type `tool_result` back. */
export const blocks = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({ name, ...described(tool), input_schema: tool.inputSchema })),

  async answer(toolset: Toolset, { id, name, input }: ToolUse) {
    const result = await toolset.call(name, input)
    const content = result.content.map((block) =>
      block.type === 'image'
        ? { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }
        : { type: 'text', text: wordsOf({ content: [block] }) },
    )
    return { type: 'tool_result' as const, tool_use_id: id, content, is_error: result.isError === true }
  },
}

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

function described({ description, title }: Tool): { description?: string } {
  const text = description ?? title
  return text === undefined ? {} : { description: text }
}
