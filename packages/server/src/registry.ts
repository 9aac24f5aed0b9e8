/** A handler that is filled piece by piece, also while it runs: what is registered in it is what it offers. */

import type { AuthInfo, Handler, JsonSchema, OtherHandler } from '@mcpx/protocol'
import type { JsonSchemaValidator } from '@mcpx/protocol/json-schema'
import { type ChangeFeed, createChangeFeed } from './change-feed.ts'
import type { OwningHandler } from './compose.ts'
import { createCompletion } from './features/completion.ts'
import type { CacheHints } from './features/listing.ts'
import type { GetPrompt, PromptOptions } from './features/prompt-options.ts'
import { createPrompts } from './features/prompts.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './features/resource-options.ts'
import { createResources } from './features/resources.ts'
import type { NoInput, NoOutput, RunTool, SomeSchema, ToolOptions } from './features/tool-options.ts'
import { createTools } from './features/tools.ts'
import { PAGE_SIZE } from './pages.ts'

export type OfferKind = 'tools' | 'resources' | 'prompts'

export interface RegistryOptions {
  /** How many items of a list make a page. Default: 1,000. */
  readonly pageSize?: number | undefined
  /** How long, and for whom, lists may be kept. Default: not at all. */
  readonly cache?: { readonly [List in OfferKind | 'resourceTemplates']?: CacheHints } | undefined
  /** What is offered from the start, though there may be none of it yet. Default: what is registered. */
  readonly expect?: readonly OfferKind[] | undefined
  /** Hears of what works, but badly: a name that clients may refuse. Default: nobody does. */
  readonly warn?: ((message: string) => void) | undefined
  /** Gets what listeners to changes throw, and schemas that turn out unusable after all. Default: nobody does. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Checks values against plain JSON Schemas. Default: the one of `@mcpx/protocol/json-schema`, loaded when needed. */
  readonly validator?: JsonSchemaValidator | undefined
}

/** The part of a registry that changes it. Everything throws a `RegistrationError` for what could not work. */
export interface Registration {
  addTool<Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    name: string,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): void
  /** Whether there was one. */
  removeTool(name: string): boolean
  addResource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Uri>,
    read: ReadResource<Uri> | Awaited<ReadReturn>,
  ): void
  /** Whether there was one. Templates go by their text. */
  removeResource(uri: string): boolean
  addPrompt<Args extends SomeSchema = NoInput>(name: string, options: PromptOptions<Args>, get: GetPrompt<Args>): void
  /** Whether there was one. */
  removePrompt(name: string): boolean
  /** Tells subscribers that the resource is not what it was. */
  resourceUpdated(uri: string): void
}

/** The methods of a part appear with the first that is registered, and stay. */
export interface Registry extends Registration, OwningHandler {
  changes: OtherHandler['changes']
  /** The input schema of a tool in the lists of this caller. */
  schemaOf(name: string, auth: AuthInfo | undefined): JsonSchema | undefined
}

/**
 * An empty registry. It is a handler: `listTools` and `callTool` exist as soon as there is a tool, and so on.
 *
 * ```ts
 * const registry = createRegistry()
 * registry.addTool('ping', {}, () => 'pong')
 * await registry.callTool?.({ name: 'ping' }, ctx)     // { content: [{ type: 'text', text: 'pong' }] }
 * ```
 */
export function createRegistry(options: RegistryOptions = {}): Registry {
  const feed = createChangeFeed(options.onError)
  const announce = createAnnouncing(feed)
  const { pageSize = PAGE_SIZE, cache = {}, warn = () => {}, onError = () => {}, validator } = options
  if (!Number.isInteger(pageSize) || pageSize < 1) throw new RangeError(`pageSize: expected 1 or more, got ${pageSize}`)
  const use = { pageSize, warn, onError, validator }
  const tools = createTools({ ...use, hints: cache.tools })
  const prompts = createPrompts({ ...use, hints: cache.prompts })
  const resources = createResources({ pageSize, hints: cache.resources, templateHints: cache.resourceTemplates })
  const completion = { complete: createCompletion(prompts, resources) }
  const features = { tool: tools, prompt: prompts, resource: resources }
  const handlers = { tools: tools.handler, resources: resources.handler, prompts: prompts.handler }

  const registry: Registry = {
    changes: feed.subscribe,
    owns: (kind, name) => features[kind].has(name),
    schemaOf: tools.schemaOf,
    resourceUpdated: (uri) => feed.publish({ kind: 'resource', uri }),
    addTool(name, toolOptions, run) {
      tools.add(name, toolOptions as ToolOptions, run)
      offer('tools')
    },
    addResource(uri, resourceOptions, read) {
      resources.add(uri, resourceOptions as ResourceOptions, read)
      offer('resources', resourceOptions.complete && completion, resourceOptions.subscribe && resources.subscription)
    },
    addPrompt(name, promptOptions, get) {
      prompts.add(name, promptOptions as PromptOptions, get)
      offer('prompts', promptOptions.complete && completion)
    },
    removeTool: (name) => withdraw('tools', tools.remove(name)),
    removeResource: (uri) => withdraw('resources', resources.remove(uri)),
    removePrompt: (name) => withdraw('prompts', prompts.remove(name)),
  }

  function offer(kind: OfferKind, ...more: (Partial<Handler> | false | undefined)[]): void {
    Object.assign(registry, handlers[kind], logging, ...more)
    announce(kind)
  }

  function withdraw(kind: OfferKind, wasThere: boolean): boolean {
    if (wasThere) announce(kind)
    return wasThere
  }

  for (const kind of options.expect ?? []) Object.assign(registry, handlers[kind], logging)
  return registry
}

/** What is registered may log. The level is for whoever sends the messages: there is nothing to do here. */
const logging = { setLogLevel() {} }

/**
 * Publishes changes of lists once per kind, however many are made before the current task is done. What nobody listens to
 * is not told of: who begins to listen within the task knows it already.
 */
function createAnnouncing(feed: ChangeFeed): (kind: OfferKind) => void {
  const pending = new Set<OfferKind>()
  return (kind) => {
    if (pending.has(kind) || !feed.isHeard) return
    pending.add(kind)
    queueMicrotask(() => {
      pending.delete(kind)
      feed.publish({ kind })
    })
  }
}
