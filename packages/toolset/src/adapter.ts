/** The parts that the adapters of all model APIs share. */
import { checkArray, checkOptions } from './checks.ts'
import type { ResultPart, ToolResult } from './results.ts'
import { toParts } from './results.ts'
import type { Dialect } from './schemas/dialects.ts'
import type { JsonObject } from './schemas/json.ts'
import { fittedSchemaOf, type ToolCallOptions, type ToolInfo, type ToolProgress, type Toolset } from './toolset.ts'

/** The options of `run`. */
export interface RunOptions {
  /** Cancels the calls. Then `run` rejects. */
  readonly signal?: AbortSignal | undefined
  /** Called with the progress of each call and the name of the tool. */
  readonly onProgress?: ((progress: ToolProgress, tool: string) => void) | undefined
}

/** The options of all adapters. */
export interface AdapterOptions {
  /**
   * Whether media in results are sent to the model, if the API supports them. `false`: they are described as text, for
   * models that read only text. Default: true.
   */
  readonly media?: boolean | undefined
}

/** The options of adapters of APIs with a strict mode. */
export interface StrictOptions extends AdapterOptions {
  /** Whether to use the strict mode of the API, which enforces schemas, for tools whose schemas it supports. Default: false. */
  readonly strict?: boolean | undefined
}

export interface Definition {
  readonly name: string
  readonly tool: ToolInfo
  readonly description: string | undefined
  readonly schema: JsonObject & { readonly type: 'object' }
  readonly strict: boolean
}

export function definitionsOf(toolset: Toolset, dialect: Dialect): readonly Definition[] {
  return [...toolset.tools].map(([name, tool]) => {
    const { schema, strict } = fittedSchemaOf(tool, dialect)
    return { name, tool, description: tool.description ?? tool.title, schema, strict }
  })
}

/** The names of the options of `run`. */
const RUN_OPTIONS = ['signal', 'onProgress']

/**
 * Checks the arguments of `run`.
 *
 * @param argument the name of the part of a response that contains the calls
 */
export function checkRun(place: string, calls: unknown, argument: string, options: unknown): void {
  checkArray(place, calls, `pass ${argument}`)
  checkOptions(place, options, RUN_OPTIONS)
}

export function toCallOptions(name: string, { signal, onProgress }: RunOptions): ToolCallOptions {
  return { signal, onProgress: onProgress && ((progress) => onProgress(progress, name)) }
}

/** Runs a call of a model, and returns its result in parts. */
export async function runCall(
  toolset: Toolset,
  call: { readonly name: string; readonly args: unknown },
  { dialect, accepted, ...options }: RunOptions & { readonly dialect: Dialect; readonly accepted?: RegExp | undefined },
): Promise<{ readonly result: ToolResult; readonly parts: readonly ResultPart[] }> {
  const result = await toolset.call(call.name, call.args, { ...toCallOptions(call.name, options), dialect })
  return { result, parts: toParts(result, accepted) }
}
