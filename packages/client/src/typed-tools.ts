/** Tools as functions, with the types of the server's own code. */

import type { CallToolResult, Catalogue, Catalogued, JsonObject } from '@mcpx/protocol'
import type { CallOptions } from './options.ts'

/** The tools that the compiler knows of a server. */
type ToolsOf<Server> = Server extends Catalogued<infer Offers extends Catalogue> ? Offers['tools'] : AnyTools

type AnyTools = Record<string, { input: JsonObject; output: unknown }>

/** Arguments may be left out where none is required. */
type Rest<Input> =
  Record<never, never> extends Input ? [args?: Input, options?: CallOptions] : [args: Input, options?: CallOptions]

/**
 * One function for each tool: takes the arguments, gives `structuredContent` or, where a tool has none, the whole
 * result. In the legacy era, whose older revisions have no structured content, a result that is one text of JSON gives
 * that value. Rejects with `ToolCallError` when the tool failed.
 *
 * Without the type of a server any name may be that of a tool. With `noUncheckedIndexedAccess` the compiler wants such a
 * name looked at: `client.tools.add?.({ a: 1 })`, or `client.callTool('add', { a: 1 })`.
 */
export type ToolCallers<Server> = {
  readonly [Name in keyof ToolsOf<Server>]: (
    ...rest: Rest<ToolsOf<Server>[Name]['input']>
  ) => Promise<ToolsOf<Server>[Name]['output']>
}

/** A tool said that it failed; the message is what it said in words. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError'
  readonly tool: string
  readonly result: CallToolResult

  constructor(tool: string, result: CallToolResult) {
    const words = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    super(words.join('\n') || `The tool ${tool} failed`)
    this.tool = tool
    this.result = result
  }
}

type CallTool = (
  name: string,
  args: JsonObject | undefined,
  options: CallOptions | undefined,
) => Promise<CallToolResult>

/** @param isLegacy whether the wire may have no place for structured content: then its JSON stands in a text. */
export function createToolCallers<Server>(callTool: CallTool, isLegacy: () => boolean): ToolCallers<Server> {
  const callers = new Map<string, (args?: JsonObject, options?: CallOptions) => Promise<unknown>>()

  function callerOf(name: string) {
    const known = callers.get(name)
    if (known !== undefined) return known
    const caller = async (args?: JsonObject, options?: CallOptions) => {
      const result = await callTool(name, args, options)
      if (result.isError === true) throw new ToolCallError(name, result)
      if (result.structuredContent !== undefined) return result.structuredContent
      return isLegacy() ? jsonValueOf(result) : result
    }
    callers.set(name, caller)
    return caller
  }

  return new Proxy(Object.freeze({}), {
    // Who awaits the object must not take it for a promise, nor call a tool by writing it as JSON; no tool has a symbol.
    get: (_, name) => (typeof name === 'string' && name !== 'then' && name !== 'toJSON' ? callerOf(name) : undefined),
  }) as ToolCallers<Server>
}

/** The value that the only text of a result is the JSON of; else the result. */
function jsonValueOf(result: CallToolResult): unknown {
  const [block, ...others] = result.content
  if (block?.type !== 'text' || others.length > 0) return result
  try {
    return JSON.parse(block.text)
  } catch {
    return result
  }
}
