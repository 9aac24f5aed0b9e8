/** Registers, lists and renders the prompts of a server. */

import {
  type AnySchema,
  type Awaitable,
  type ContentBlock,
  type Context,
  type GetPromptResult,
  type Icon,
  type InputRequiredResult,
  invalidParams,
  isObject,
  type JsonObject,
  type MetaObject,
  type Prompt,
  type PromptArgument,
  type PromptHandler,
  quoted,
  type Role,
  type SchemaInput,
  type SchemaOutput,
  type StringsSchema,
} from '@mcpx/protocol'
import type { Completer, Completers } from './completion.ts'
import { RegistrationError } from './errors.ts'
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
import { toPromptResult } from './results.ts'
import { coerces } from './schema-check.ts'
import { describeIssues, prepareObjectSchema, type SchemaOptions } from './schemas.ts'

/** Options of a prompt. The compiler refuses schemas that cannot be used, with a sentence about the remedy. */
export type PromptOptions<Args = AnySchema> = PromptMembers<Args> & {
  args?: StringsSchema<'args', Args> | undefined
}

/** The members of `PromptOptions`. */
export interface PromptMembers<Args> extends VisibilityOptions {
  /** The display name. Default: the prompt's name. */
  title?: string | undefined
  /** The description for the user. Default: none. */
  description?: string | undefined
  /**
   * The arguments, an object of strings: a schema of any library that converts to JSON Schema, or a JSON Schema.
   * Default: no arguments.
   */
  args?: Args | undefined
  /** Proposes values for the arguments. */
  complete?: { readonly [Name in Extract<keyof SchemaInput<Args>, string>]?: Completer } | undefined
  /** Icons that a client may show. Default: none. */
  icons?: Icon[] | undefined
  /** Metadata for clients that support it. */
  _meta?: MetaObject | undefined
  /** Whether the prompt replaces a prompt with the same name. Default: false, which throws for a used name. */
  replace?: boolean | undefined
}

const OPTION_NAMES: readonly (keyof PromptOptions)[] = [...COMMON_OPTIONS, 'args', 'complete']

/** A message of a prompt. A string becomes a text block. */
export interface PromptLine {
  readonly role: Role
  readonly content: string | ContentBlock
}

/** The values that a prompt may return: a user message (string or content), several messages, or a whole result. */
export type PromptReturn = Awaitable<
  string | ContentBlock | readonly PromptLine[] | GetPromptResult | InputRequiredResult
>

export type GetPrompt<Args> = (args: SchemaOutput<Args>, ctx: Context) => PromptReturn

export interface PromptsOptions extends ListOptions, SchemaOptions {}

interface RegisteredPrompt extends NamedItem {
  /** The definition that clients see. */
  readonly definition: Prompt
  readonly arguments: readonly PromptArgument[]
  readonly completers: Completers
  get(args: JsonObject, ctx: Context): Promise<GetPromptResult | InputRequiredResult>
}

export class Prompts extends NamedItems<RegisteredPrompt> {
  readonly #options: PromptsOptions

  constructor(options: PromptsOptions) {
    super('prompt')
    this.#options = options
  }

  register(name: string, options: PromptOptions, get: (args: never, ctx: Context) => unknown): void {
    this.add(createPrompt(name, options, get, this.#options), options.replace)
  }

  readonly handler: PromptHandler = {
    listPrompts: async ({ cursor }, { auth }) => {
      const { pageSize, hints } = this.#options
      const { items, ...next } = cutPage(this.visibleTo(auth), nameOf, 'prompts', cursor, pageSize)
      return { prompts: items.map(({ definition }) => definition), ...next, ...toCacheHints(hints, this.isRestricted) }
    },
    getPrompt: async (params, ctx) => this.find(params.name, ctx).get(params.arguments ?? {}, ctx),
  }
}

function createPrompt(
  name: string,
  options: PromptOptions,
  get: (args: never, ctx: Context) => unknown,
  use: PromptsOptions,
): RegisteredPrompt {
  const label = checkRegistration('Prompt', [name, options, get], OPTION_NAMES)
  const where = `${label}, args`
  const schema = options.args && prepareObjectSchema(options.args, { ...use, where, side: 'input', root: 'arguments' })
  const promptArguments = schema === undefined ? [] : readArguments(options.args, schema.json, where)
  const completers: Completers = options.complete ?? {}
  const stray = Object.keys(completers).find((key) => !promptArguments.some((argument) => argument.name === key))
  if (stray !== undefined) throw new RegistrationError(`${label}, complete: there is no argument ${quoted(stray)}`)
  const definition: Prompt = {
    name,
    ...pickDefined(options, 'title', 'description'),
    ...(promptArguments.length > 0 && { arguments: promptArguments }),
    ...pickDefined(options, 'icons', '_meta'),
  }
  return {
    name,
    access: createAccessRule(options),
    definition,
    arguments: promptArguments,
    completers,
    async get(values, ctx) {
      const missing = schema && promptArguments.find((each) => each.required && values[each.name] === undefined)
      if (missing !== undefined) throw invalidParams(`Missing argument: ${quoted(missing.name)}`)
      const { issues, value } = schema === undefined ? { value: {} } : await schema.check(values)
      if (issues !== undefined) throw invalidParams(describeIssues(issues, 'arguments'))
      return toPromptResult(await get(value as never, ctx), label, options.description)
    },
  }
}

/** Returns the arguments in a JSON Schema. Throws a `RegistrationError` for an argument that accepts no string. */
function readArguments(
  schema: AnySchema | undefined,
  { properties, required }: JsonObject,
  where: string,
): PromptArgument[] {
  if (!isObject(properties)) throw new RegistrationError(`${where}: expected an object schema with properties`)
  return Object.entries(properties).map(([name, property]) => {
    if (!acceptsString(property) && !coerces(schema, name)) {
      const remedy = 'convert them inside the schema, such as z.coerce.number() or z.string().transform(…)'
      throw new RegistrationError(`${where}.${name}: prompt arguments are strings; ${remedy}`)
    }
    const argument: PromptArgument = { name }
    const { title, description } = isObject(property) ? property : {}
    if (typeof title === 'string') argument.title = title
    if (typeof description === 'string') argument.description = description
    if (Array.isArray(required) && required.includes(name)) argument.required = true
    return argument
  })
}

/** Returns whether a schema accepts some string. References are not followed; for a reference, returns true. */
function acceptsString(schema: unknown): boolean {
  if (!isObject(schema)) return schema !== false
  const { type, anyOf, oneOf, const: only, enum: choices } = schema
  if (type !== undefined) return [type].flat().includes('string')
  if ('const' in schema) return typeof only === 'string'
  if (Array.isArray(choices)) return choices.some((choice) => typeof choice === 'string')
  const options = Array.isArray(anyOf) ? anyOf : oneOf
  return !Array.isArray(options) || options.some(acceptsString)
}
