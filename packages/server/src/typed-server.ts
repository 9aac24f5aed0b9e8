/** The types of the methods that register items. A chain of calls collects the types of all registered items. */

import type { Catalogue, Catalogued, SchemaInput, SchemaOutput } from '@mcpx/protocol'
import type { GetPrompt, PromptOptions } from './prompts.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './resources.ts'
import type { NoInput, NoOutput, RunTool, SomeSchema, ToolOptions } from './tools.ts'

/** The types of a server without tools and prompts. */
export interface NoOffers {
  /** No tools. */
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  tools: {}
  /** No prompts. */
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  prompts: {}
}

/** The part of a server's type that a tool adds. */
export interface WithTool<Name extends string, Input, Output> {
  readonly '~catalogue'?: {
    readonly tools: {
      readonly [Key in Name]: { readonly input: SchemaInput<Input>; readonly output: SchemaOutput<Output> }
    }
  }
}

/** The part of a server's type that a prompt adds. */
export interface WithPrompt<Name extends string, Args> {
  readonly '~catalogue'?: { readonly prompts: { readonly [Key in Name]: SchemaInput<Args> } }
}

/**
 * The registration methods. Each returns the object it was called on, so interfaces that extend this one keep their methods
 * in a chain. The type of `~catalogue` contains all registered items. The type of the object is inferred as `This` because,
 * with the type `this`, the compiler compares all registered items again in each step (measured).
 */
export interface Fluent<Offers extends Catalogue = NoOffers> extends Catalogued<Offers> {
  /**
   * Adds a tool. `run` receives the output of the `input` schema. Its return value is checked with `output`, by the compiler
   * and at run time. Invalid arguments are refused before `run` is called; throw a `ToolError` for other errors that the
   * model should read. Throws a `RegistrationError` for a used name, or a schema that cannot be converted to JSON Schema.
   *
   * ```ts
   * server.tool('add', {
   *   description: 'Add two numbers',
   *   input: z.object({ a: z.number(), b: z.number() }),
   *   output: z.object({ sum: z.number() }),
   * }, ({ a, b }) => ({ sum: a + b }))
   * ```
   */
  tool<This, const Name extends string, Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    this: This,
    name: Name,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): This & WithTool<Name, Input, Output>

  /**
   * Adds a resource with a URI, or many resources with a URI template. The contents of a resource may be a value or a
   * function; a template needs a function, which receives its variables. A URI is read from the resource with that URI, or
   * else from the first template that matches.
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
  prompt<This, const Name extends string, Args extends SomeSchema = NoInput>(
    this: This,
    name: Name,
    options: PromptOptions<Args>,
    get: GetPrompt<Args>,
  ): This & WithPrompt<Name, Args>
}
