/** The tools of a client under names that models take, and what calls of them come to. All that the adapters share. */
import type { CallToolResult, Client, JsonObject, Tool } from '@mcpx/client'

/** One client, or several as one: `connectAll` gives what is needed too. */
type Source = Pick<Client, 'listTools' | 'callTool'>

export interface Toolset {
  /** By the name that the model is told. */
  readonly tools: ReadonlyMap<string, Tool>
  /**
   * Takes arguments as they come from the model, some of which write them as text. Never rejects for what a tool, or
   * the model, did wrong: the model is told, and may do better.
   */
  call(name: string, args: JsonObject | string, signal?: AbortSignal): Promise<CallToolResult>
}

export async function toolsetOf(source: Source): Promise<Toolset> {
  const tools = new Map<string, Tool>()
  for await (const tool of source.listTools()) tools.set(nameFor(tool.name, tools), tool)
  return {
    tools,
    async call(name, args, signal) {
      const tool = tools.get(name)
      if (tool === undefined)
        return failure(`There is no tool called ${name}. There are: ${[...tools.keys()].join(', ')}.`)
      try {
        const given: JsonObject = typeof args === 'string' ? JSON.parse(args || '{}') : args
        return await source.callTool(tool.name, given, { signal })
      } catch (error) {
        signal?.throwIfAborted() // nobody is left to be told
        return failure(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Most models take letters, digits, `_` and `-`, 64 of them; the protocol also knows dots, and twice as many. */
function nameFor(name: string, taken: ReadonlyMap<string, Tool>): string {
  const plain = name.replace(/[^\w-]/g, '_').slice(0, 64)
  let unique = plain
  for (let n = 2; taken.has(unique); n += 1) unique = `${plain.slice(0, 60)}_${n}`
  return unique
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** What a model can read of a result. Pictures are left to those adapters whose model can see them. */
export function wordsOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}
