/** Tools, resources and prompts as values. They can be in separate files, and `server.add` registers them. */

import { kindOf, type SchemaInput, type SchemaOutput } from '@mcpx/protocol'
import { RegistrationError } from './errors.ts'
import type { GetPrompt, PromptOptions } from './prompts.ts'
import type { Registry } from './registry.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './resources.ts'
import type { NoInput, NoOutput, RunTool, ToolOptions } from './tools.ts'
import type { PromptArguments, WithPrompt, WithTool } from './typed-server.ts'

/** A tool, resource or prompt that `server.add` accepts. */
export interface DefinedItem {
  /** Whether it is a tool, a resource or a prompt. */
  readonly kind: 'tool' | 'resource' | 'prompt'
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string
  /** The types of the item. The member exists only in types. */
  readonly '~catalogue'?: object
}

/** A tool as a value. `run` is the handler, so that a test can call it without a server. */
export interface DefinedTool<Name extends string = string, Input = NoInput, Output = NoOutput>
  extends WithTool<Name, SchemaInput<Input>, SchemaOutput<Output>> {
  /** The kind of this item. */
  readonly kind: 'tool'
  /** The name of the tool. */
  readonly name: Name
  /** The options of the tool. */
  readonly options: ToolOptions<Input, Output>
  /** The handler of the tool. */
  readonly run: RunTool<Input, Output>
}

/** A resource or a URI template as a value. */
export interface DefinedResource<Uri extends string = string> {
  /** The kind of this item. */
  readonly kind: 'resource'
  /** The URI or the URI template. */
  readonly name: Uri
  /** The options of the resource. */
  readonly options: ResourceOptions<Uri>
  /** The contents, or the function that reads them. */
  readonly read: ReadResource<Uri> | Awaited<ReadReturn>
}

/** A prompt as a value. */
export interface DefinedPrompt<Name extends string = string, Args = NoInput>
  extends WithPrompt<Name, PromptArguments<Args>> {
  /** The kind of this item. */
  readonly kind: 'prompt'
  /** The name of the prompt. */
  readonly name: Name
  /** The options of the prompt. */
  readonly options: PromptOptions<Args>
  /** The function that returns the messages. */
  readonly get: GetPrompt<Args>
}

/**
 * Creates a tool as a value, with the arguments of `server.tool`. The arguments are checked when a server adds the tool.
 *
 * ```ts
 * export const search = defineTool('search', { input: z.object({ word: z.string() }) }, ({ word }) => find(word))
 * createServer(info).add(search)
 * ```
 */
export function defineTool<const Name extends string, Input = NoInput, Output = NoOutput>(
  name: Name,
  options: ToolOptions<Input, Output>,
  run: RunTool<Input, Output>,
): DefinedTool<Name, Input, Output> {
  return { kind: 'tool', name, options, run }
}

/**
 * Creates a resource as a value, with the arguments of `server.resource`.
 *
 * ```ts
 * export const note = defineResource('note://{id}', { mimeType: 'text/plain' }, ({ id }) => notes.get(id))
 * ```
 */
export function defineResource<const Uri extends string>(
  uri: Uri,
  options: ResourceOptions<Uri>,
  read: ReadResource<Uri> | Awaited<ReadReturn>,
): DefinedResource<Uri> {
  return { kind: 'resource', name: uri, options, read }
}

/**
 * Creates a prompt as a value, with the arguments of `server.prompt`.
 *
 * ```ts
 * export const review = definePrompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review ${code}`)
 * ```
 */
export function definePrompt<const Name extends string, Args = NoInput>(
  name: Name,
  options: PromptOptions<Args>,
  get: GetPrompt<Args>,
): DefinedPrompt<Name, Args> {
  return { kind: 'prompt', name, options, get }
}

/** Adds an item to a registry. Throws a `RegistrationError` for a value that is not an item. */
export function addItem(registry: Registry, given: DefinedItem): void {
  const item = given as DefinedTool | DefinedResource | DefinedPrompt | undefined
  if (item?.kind === 'tool') registry.addTool(item.name, item.options, item.run)
  else if (item?.kind === 'resource') registry.addResource(item.name, item.options, item.read)
  else if (item?.kind === 'prompt') registry.addPrompt(item.name, item.options, item.get)
  else {
    const expected = 'expected a value of defineTool, defineResource or definePrompt'
    throw new RegistrationError(`add: ${expected}, got ${kindOf(given)}`)
  }
}
