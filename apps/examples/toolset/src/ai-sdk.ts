/** Tools for `generateText` and its like of the AI SDK, which calls them by itself. */
import type { JsonObject } from '@mcpx/client'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { type Toolset, wordsOf } from './toolset.ts'

type Result = Awaited<ReturnType<Toolset['call']>>

export function aiTools(toolset: Toolset): ToolSet {
  const entries = [...toolset.tools].map(([name, { description, inputSchema }]) => {
    const tool = dynamicTool({
      ...(description !== undefined && { description }),
      inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => toolset.call(name, input as JsonObject, abortSignal),
      toModelOutput: ({ output }) => ({ type: 'text', value: wordsOf(output as Result) }),
    })
    return [name, tool] as const
  })
  return Object.fromEntries(entries)
}
