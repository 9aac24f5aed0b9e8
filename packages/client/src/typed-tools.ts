/** Tools as functions, with types that are inferred from the server. */

import type { CallToolResult, GetPromptResult, JsonObject } from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'
import type { ClientCalls } from './client.ts'
import type { CallOptions, HandleCallOptions } from './options.ts'
import type { TaskHandle, TaskOptions } from './tasks.ts'

/** The tools in the type of a server. If the type has no tools, every name is accepted. */
type ToolsOf<Server> = MembersOf<Server, 'tools', AnyTools>

/** The prompts in the type of a server. If the type has no prompts, every name is accepted. */
type PromptsOf<Server> = MembersOf<Server, 'prompts', Record<string, Record<string, string>>>

type AnyTools = Record<string, { input: JsonObject; output: unknown }>

/**
 * The items of one kind in the type of a server. Tools and prompts are inferred separately, because a type may have
 * only one of them.
 */
type MembersOf<Server, Kind extends string, Default> = unknown extends Server
  ? Default
  : Server extends { readonly '~catalogue'?: infer Found }
    ? NonNullable<Found> extends { readonly [Key in Kind]: infer Items }
      ? Items
      : Default
    : Default

/** Editors propose the names in the type of the server. Other names are allowed, but have no types. */
type NameOf<Items> = keyof Items | (string & {})

/** The type of `client.callTool`. */
export type CallTool<Server> = unknown extends Server
  ? ClientCalls['callTool']
  : {
      <const Name extends NameOf<ToolsOf<Server>>>(
        name: Name,
        args: ArgumentsOf<Server, Name>,
        options: HandleCallOptions,
      ): Promise<TaskHandle<ResultOf<Server, Name>>>
      <const Name extends NameOf<ToolsOf<Server>>>(
        name: Name,
        ...rest: Rest<ArgumentsOf<Server, Name>>
      ): Promise<ResultOf<Server, Name>>
    }

/** The arguments of a tool by its name. */
type ArgumentsOf<Server, Name> = Name extends keyof ToolsOf<Server> ? InputOf<ToolsOf<Server>[Name]> : JsonObject

/** The type of `client.task`. */
export type TaskOf<Server> = unknown extends Server
  ? (id: string, options?: TaskOptions) => TaskHandle
  : <const Name extends NameOf<ToolsOf<Server>>>(
      id: string,
      options?: TaskOptions<Name & string>,
    ) => TaskHandle<ResultOf<Server, Name>>

/** The result of a tool by its name. */
type ResultOf<Server, Name> = ToolResult<Name extends keyof ToolsOf<Server> ? OutputOf<ToolsOf<Server>[Name]> : unknown>

/** The type of `client.getPrompt`. */
export type GetPrompt<Server> = unknown extends Server
  ? ClientCalls['getPrompt']
  : <const Name extends NameOf<PromptsOf<Server>>>(
      name: Name,
      ...rest: Name extends keyof PromptsOf<Server> ? Rest<PromptsOf<Server>[Name]> : Rest<Record<string, string>>
    ) => Promise<GetPromptResult>

/** The result of a tool. A tool with `output` has typed structured content. */
type ToolResult<Output> = unknown extends Output
  ? CallToolResult
  : Omit<CallToolResult, 'structuredContent'> & { structuredContent?: Output }

/** The arguments of a tool. They can be omitted if none of them is required. */
type Rest<Input> =
  Record<never, never> extends Input ? [args?: Input, options?: CallOptions] : [args: Input, options?: CallOptions]

/**
 * A function for each tool. It resolves to the structured content of the result, or to the whole result of a tool
 * without structured content. Older revisions of the legacy era have no structured content. There, if the content is a
 * single text block with JSON, it resolves to the parsed value. Rejects with `ToolCallError` if the tool failed.
 *
 * Without the type of the server, every name may be a tool. With `noUncheckedIndexedAccess`, write
 * `client.tools.add?.({ a: 1 })` or `client.callTool('add', { a: 1 })`.
 */
export type ToolCallers<Server> = {
  readonly [Name in keyof ToolsOf<Server>]: ToolCaller<InputOf<ToolsOf<Server>[Name]>, OutputOf<ToolsOf<Server>[Name]>>
}

/** A function that calls a tool. It has the type of a method, so that a typed client is assignable to `Client`. */
type ToolCaller<Input, Output> = { call(...rest: Rest<Input>): Promise<Output> }['call']

type InputOf<Tool> = Tool extends { readonly input: infer Input } ? Input : JsonObject

type OutputOf<Tool> = Tool extends { readonly output: infer Output } ? Output : unknown

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

/** How many functions are kept, so that the same tool has the same function. Above this number, the oldest is created again. */
const MAX_CALLERS = 10_000

type SendCall = (
  name: string,
  args: JsonObject | undefined,
  options: CallOptions | undefined,
) => Promise<CallToolResult>

/** @param isLegacy whether the revision may have no structured content, so that a text block contains the JSON */
export function createToolCallers<Server>(callTool: SendCall, isLegacy: () => boolean): ToolCallers<Server> {
  const callers = new BoundedMap<(args?: JsonObject, options?: CallOptions) => Promise<unknown>>(MAX_CALLERS)

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
    // Exclude `then` and `toJSON`: `await` must not treat the object as a promise, and `JSON.stringify` must not call a
    // tool.
    get: (_, name) => (typeof name === 'string' && name !== 'then' && name !== 'toJSON' ? callerOf(name) : undefined),
  }) as ToolCallers<Server>
}

/** Parses a result whose only content is a text block with JSON. Returns any other result unchanged. */
function jsonValueOf(result: CallToolResult): unknown {
  const [block, ...others] = result.content
  if (block?.type !== 'text' || others.length > 0) return result
  try {
    return JSON.parse(block.text)
  } catch {
    return result
  }
}
