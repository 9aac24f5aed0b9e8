/** The methods that add offers, and remember in types what was added. */

import type { Catalogue, Catalogued } from '@mcpx/protocol'
import type { GetPrompt, PromptOptions } from './features/prompt-options.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './features/resource-options.ts'
import type {
  Given,
  NoInput,
  NoOutput,
  RunPlainTool,
  RunTool,
  SomeSchema,
  Taken,
  ToolOptions,
} from './features/tool-options.ts'

/** Nothing on offer yet. */
export interface NoOffers {
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  tools: {}
  // biome-ignore lint/complexity/noBannedTypes: an object without members is meant
  prompts: {}
}

/** What a tool adds to the type of the object that it is added to. */
export interface OffersTool<Name extends string, Input, Output> {
  readonly '~catalogue'?: {
    readonly tools: { readonly [Key in Name]: { readonly input: Taken<Input>; readonly output: Given<Output> } }
  }
}

/** What a prompt adds to it. */
export interface OffersPrompt<Name extends string, Args> {
  readonly '~catalogue'?: { readonly prompts: { readonly [Key in Name]: Taken<Args> } }
}

/**
 * What extends this interface keeps its own methods along a chain, as each returns what it was called on. All offers
 * so far are the type of the member `~catalogue`. The type of what it is called on is inferred, as `This`: with the type
 * `this` instead, the compiler goes through all offers so far again at each step, which costs it a seventh more for 40
 * tools, and more with each (measured).
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
  tool<This, const Name extends string, Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    this: This,
    name: Name,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): This & OffersTool<Name, Input, Output>

  /**
   * Adds a resource under a URI, or a family of them under a URI template. A resource may be given as it is; a
   * template needs a function of its variables. A URI belongs to the resource that has it, else to the first template
   * that it fits.
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
   * Adds a prompt. Its arguments are strings on the wire; `args` may convert them.
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
  ): This & OffersPrompt<Name, Args>
}

/** The same for what holds tools alone, which ask the client nothing. */
export interface FluentTools<Offers extends Catalogue = NoOffers> extends Catalogued<Offers> {
  /** Adds a tool, as `tool` of `Fluent` does. */
  tool<This, const Name extends string, Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    this: This,
    name: Name,
    options: ToolOptions<Input, Output>,
    run: RunPlainTool<Input, Output>,
  ): This & OffersTool<Name, Input, Output>
}
