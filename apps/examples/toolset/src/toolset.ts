/** The tools of a client under names that model APIs accept, shared by all adapters. */
import type { CallToolResult, Client, JsonObject, Tool } from '@mcpx/client'

/** A client of `connect` or of `connectAll`. */
type Source = Pick<Client, 'listTools' | 'callTool'>

export interface Toolset {
  /** The tools by the name that the model uses. */
  readonly tools: ReadonlyMap<string, Tool>
  /**
   * Calls a tool with the arguments of the model, either an object or a JSON string. Failures of the tool or of the model
   * are returned as an error result, so that the model can retry.
   */
  call(name: string, args: JsonObject | string, signal?: AbortSignal): Promise<CallToolResult>
}

export async function createToolset(source: Source): Promise<Toolset> {
  const tools = new Map<string, Tool>()
  for await (const tool of source.listTools()) tools.set(toModelName(tool.name, tools), tool)
  return {
    tools,
    async call(name, args, signal) {
      const tool = tools.get(name)
      if (tool === undefined)
        return failure(`There is no tool called ${name}. There are: ${[...tools.keys()].join(', ')}.`)
      try {
        const parsed: JsonObject = typeof args === 'string' ? JSON.parse(args || '{}') : args
        return await source.callTool(tool.name, parsed, { signal })
      } catch (error) {
        signal?.throwIfAborted() // a cancelled call rejects
        return failure(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Returns a unique name of at most 64 letters, digits, `_` and `-`, which most model APIs accept; MCP also allows dots and 128 characters. */
function toModelName(name: string, used: ReadonlyMap<string, Tool>): string {
  const plain = name.replace(/[^\w-]/g, '_').slice(0, 64)
  let unique = plain
  for (let n = 2; used.has(unique); n += 1) unique = `${plain.slice(0, 60)}_${n}`
  return unique
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Returns the content of a result as text; other content than text becomes JSON. */
export function toText({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}
