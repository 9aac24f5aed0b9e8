/** A handler to which tools, resources and prompts can be added at any time. */

import type { AuthInfo, Handler, JsonSchema, JsonSchemaValidator } from '@mcpx/protocol'
import { ChangeFeed } from './changes.ts'
import { createCompletion } from './completion.ts'
import type { ItemKind } from './dispatch.ts'
import type { ExtensionToolOption } from './extension.ts'
import type { OwningHandler } from './mount/combine.ts'
import type { CacheHints } from './named-items.ts'
import { type GetPrompt, type PromptOptions, Prompts } from './prompts.ts'
import { type ReadResource, type ReadReturn, type ResourceOptions, Resources } from './resources.ts'
import { getDefaultValidator } from './schemas.ts'
import { type NoInput, type NoOutput, type RunTool, type SomeSchema, type ToolOptions, Tools } from './tools.ts'

type ListKind = 'tools' | 'resources' | 'prompts'

export interface RegistryOptions {
  /** The largest number of items on a page of a list. Default: 1,000. */
  readonly pageSize?: number | undefined
  /** The cache hints of each list. Default: not cacheable. */
  readonly cache?: { readonly [List in ListKind | 'resourceTemplates']?: CacheHints } | undefined
  /** Called with warnings, for example a tool name that some clients reject. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /** Called after each registration. Default: none. */
  readonly onRegister?: (() => void) | undefined
  /** Checks values against plain JSON Schemas. Default: `createJsonSchemaValidator()` of `@mcpx/json-schema`. */
  readonly validator?: JsonSchemaValidator | undefined
  /** The tool options that belong to extensions. Default: none. */
  readonly extensionOptions?: ReadonlyMap<string, ExtensionToolOption> | undefined
}

/**
 * A handler with methods that add items. `listTools` and `callTool` exist after the first tool was registered; the same
 * applies to resources and prompts. All `add` methods throw a `RegistrationError` for an invalid item.
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
  /** Removes a tool. Returns whether it existed. */
  removeTool(name: string): boolean
  /** Removes a resource or a template. Returns whether it existed. */
  removeResource(uri: string): boolean
  /** Removes a prompt. Returns whether it existed. */
  removePrompt(name: string): boolean
  /** Notifies subscribers that the contents of a resource have changed. */
  resourceUpdated(uri: string): void
  changes: NonNullable<Handler['changes']>
  owns(kind: ItemKind, name: string): boolean
  toolOptions: NonNullable<OwningHandler['toolOptions']>
  /** Returns the input schema of a tool if it is in the list of this caller. */
  inputSchemaOf(name: string, auth: AuthInfo | undefined): JsonSchema | undefined
}

export function createRegistry(options: RegistryOptions = {}): Registry {
  const { pageSize = 1_000, cache = {}, onWarning, onRegister, extensionOptions } = options
  const { validator = getDefaultValidator() } = options
  if (!Number.isInteger(pageSize) || pageSize < 1) throw new RangeError(`pageSize: expected 1 or more, got ${pageSize}`)
  const warn = (message: string) => onWarning?.(new Error(message))
  const use = { pageSize, warn, validator }
  const tools = new Tools({ ...use, hints: cache.tools, extensionOptions })
  const prompts = new Prompts({ ...use, hints: cache.prompts })
  const resources = new Resources({ ...use, hints: cache.resources, templateHints: cache.resourceTemplates })
  const completion = { complete: createCompletion(prompts, resources) }
  const feed = new ChangeFeed()
  /** A member that declares the logging capability. Its function has no effect, because the server stores the level. */
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
    resourceUpdated(uri) {
      // Make the registry a part of the server even if it is empty, because a process may report changes of resources
      // that only other processes have.
      onRegister?.()
      feed.publish({ kind: 'resource', uri })
    },
    changes: (listener) => feed.subscribe(listener),
    owns: (kind, name) => ({ tool: tools, prompt: prompts, resource: resources })[kind].has(name),
    toolOptions: (name, auth) => tools.getAdmitted(name, auth)?.extensionOptions,
    inputSchemaOf: (name, auth) => tools.getListed(name, auth)?.definition.inputSchema,
  }
  return registry
}
