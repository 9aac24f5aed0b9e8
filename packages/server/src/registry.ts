/** A handler that is filled with tools, resources and prompts, also while it runs. */

import type { AuthInfo, Handler, JsonSchema, JsonSchemaValidator } from '@mcpx/protocol'
import { ChangeFeed } from './changes.ts'
import { createCompletion } from './completion.ts'
import type { ItemKind } from './dispatch.ts'
import type { OwningHandler } from './mount/combine.ts'
import type { CacheHints } from './named-items.ts'
import { type GetPrompt, type PromptOptions, Prompts } from './prompts.ts'
import { type ReadResource, type ReadReturn, type ResourceOptions, Resources } from './resources.ts'
import { getDefaultValidator } from './schemas.ts'
import { type NoInput, type NoOutput, type RunTool, type SomeSchema, type ToolOptions, Tools } from './tools.ts'

type ListKind = 'tools' | 'resources' | 'prompts'

export interface RegistryOptions {
  /** How many items a page of a list holds. Default: 1,000. */
  readonly pageSize?: number | undefined
  /** How long, and for whom, clients may cache each list. Default: not cacheable. */
  readonly cache?: { readonly [List in ListKind | 'resourceTemplates']?: CacheHints } | undefined
  /** Called with warnings, for example a tool name that some clients reject. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /** Gets what listeners to changes throw. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Called after each registration. Default: none. */
  readonly onRegister?: (() => void) | undefined
  /** Checks values against plain JSON Schemas. Default: `createJsonSchemaValidator()` of `@mcpx/json-schema`. */
  readonly validator?: JsonSchemaValidator | undefined
}

/**
 * A registry is a handler: `listTools` and `callTool` exist as soon as a tool was registered, and stay; likewise for the
 * others. All `add` methods throw a `RegistrationError` for items that could not work.
 *
 * ```ts
 * const registry = createRegistry()
 * registry.addTool('ping', {}, () => 'pong')
 * await registry.callTool?.({ name: 'ping' }, ctx)     // { content: [{ type: 'text', text: 'pong' }] }
 * ```
 */
export interface Registry extends OwningHandler {
  addTool<Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    name: string,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): void
  addResource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Uri>,
    read: ReadResource<Uri> | Awaited<ReadReturn>,
  ): void
  addPrompt<Args extends SomeSchema = NoInput>(name: string, options: PromptOptions<Args>, get: GetPrompt<Args>): void
  /** Returns whether the tool existed. */
  removeTool(name: string): boolean
  /** Returns whether the resource, or the template of this string, existed. */
  removeResource(uri: string): boolean
  /** Returns whether the prompt existed. */
  removePrompt(name: string): boolean
  /** Tells subscribers that the contents of a resource changed. */
  resourceUpdated(uri: string): void
  changes: NonNullable<Handler['changes']>
  owns(kind: ItemKind, name: string): boolean
  /** The input schema of a tool in the list of this caller. */
  inputSchemaOf(name: string, auth: AuthInfo | undefined): JsonSchema | undefined
}

export function createRegistry(options: RegistryOptions = {}): Registry {
  const { pageSize = 1_000, cache = {}, onWarning, onError, onRegister, validator = getDefaultValidator() } = options
  if (!Number.isInteger(pageSize) || pageSize < 1) throw new RangeError(`pageSize: expected 1 or more, got ${pageSize}`)
  const warn = (message: string) => onWarning?.(new Error(message))
  const use = { pageSize, warn, validator }
  const tools = new Tools({ ...use, hints: cache.tools })
  const prompts = new Prompts({ ...use, hints: cache.prompts })
  const resources = new Resources({ ...use, hints: cache.resources, templateHints: cache.resourceTemplates })
  const completion = { complete: createCompletion(prompts, resources) }
  const feed = new ChangeFeed(onError)
  /** Declares the logging capability. The server keeps the level: there is nothing to do here. */
  const logging = { setLogLevel: async () => {} }

  function onAdded(kind: ListKind, ...members: (Partial<Handler> | false | undefined)[]): void {
    Object.assign(registry, logging, ...members)
    feed.publishList(kind)
    onRegister?.()
  }

  function onRemoved(kind: ListKind, existed: boolean): boolean {
    if (existed) feed.publishList(kind)
    return existed
  }

  const registry: Registry = {
    addTool(name, toolOptions, run) {
      tools.register(name, toolOptions as ToolOptions, run)
      onAdded('tools', tools.handler)
    },
    addResource(uri, resourceOptions, source) {
      resources.register(uri, resourceOptions as ResourceOptions, source)
      const { complete, subscribe } = resourceOptions
      onAdded('resources', resources.handler, complete && completion, subscribe && resources.subscription)
    },
    addPrompt(name, promptOptions, get) {
      prompts.register(name, promptOptions as PromptOptions, get)
      onAdded('prompts', prompts.handler, promptOptions.complete && completion)
    },
    removeTool: (name) => onRemoved('tools', tools.remove(name)),
    removeResource: (uri) => onRemoved('resources', resources.remove(uri)),
    removePrompt: (name) => onRemoved('prompts', prompts.remove(name)),
    resourceUpdated: (uri) => feed.publish({ kind: 'resource', uri }),
    changes: (listener) => feed.subscribe(listener),
    owns: (kind, name) => ({ tool: tools, prompt: prompts, resource: resources })[kind].has(name),
    inputSchemaOf: (name, auth) => tools.getListed(name, auth)?.definition.inputSchema,
  }
  return registry
}
