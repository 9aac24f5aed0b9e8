/** Registers, lists and calls the tools of a server. */

import type {
  AnySchema,
  Awaitable,
  CallToolResult,
  Context,
  Icon,
  InputRequiredResult,
  JsonObject,
  MetaObject,
  ObjectSchema,
  RawJsonSchema,
  SchemaInput,
  SchemaOutput,
  StandardSchema,
  Tool,
  ToolAnnotations,
  ToolHandler,
  ToolInputSchema,
  ValueSchema,
} from '@mcpx/protocol'
import { failedResult, RegistrationError, ToolError } from './errors.ts'
import type { ExtensionToolOption, ExtensionToolOptions } from './extension.ts'
import {
  createAccessRule,
  cutPage,
  type ListOptions,
  type NamedItem,
  NamedItems,
  nameOf,
  toCacheHints,
  type VisibilityOptions,
} from './named-items.ts'
import { COMMON_OPTIONS, checkRegistration, pickDefined } from './registration.ts'
import { createStructuredResult, type ToolResult, toToolResult } from './results.ts'
import {
  createOutputCheck,
  describeIssues,
  headerProblem,
  type PreparedSchema,
  prepareObjectSchema,
  prepareSchema,
  type SchemaOptions,
} from './schemas.ts'

/** A schema of a library, or a JSON Schema. This type has fewer members than `AnySchema`, so it compiles faster. */
export type SomeSchema = ConvertibleSchema | RawJsonSchema

interface ConvertibleSchema {
  readonly '~standard': {
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
    readonly jsonSchema: object
  }
}

/** The type of `input` or `args` if the option is missing: no arguments. */
export interface NoInput extends StandardSchema<Record<string, never>> {}

/** The type of `output` if the option is missing: the tool may return any value. */
export interface NoOutput extends StandardSchema<unknown> {}

/** Options of a tool. The compiler refuses schemas that cannot be used, with a sentence about the remedy. */
export type ToolOptions<Input = AnySchema, Output = AnySchema> = ToolMembers<Input, Output> & {
  input?: ObjectSchema<'input', Input> | undefined
  output?: ValueSchema<'output', Output> | undefined
}

/** The members of `ToolOptions`. */
export interface ToolMembers<Input, Output> extends VisibilityOptions, ExtensionToolOptions {
  /** The display name. Default: the tool's name. */
  title?: string | undefined
  /** The description for the model: what the tool does and when to use it. Default: none. */
  description?: string | undefined
  /**
   * The schema of the arguments: a schema of any library that converts to JSON Schema, or a JSON Schema. Default: no
   * arguments.
   */
  input?: Input | undefined
  /** The schema of the `structuredContent` of results. Default: results have none. */
  output?: Output | undefined
  /** Hints about the behaviour of the tool, such as `readOnlyHint`. Default: none. */
  annotations?: ToolAnnotations | undefined
  /** Icons that a client may show. Default: none. */
  icons?: Icon[] | undefined
  /** Metadata for clients that support it. Default: none. */
  _meta?: MetaObject | undefined
  /** Whether the tool replaces a tool with the same name. Default: false; then a name that is in use throws. */
  replace?: boolean | undefined
}

export const TOOL_OPTION_NAMES: readonly string[] = [...COMMON_OPTIONS, 'input', 'output', 'annotations']

/**
 * The values that a tool may return: the input of its `output` schema, or a whole result. Without `output`, any value: a
 * string, content from `text()` and similar functions, an array of these, undefined, or a value that is sent as JSON.
 *
 * While the compiler infers the type of a `new Promise` that the tool returns, it sets `Output` to `never`. Then any
 * value is accepted.
 */
export type ToolReturn<Output> = Awaitable<
  ([Output] extends [never] ? unknown : SchemaInput<Output>) | WholeResult<SchemaInput<Output>> | InputRequiredResult
>

/** A whole result whose structured content fits the `output` schema. */
type WholeResult<Value> = CallToolResult & { structuredContent?: Value | undefined }

export type RunTool<Input, Output> = (args: SchemaOutput<Input>, ctx: Context) => ToolReturn<Output>

export interface ToolsOptions extends ListOptions, SchemaOptions {
  /** The tool options of extensions. Undefined if the server has no extensions. */
  readonly extensionOptions: ReadonlyMap<string, ExtensionToolOption> | undefined
}

