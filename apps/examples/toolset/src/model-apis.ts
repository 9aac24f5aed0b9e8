/** The plain JSON shapes in which model APIs take tools and their results: what differs is spelled out, and nothing else. */
import type { JsonObject, Tool } from '@mcpx/client'
import { type Toolset, wordsOf } from './toolset.ts'

/** Chat completions: `tools` of the request, `tool_calls` of the answer, a message of the role `tool` back. */
export const functions = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({
      type: 'function' as const,
      function: { name, ...described(tool), parameters: tool.inputSchema },
    })),

  async answer(toolset: Toolset, call: { id: string; function: { name: string; arguments: string } }) {
    const result = await toolset.call(call.function.name, call.function.arguments)
    return { role: 'tool' as const, tool_call_id: call.id, content: wordsOf(result) }
  },
}

/** Responses: `tools` of the request, items of the type `function_call` in the output, `function_call_output` back. */
export const items = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({
      type: 'function' as const,
      name,
      ...described(tool),
      parameters: tool.inputSchema,
      strict: false, // servers write any schema
    })),

  async answer(toolset: Toolset, call: { call_id: string; name: string; arguments: string }) {
    const result = await toolset.call(call.name, call.arguments)
    return { type: 'function_call_output' as const, call_id: call.call_id, output: wordsOf(result) }
  },
}

/** Messages: `tools` of the request, blocks of the type `tool_use` in the answer, blocks of the type `tool_result` back. */
export const blocks = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({ name, ...described(tool), input_schema: tool.inputSchema })),

  async answer(toolset: Toolset, { id, name, input }: { id: string; name: string; input: JsonObject }) {
    const result = await toolset.call(name, input)
    const content = result.content.map((block) =>
      block.type === 'image'
        ? { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }
        : { type: 'text', text: wordsOf({ content: [block] }) },
    )
    return { type: 'tool_result' as const, tool_use_id: id, content, is_error: result.isError === true }
  },
}

/** Generate content: a tool of function declarations, `functionCall` parts in the answer, `functionResponse` parts back. */
export const parts = {
  definitions: ({ tools }: Toolset) => [
    {
      functionDeclarations: [...tools].map(([name, tool]) => ({
        name,
        ...described(tool),
        parametersJsonSchema: tool.inputSchema,
      })),
    },
  ],

  async answer(toolset: Toolset, { args = {}, ...call }: { id?: string; name: string; args?: JsonObject }) {
    const result = await toolset.call(call.name, args)
    const words = wordsOf(result)
    return { functionResponse: { ...call, response: result.isError === true ? { error: words } : { output: words } } }
  },
}

function described({ description, title }: Tool): { description?: string } {
  const text = description ?? title
  return text === undefined ? {} : { description: text }
}
