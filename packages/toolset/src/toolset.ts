/** The tools of one or more servers, under names that model APIs accept. */
import { createJsonSchemaValidator, type JsonSchema, PEER_SCHEMA_OPTIONS } from '@mcpx/json-schema'
import { checkLimit, checkOptions, checkSource, describe } from './checks.ts'
import { errorResult, limitText, parseArguments, type ToolResult } from './results.ts'
import type { Dialect } from './schemas/dialects.ts'
import type { SchemaChange } from './schemas/fit-schema.ts'
import { type FittedSchema, fitSchema } from './schemas/fit-schema.ts'
import type { JsonObject } from './schemas/json.ts'

/** A tool of a server. */
export interface ToolInfo {
  /** The name of the tool on the server. */
  readonly name: string
  /** The name for people. */
  readonly title?: string | undefined
  /** Describes the tool to the model. */
  readonly description?: string | undefined
  /** The JSON Schema of the arguments. */
  readonly inputSchema: { readonly type: 'object' }
}

/** The progress of a call. */
export interface ToolProgress {
  /** The amount of work that is done. */
  readonly progress: number
  /** The total amount of work. */
  readonly total?: number | undefined
  /** Describes the progress. */
  readonly message?: string | undefined
}

/** The options of one call. */
export interface ToolCallOptions {
  /** Cancels the call, which then rejects. */
  readonly signal?: AbortSignal | undefined
  /** Called with the progress of the call. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
}

/** A connected client: the result of `connect` or `connectAll` of `@mcpx/client`. */
export interface ToolSource {
  /** Lists the tools. */
  listTools(): { all(): Promise<readonly ToolInfo[]> }
  /** Calls a tool. */
  callTool(name: string, args: JsonObject, options?: ToolCallOptions): Promise<ToolResult>
  /** Opens a stream of changes. Needed for the option `follow`. */
  listen?(filter: { toolsListChanged: boolean }): AsyncIterable<unknown> & { close(): void }
}

/** The options of `createToolset`. */
export interface ToolsetOptions {
  /**
   * Whether the list is read again when a server announces a change, until `close` is called. Default: false; then call
   * `refresh` after changes.
   */
  readonly follow?: boolean | undefined
  /** Called when the list was read again because of `follow`. Default: none. */
  readonly onChange?: (() => void) | undefined
  /**
   * The maximum length of the text in a result, in characters. The rest is replaced by a note for the model. Default:
   * 100,000.
   */
  readonly maxText?: number | undefined
  /** Called with each problem that was handled, for example two tools with the same name. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** Tools that a model can call. */
export interface Toolset {
  /**
   * The tools by the name that the model uses: 1 to 64 letters, digits, `_` and `-`. Replaced by a new map after each
   * change.
   */
  readonly tools: ReadonlyMap<string, ToolInfo>
  /**
   * Calls a tool by the name that the model uses, with an object or a JSON string. Resolves to a result with `isError`
   * if the tool fails or the model has made a mistake, so that the model can react. Rejects only when `signal` is
   * aborted.
   */
  call(name: string, args: unknown, options?: DialectCallOptions): Promise<ToolResult>
  /** Reads the list of tools again. Tools keep their names for the model. */
  refresh(): Promise<void>
  /** Ends `follow`. The client stays open. */
  close(): void
}

/** The options of `toolset.call`. */
export interface DialectCallOptions extends ToolCallOptions {
  /** The dialect of the schema that the model received. If set, the arguments are restored and checked. Default: none. */
  readonly dialect?: Dialect | undefined
}

/** A change to the schema of a tool. */
export interface ToolSchemaChange extends SchemaChange {
  /** The name that the model uses. */
  readonly tool: string
}

const MAX_TEXT = 100_000
const MAX_LISTED_NAMES = 50

/** Reads the tools of a client, or of several servers that `connectAll` has combined. */
export async function createToolset(source: ToolSource, options: ToolsetOptions = {}): Promise<Toolset> {
  checkSource(source)
  checkOptions('createToolset', options, ['follow', 'onChange', 'maxText', 'onWarning'])
  const { follow = false, maxText = MAX_TEXT, onWarning = () => {}, onChange = () => {} } = options
  checkLimit('createToolset: maxText', maxText)
  const modelNames = new ModelNames()
  let tools: ReadonlyMap<string, ToolInfo> = new Map()

  async function refresh(): Promise<void> {
    const listed = new Map<string, ToolInfo>()
    for (const tool of await source.listTools().all()) {
      const name = modelNames.of(tool.name)
      if (!listed.has(name)) listed.set(name, tool)
      else
        onWarning(new Error(`createToolset: two tools are named ${JSON.stringify(tool.name)}; the first one is used`))
    }
    tools = listed
    modelNames.forgetOthers(new Set([...listed.values()].map(({ name }) => name)))
  }

  await refresh()
  const changes = follow ? source.listen?.({ toolsListChanged: true }) : undefined
  if (follow && changes === undefined)
    throw new TypeError('follow: expected a client with `listen`; call `refresh` instead')
  let isClosed = false
  if (changes !== undefined) {
    const refreshAgain = async () => {
      try {
        await refresh()
        onChange()
      } catch (cause) {
        onWarning(new Error('follow: the tools could not be read again', { cause }))
      }
    }
    const warn = (cause?: unknown) => {
      if (!isClosed) onWarning(new Error('follow: the stream of changes has ended; call `refresh` instead', { cause }))
    }
    followChanges(changes, refreshAgain).then(() => warn(), warn)
  }

  return {
    get tools() {
      return tools
    },
    refresh,
    close() {
      isClosed = true
      changes?.close()
    },
    async call(name, args, { dialect, ...callOptions } = {}) {
      const tool = tools.get(name)
      if (tool === undefined) return unknownTool(name, tools)
      const prepared = prepareArguments(name, tool, args, dialect)
      if ('error' in prepared) return errorResult(prepared.error)
      try {
        return limitText(await source.callTool(tool.name, prepared.args, callOptions), maxText)
      } catch (error) {
        callOptions.signal?.throwIfAborted()
        return errorResult(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Reads the list again after each change, until the stream of changes ends. Continues if a list cannot be read. */
async function followChanges(changes: AsyncIterable<unknown>, onChange: () => Promise<void>): Promise<void> {
  for await (const _ of changes) await onChange()
}

const MAX_NAME_LENGTH = 64
/** How many names are kept of tools that the servers do not list any more. */
const MAX_OLD_NAMES = 10_000

/** The names that the model uses for tools: unique, at most 64 letters, digits, `_` and `-`, and a letter or `_` first. */
class ModelNames {
  /** The names by the names on the server. */
  readonly #names = new Map<string, string>()
  readonly #used = new Set<string>()
  /** The last number that was added to a name. */
  readonly #numbers = new Map<string, number>()

  /** Returns the name for a tool. It is the same in each call. */
  of(tool: string): string {
    const known = this.#names.get(tool)
    if (known !== undefined) return known
    const plain = tool.replace(/[^\w-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
    const cut = plain.slice(0, MAX_NAME_LENGTH)
    let name = cut
    for (let n = (this.#numbers.get(cut) ?? 1) + 1; this.#used.has(name); n += 1) {
      const end = `_${n}`
      name = plain.slice(0, MAX_NAME_LENGTH - end.length) + end
      this.#numbers.set(cut, n)
    }
    this.#names.set(tool, name)
    this.#used.add(name)
    return name
  }

  /** Removes the names of tools that are no longer listed, if there are many. */
  forgetOthers(listed: ReadonlySet<string>): void {
    if (this.#names.size <= listed.size + MAX_OLD_NAMES) return
    this.#numbers.clear()
    for (const [tool, name] of this.#names) {
      if (listed.has(tool)) continue
      this.#names.delete(tool)
      this.#used.delete(name)
    }
  }
}

export function unknownTool(name: string, tools: ReadonlyMap<string, ToolInfo>): ToolResult {
  const names = [...tools.keys()]
  const more = names.length > MAX_LISTED_NAMES ? `, and ${names.length - MAX_LISTED_NAMES} more` : ''
  return errorResult(
    `There is no tool called ${name}. There are: ${names.slice(0, MAX_LISTED_NAMES).join(', ')}${more}.`,
  )
}

// Arguments

const fittedSchemas = new WeakMap<ToolInfo, Map<Dialect, FittedSchema>>()
const validator = createJsonSchemaValidator(PEER_SCHEMA_OPTIONS)

/** Returns the schema of a tool for a dialect. Each schema is converted once and cached. */
export function fittedSchemaOf(tool: ToolInfo, dialect: Dialect): FittedSchema {
  const known = fittedSchemas.get(tool) ?? new Map<Dialect, FittedSchema>()
  const fitted = known.get(dialect) ?? fitSchema(tool.inputSchema, dialect)
  fittedSchemas.set(tool, known.set(dialect, fitted))
  return fitted
}

/** Lists the changes to the schemas of the tools for a dialect. An empty list means that each schema is sent unchanged. */
export function listSchemaChanges(toolset: Toolset, dialect: Dialect): readonly ToolSchemaChange[] {
  return [...toolset.tools].flatMap(([tool, info]) =>
    fittedSchemaOf(info, dialect).changes.map((change) => ({ tool, ...change })),
  )
}

/**
 * Restores the arguments of a model. If the model received a changed schema, also validates the arguments with the
 * original schema.
 */
export function prepareArguments(
  name: string,
  tool: ToolInfo,
  args: unknown,
  dialect: Dialect | undefined,
): { args: JsonObject } | { error: string } {
  const parsed = parseArguments(args)
  if (parsed === undefined)
    return { error: `${name}: expected the arguments as a JSON object, got ${describeArguments(args)}` }
  if (dialect === undefined) return { args: parsed }
  const fitted = fittedSchemaOf(tool, dialect)
  const restored = fitted.restore(parsed)
  const problems = fitted.changes.length > 0 ? problemsOf(tool, restored) : []
  if (problems.length === 0) return { args: restored }
  return { error: `${name}: the arguments do not fit the tool. ${problems.slice(0, 3).join('; ')}` }
}

/**
 * Returns the problems of arguments. If the schema cannot be compiled, returns an empty list, and only the server
 * validates the arguments.
 */
function problemsOf({ inputSchema }: ToolInfo, args: JsonObject): readonly string[] {
  try {
    const verdict = validator.compile(inputSchema as JsonSchema)(args, 'arguments')
    return verdict.valid ? [] : verdict.problems.map(({ path, message }) => `${path}: ${message}`)
  } catch {
    return []
  }
}

function describeArguments(args: unknown): string {
  if (typeof args === 'string') return 'text that is not a complete JSON object'
  return Array.isArray(args) || typeof args === 'number' ? JSON.stringify(args) : describe(args)
}
