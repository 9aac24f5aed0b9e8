/** Converts tool definitions and results to the JSON shapes of four model APIs. */
import type { JsonObject, Tool } from '@mcpx/client'
import { type Toolset, toText } from './toolset.ts'

/** Chat completions: `tools` in the request, `tool_calls` in the response, results as messages of the role `tool`. */
export const functions = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({
      type: 'function' as const,
      function: { name, ...pickDescription(tool), parameters: tool.inputSchema },
    })),

  async answer(toolset: Toolset, call: { id: string; function: { name: string; arguments: string } }) {
    const result = await toolset.call(call.function.name, call.function.arguments)
    return { role: 'tool' as const, tool_call_id: call.id, content: toText(result) }
  },
}

/** Responses: `tools` in the request, `function_call` items in the response, results as `function_call_output` items. */
export const items = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({
      type: 'function' as const,
      name,
      ...pickDescription(tool),
      parameters: tool.inputSchema,
      strict: false, // the schemas of servers exceed the subset that strict mode allows
    })),

  async answer(toolset: Toolset, call: { call_id: string; name: string; arguments: string }) {
    const result = await toolset.call(call.name, call.arguments)
    return { type: 'function_call_output' as const, call_id: call.call_id, output: toText(result) }
  },
}

/** Messages: `tools` in the request, `tool_use` blocks in the response, results as `tool_result` blocks. */
export const blocks = {
  definitions: ({ tools }: Toolset) =>
    [...tools].map(([name, tool]) => ({ name, ...pickDescription(tool), input_schema: tool.inputSchema })),

  async answer(toolset: Toolset, { id, name, input }: { id: string; name: string; input: JsonObject }) {
    const result = await toolset.call(name, input)
    const content = result.content.map((block) =>
      block.type === 'image'
        ? { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } }
        : { type: 'text', text: toText({ content: [block] }) },
    )
    return { type: 'tool_result' as const, tool_use_id: id, content, is_error: result.isError === true }
  },
}

/** Generate content: function declarations in the request, `functionCall` parts in the response, results as `functionResponse` parts. */
export const parts = {
  definitions: ({ tools }: Toolset) => [
    {
      functionDeclarations: [...tools].map(([name, tool]) => ({
        name,
        ...pickDescription(tool),
        parametersJsonSchema: tool.inputSchema,
      })),
    },
  ],

  async answer(toolset: Toolset, { args = {}, ...call }: { id?: string; name: string; args?: JsonObject }) {
    const result = await toolset.call(call.name, args)
    const output = toText(result)
    return { functionResponse: { ...call, response: result.isError === true ? { error: output } : { output } } }
  },
}

function pickDescription({ description, title }: Tool): { description?: string } {
  const text = description ?? title
  return text === undefined ? {} : { description: text }
}
