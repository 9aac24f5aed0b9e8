/** Converts tools for the AI SDK, whose `generateText` calls them. */
import type { JsonObject } from '@mcpx/client'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { type Toolset, toText } from './toolset.ts'

type Result = Awaited<ReturnType<Toolset['call']>>

export function aiTools(toolset: Toolset): ToolSet {
  const entries = [...toolset.tools].map(([name, { description, inputSchema }]) => {
    const tool = dynamicTool({
      ...(description !== undefined && { description }),
      inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => toolset.call(name, input as JsonObject, abortSignal),
      toModelOutput: ({ output }) => ({ type: 'text', value: toText(output as Result) }),
    })
    return [name, tool] as const
  })
  return Object.fromEntries(entries)
}
