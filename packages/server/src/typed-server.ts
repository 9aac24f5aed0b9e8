/** The types of the methods that register items. A chain of calls collects the types of all registered items. */

import type { Catalogue, Catalogued, SchemaInput, SchemaOutput } from '@mcpx/protocol'
import type { DefinedItem } from './define.ts'
import type { Mountable } from './mount/prefix.ts'
import type { GetPrompt, PromptOptions } from './prompts.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './resources.ts'
import type { NoInput, NoOutput, RunTool, ToolOptions } from './tools.ts'

/** The types of a server without tools and prompts. */
export interface NoItems {
  /** No tools. */
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  tools: {}
  /** No prompts. */
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  prompts: {}
}

/** The part of a server's type that a tool adds: its arguments and its result. */
export interface WithTool<Name extends string, Input, Output> {
  readonly '~catalogue'?: {
    readonly tools: { readonly [Key in Name as Known<Key>]: { readonly input: Input; readonly output: Output } }
  }
}

/** The part of a server's type that a prompt adds: its arguments, as clients send them. */
export interface WithPrompt<Name extends string, Args> {
  readonly '~catalogue'?: { readonly prompts: { readonly [Key in Name as Known<Key>]: Args } }
}

/** The part of a server's type that `server.add` adds. */
export interface WithItems<Items extends DefinedItem> {
  readonly '~catalogue'?: UnionToIntersection<CatalogueOf<Items>>
}

/** The part of a server's type that a mounted server adds. Handlers have no types. */
export interface WithMounted<Prefix extends string, Target> {
  readonly '~catalogue'?: {
    readonly tools: Prefixed<Prefix, CatalogueOf<Target>, 'tools'>
    readonly prompts: Prefixed<Prefix, CatalogueOf<Target>, 'prompts'>
  }
}

/** The arguments of a prompt as clients send them. For a schema that accepts any value, the argument is a string. */
export type PromptArguments<Args> = {
  [Name in keyof SchemaInput<Args>]: unknown extends SchemaInput<Args>[Name]
    ? string
    : Extract<SchemaInput<Args>[Name], string | undefined>
}

/** The name, or `never` if it is not a literal type, because the type `string` would apply to every tool. */
type Known<Name extends string> = Record<never, never> extends Record<Name, unknown> ? never : Name

type CatalogueOf<Item> = Item extends { readonly '~catalogue'?: infer Found } ? NonNullable<Found> : object

type Prefixed<Prefix extends string, Found, Kind extends string> = Found extends { readonly [Key in Kind]: infer Items }
  ? { readonly [Name in keyof Items & string as Known<`${Prefix}.${Name}`>]: Items[Name] }
  : NoItems['tools']

type UnionToIntersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  member: infer Intersection,
) => void
  ? Intersection
  : never

/**
 * The registration methods. Each returns the object it was called on, so interfaces that extend this one keep their
 * methods in a chain. The type of `~catalogue` contains all registered items. The type of the object is inferred as
 * `This`: with the type `this`, the compiler would compare all registered items again in each step (measured).
 */
export interface Fluent<Types extends Catalogue = NoItems> extends Catalogued<Types> {
  /**
   * Adds a tool. `run` receives the output of the `input` schema. Its return value is checked with `output`, by the
   * compiler and at run time. Invalid arguments are refused before `run` is called; throw a `ToolError` for other
   * errors that the model should read. Throws a `RegistrationError` for a used name, or a schema that cannot be
   * converted to JSON Schema.
   *
   * ```ts
   * server.tool('add', {
   *   description: 'Add two numbers',
   *   input: z.object({ a: z.number(), b: z.number() }),
   *   output: z.object({ sum: z.number() }),
   * }, ({ a, b }) => ({ sum: a + b }))
   * ```
   */
  tool<This, const Name extends string, Input = NoInput, Output = NoOutput>(
    this: This,
    name: Name,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): This & WithTool<Name, SchemaInput<Input>, SchemaOutput<Output>>

  /**
   * Adds a resource with a URI, or many resources with a URI template. The contents of a resource may be a value or a
   * function; a template needs a function, which receives its variables. A URI is read from the resource with this URI,
   * otherwise from the first template that matches.
   *
   * ```ts
   * server.resource('note://{id}', { list: () => notes.all() }, ({ id }) => notes.get(id))
   * ```
   */
  resource<This, const Uri extends string>(
    this: This,
    uri: Uri,
    options: ResourceOptions<Uri>,
    read: ReadResource<Uri> | Awaited<ReadReturn>,
  ): This

  /**
   * Adds a prompt. Clients send its arguments as strings, which the `args` schema may convert.
   *
   * ```ts
   * server.prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review this:\n${code}`)
   * ```
   */
  prompt<This, const Name extends string, Args = NoInput>(
    this: This,
    name: Name,
    options: PromptOptions<Args>,
    get: GetPrompt<Args>,
  ): This & WithPrompt<Name, PromptArguments<Args>>

  /**
   * Adds tools, resources and prompts that `defineTool`, `defineResource` and `definePrompt` have created, for example
   * in separate files.
   *
   * ```ts
   * createServer(info).add(search, book, notes)
   * ```
   */
  add<This, const Items extends readonly DefinedItem[]>(this: This, ...items: Items): This & WithItems<Items[number]>

  /**
   * Adds all items of another handler or server with a prefix, so that `search` becomes `github.search`. Throws a
   * `RegistrationError` if the server would contain itself, directly or through other servers.
   */
  mount<This, const Prefix extends string, Target extends Mountable>(
    this: This,
    prefix: Prefix,
    target: Target,
  ): This & WithMounted<Prefix, Target>
}
