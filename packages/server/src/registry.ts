/** A handler that is filled piece by piece, also while it runs: what is registered in it is what it offers. */

import { createCompletion } from './features/completion.ts'
import type { GetPrompt, PromptOptions } from './features/prompt-options.ts'
import { createPrompts } from './features/prompts.ts'
import { createRawCheck } from './features/raw-schema.ts'
import type { ReadResource, ReadReturn, ResourceOptions } from './features/resource-options.ts'
import { createResources } from './features/resources.ts'
import type { NoInput, SomeSchema } from './features/tool-options.ts'
import { draftRegistry, type RegistryOptions, type ToolRegistry } from './tool-registry.ts'

/** A registry of all kinds of offers. */
export interface Registry extends ToolRegistry {
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
  const { registry, feed, use, shelves, offer, withdraw } = draftRegistry(options, createRawCheck)
  const { cache = {} } = options
  const prompts = createPrompts({ ...use, hints: cache.prompts })
  const resources = createResources({ ...use, hints: cache.resources, templateHints: cache.resourceTemplates })
  const completion = { complete: createCompletion(prompts, resources) }
  Object.assign(shelves, { prompt: prompts, resource: resources })

  return Object.assign<ToolRegistry, Omit<Registry, keyof ToolRegistry>>(registry, {
    resourceUpdated: (uri) => feed.publish({ kind: 'resource', uri }),
    addResource(uri, resourceOptions, read) {
      resources.add(uri, resourceOptions as ResourceOptions, read)
      offer(
        'resources',
        resources.handler,
        resourceOptions.complete && completion,
        resourceOptions.subscribe && resources.subscription,
      )
    },
    addPrompt(name, promptOptions, get) {
      prompts.add(name, promptOptions as PromptOptions, get)
      offer('prompts', prompts.handler, promptOptions.complete && completion)
    },
    removeResource: (uri) => withdraw('resources', resources.remove(uri)),
    removePrompt: (name) => withdraw('prompts', prompts.remove(name)),
  })
}
