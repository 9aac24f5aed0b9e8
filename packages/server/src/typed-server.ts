/** The types of the methods that register tools, resources and prompts: a chain of calls remembers what was registered. */

import type { Catalogue, Catalogued, SchemaInput, SchemaOutput } from '@mcpx/protocol'
import type { GetPrompt, PromptOptions } from './prompts.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './resources.ts'
import type { NoInput, NoOutput, RunTool, SomeSchema, ToolOptions } from './tools.ts'

/** The types of a server without tools and prompts. */
export interface NoOffers {
  /** No tools yet. */
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  tools: {}
  /** No prompts yet. */
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
 * Interfaces that extend this one keep their own methods along a chain: each method returns the object that it was called
 * on. The type of `~catalogue` holds everything that was registered. The object's type is inferred as `This`: with the type
 * `this`, the compiler compares everything registered so far again at each step (measured).
 */
export interface Fluent<Offers extends Catalogue = NoOffers> extends Catalogued<Offers> {
  /**
   * Adds a tool. `run` gets the output of the `input` schema; what it returns is checked against `output`, by the compiler
   * and at run time. Wrong arguments are answered by the library; throw a `ToolError` to tell the model what went wrong.
   * Throws a `RegistrationError` for a name that is taken, or a schema that cannot be converted to JSON Schema.
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
   * Adds a resource under a URI, or a family of resources under a URI template. The contents of a resource may be given as
   * they are; a template needs a function of its variables. A URI belongs to the resource of that URI, else to the first
   * template that matches.
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
   * Adds a prompt. Clients send its arguments as strings; `args` may convert them.
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