interface RegisteredTool extends NamedItem {
  /** The definition that clients see. */
  readonly definition: Tool
  /** The tool in error messages, such as `Tool "add"`. */
  readonly label: string
  readonly input: PreparedSchema | undefined
  readonly output: PreparedOutput | undefined
  /** The options that belong to extensions. Undefined if it has none. */
  readonly extensionOptions: ExtensionToolOptions | undefined
  run(args: never, ctx: Context): unknown
}

export class Tools extends NamedItems<RegisteredTool> {
  readonly #options: ToolsOptions

  constructor(options: ToolsOptions) {
    super('tool')
    this.#options = options
  }

  register(name: string, options: ToolOptions, run: (args: never, ctx: Context) => unknown): void {
    this.add(createTool(name, options, run, this.#options), options.replace)
  }

  readonly handler: ToolHandler = {
    listTools: async ({ cursor }, { auth }) => {
      const { pageSize, hints } = this.#options
      const { items, ...next } = cutPage(this.visibleTo(auth), nameOf, 'tools', cursor, pageSize)
      return { tools: items.map(({ definition }) => definition), ...next, ...toCacheHints(hints, this.isRestricted) }
    },
    callTool: async (params, ctx) => {
      const { label, input, output, run } = this.find(params.name, ctx)
      try {
        // A tool without `input` ignores all arguments.
        const { issues, value } = input === undefined ? { value: {} } : await input.check(params.arguments ?? {})
        if (issues !== undefined) return failedResult(describeIssues(issues, 'arguments'))
        const returned = await run(value as never, ctx)
        return output === undefined ? toToolResult(returned, label) : await output.toResult(returned)
      } catch (error) {
        if (error instanceof ToolError) return failedResult(error.message)
        throw error
      }
    },
  }
}

function createTool(
  name: string,
  options: ToolOptions,
  run: (args: never, ctx: Context) => unknown,
  use: ToolsOptions,
): RegisteredTool {
  const { extensionOptions: rules = NO_RULES } = use
  const label = checkRegistration('Tool', [name, options, run], [...TOOL_OPTION_NAMES, ...rules.keys()])
  if (!/^[\w.-]{1,128}$/.test(name)) {
    use.warn(`${label}: clients may refuse this name; use 1 to 128 characters of A-Z a-z 0-9 _ . -`)
  }
  const input = prepareInput(options.input, label, use)
  const output = prepareOutput(options.output, label, use)
  const definition: Tool = {
    name,
    inputSchema: (input?.json as ToolInputSchema | undefined) ?? { type: 'object', additionalProperties: false },
    ...pickDefined(options, 'title', 'description'),
    ...(output && { outputSchema: output.json }),
    ...pickDefined(options, 'annotations', 'icons', '_meta'),
  }
  const { extensionOptions, shown } = applyRules(rules, label, options, definition)
  return { name, label, access: createAccessRule(options), definition: shown, input, output, extensionOptions, run }
}

const NO_RULES: ReadonlyMap<string, ExtensionToolOption> = new Map()

/** Checks the options that belong to extensions. Returns them, and the definition that clients see. */
function applyRules(
  rules: ReadonlyMap<string, ExtensionToolOption>,
  label: string,
  options: ToolOptions,
  definition: Tool,
): { extensionOptions: ExtensionToolOptions | undefined; shown: Tool } {
  const given = Object.entries(options).filter(([name, value]) => rules.has(name) && value !== undefined)
  let shown = definition
  for (const [name, value] of given) {
    const problem = rules.get(name)?.check?.(value, { ...options })
    if (problem !== undefined) throw new RegistrationError(`${label}, ${name}: ${problem}`)
    shown = rules.get(name)?.define?.(shown, value) ?? shown
  }
  return { extensionOptions: given.length === 0 ? undefined : Object.fromEntries(given), shown }
}

function prepareInput(schema: AnySchema | undefined, label: string, options: SchemaOptions) {
  if (schema === undefined) return undefined
  const where = `${label}, input`
  const prepared = prepareObjectSchema(schema, { ...options, where, side: 'input', root: 'arguments' })
  const problem = headerProblem(prepared.json, where)
  if (problem !== undefined) throw new RegistrationError(problem)
  return prepared
}

interface PreparedOutput {
  readonly json: JsonObject
  toResult(value: unknown): Promise<ToolResult>
}

function prepareOutput(
  schema: AnySchema | undefined,
  label: string,
  options: SchemaOptions,
): PreparedOutput | undefined {
  if (schema === undefined) return undefined
  const use = { ...options, where: `${label}, output`, side: 'output', root: 'result' } as const
  const { json, check } = prepareSchema(schema, use)
  return { json, toResult: createStructuredResult(label, check, createOutputCheck(schema, json, use)) }
}
