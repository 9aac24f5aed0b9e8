/** The methods that add offers, and remember in types what was added. */

import type { AnySchema, Catalogue, Catalogued } from '@mcpx/protocol'
import type { GetPrompt, PromptOptions } from './features/prompt-options.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './features/resource-options.ts'
import type { Given, NoInput, NoOutput, RunTool, Taken, ToolOptions } from './features/tool-options.ts'

/** Nothing on offer yet. */
export interface NoOffers {
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  tools: {}
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  prompts: {}
}

/** What one method adds to the type of the object that it returns. */
export interface Offered<Offer> {
  readonly '~catalogue'?: Offer
}

export interface ToolOffer<Name extends string, Input, Output> {
  readonly tools: { readonly [Key in Name]: { readonly input: Taken<Input>; readonly output: Given<Output> } }
}

export interface PromptOffer<Name extends string, Args> {
  readonly prompts: { readonly [Key in Name]: Taken<Args> }
}

/**
 * What extends this interface keeps its own methods all along a chain, as each returns `this`. What was added is read
 * off the member `~catalogue`.
 */
export interface Fluent<Offers extends Catalogue = NoOffers> extends Catalogued<Offers> {
  /**
   * Adds a tool. `run` gets the arguments as `input` gives them; what it returns is checked against `output`, by the
   * compiler and at run time. Wrong arguments are answered by the library; to fail in words that the model can read,
   * throw a `ToolError`. Throws a `RegistrationError` for a name that is taken, or a schema that cannot be shown.
   *
   * ```ts
   * server.tool('add', {
   *   description: 'Add two numbers',
   *   input: z.object({ a: z.number(), b: z.number() }),
   *   output: z.object({ sum: z.number() }),
   * }, ({ a, b }) => ({ sum: a + b }))
   * ```
   */
  tool<const Name extends string, Input extends AnySchema = NoInput, Output extends AnySchema = NoOutput>(
    name: Name,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): this & Offered<ToolOffer<Name, Input, Output>>

  /**
   * Adds a resource under a URI, or a family of them under a URI template. A resource may be given as it is; a
   * template needs a function of its variables. A URI belongs to the resource that has it, else to the first template
   * that it fits.
   *
   * ```ts
   * server.resource('note://{id}', { list: () => notes.all() }, ({ id }) => notes.get(id))
   * ```
   */
  resource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Uri>,
    read: ReadResource<Uri> | Awaited<ReadReturn>,
  ): this

  /**
   * Adds a prompt. Its arguments are strings on the wire; `args` may convert them.
   *
   * ```ts
   * server.prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review this:\n${code}`)
   * ```
   */
  prompt<const Name extends string, Args extends AnySchema = NoInput>(
    name: Name,
    options: PromptOptions<Args>,
    get: GetPrompt<Args>,
  ): this & Offered<PromptOffer<Name, Args>>
}
