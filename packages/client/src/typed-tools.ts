/** Tools as functions, typed by the code of the server. */

import type { CallToolResult, Catalogue, Catalogued, JsonObject } from '@mcpx/protocol'
import type { CallOptions } from './options.ts'

/** The tools in the type of a server; any name where the type has none. */
type ToolsOf<Server> = Server extends Catalogued<infer Offers extends Catalogue> ? Offers['tools'] : AnyTools

type AnyTools = Record<string, { input: JsonObject; output: unknown }>

/** The arguments are optional where none of them is required. */
type Rest<Input> =
  Record<never, never> extends Input ? [args?: Input, options?: CallOptions] : [args: Input, options?: CallOptions]

/**
 * A function for each tool. It resolves to the structured content of the result, or to the whole result of a tool without
 * structured content. In the legacy era, whose older revisions have no structured content, a result that is one text with
 * JSON resolves to the parsed value. Rejects with `ToolCallError` when the tool failed.
 *
 * Without the type of the server, every name may be a tool. With `noUncheckedIndexedAccess`, write
 * `client.tools.add?.({ a: 1 })` or `client.callTool('add', { a: 1 })`.
 */
export type ToolCallers<Server> = {
  readonly [Name in keyof ToolsOf<Server>]: (
    ...rest: Rest<ToolsOf<Server>[Name]['input']>
  ) => Promise<ToolsOf<Server>[Name]['output']>
}

/** The error of a tool that failed. Its message is the text content of the result. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError'
  /** The name of the tool. */
  readonly tool: string
  /** The whole result, with `isError`. */
  readonly result: CallToolResult

  constructor(tool: string, result: CallToolResult) {
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    super(texts.join('\n') || `The tool ${tool} failed`)
    this.tool = tool
    this.result = result
  }
}

type CallTool = (
  name: string,
  args: JsonObject | undefined,
  options: CallOptions | undefined,
) => Promise<CallToolResult>

/** @param isLegacy whether the revision may have no structured content, so that a text contains its JSON. */
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
    // `await` must not mistake the object for a promise, and `JSON.stringify` must not call a tool.
    get: (_, name) => (typeof name === 'string' && name !== 'then' && name !== 'toJSON' ? callerOf(name) : undefined),
  }) as ToolCallers<Server>
}

/** Parses a result whose only content is a text with JSON; returns any other result unchanged. */
function jsonValueOf(result: CallToolResult): unknown {
  const [block, ...others] = result.content
  if (block?.type !== 'text' || others.length > 0) return result
  try {
    return JSON.parse(block.text)
  } catch {
    return result
  }
}
