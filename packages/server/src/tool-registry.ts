/** A handler that is filled with tools, also while it runs, and can be given more: what is registered in it is what it offers. */

import type { AuthInfo, Handler, JsonSchema, JsonSchemaValidator, OtherHandler } from '@mcpx/protocol'
import { type ChangeFeed, createChangeFeed } from './change-feed.ts'
import type { OwningHandler } from './compose/owning-handler.ts'
import type { RawCheck } from './features/compiled-schema.ts'
import type { CacheHints } from './features/listing.ts'
import type { SchemaOptions } from './features/schema.ts'
import type { NoInput, NoOutput, RunTool, SomeSchema, ToolOptions } from './features/tool-options.ts'
import { createTools } from './features/tools.ts'
import type { Kind } from './members.ts'
import { PAGE_SIZE } from './pages.ts'

export type OfferKind = 'tools' | 'resources' | 'prompts'

export interface RegistryOptions {
  /** How many items of a list make a page. Default: 1,000. */
  readonly pageSize?: number | undefined
  /** How long, and for whom, lists may be kept. Default: not at all. */
  readonly cache?: { readonly [List in OfferKind | 'resourceTemplates']?: CacheHints } | undefined
  /** Hears of what works, but badly: a name that clients may refuse. Default: nobody does. */
  readonly warn?: ((message: string) => void) | undefined
  /** Gets what listeners to changes throw, and schemas that turn out unusable after all. Default: nobody does. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Is told of each thing that is registered, when it is there. Default: nobody is. */
  readonly onOffer?: (() => void) | undefined
  /** Checks values against plain JSON Schemas. Default: the one of `@mcpx/json-schema`, loaded when needed. */
  readonly validator?: JsonSchemaValidator | undefined
}

/** The part of a registry that changes its tools. Everything throws a `RegistrationError` for what could not work. */
export interface ToolRegistration {
  addTool<Input extends SomeSchema = NoInput, Output extends SomeSchema = NoOutput>(
    name: string,
    options: ToolOptions<Input, Output>,
    run: RunTool<Input, Output>,
  ): void
  /** Whether there was one. */
  removeTool(name: string): boolean
}

/** The methods of a part appear with the first that is registered, and stay. */
export interface ToolRegistry extends ToolRegistration, OwningHandler {
  changes: OtherHandler['changes']
  /** The input schema of a tool in the lists of this caller. */
  schemaOf(name: string, auth: AuthInfo | undefined): JsonSchema | undefined
}

/** A registry that is being put together. */
export interface Draft {
  readonly registry: ToolRegistry
  readonly feed: ChangeFeed
  readonly use: SchemaOptions & { readonly pageSize: number }
  /** Who can tell which names of a kind are there. */
  readonly shelves: Partial<Record<Kind, { has(name: string): boolean }>>
  /** Something of a kind is there, and has these methods. */
  offer(kind: OfferKind, ...methods: (Partial<Handler> | false | undefined)[]): void
  /** Gives back whether it was there. */
  withdraw(kind: OfferKind, wasThere: boolean): boolean
}

/** A registry for tools, as yet without any. */
export function draftRegistry(options: RegistryOptions, checkRaw: RawCheck): Draft {
  const { pageSize = PAGE_SIZE, cache, warn = () => {}, onError = () => {}, onOffer, validator } = options
  const feed = createChangeFeed(onError)
  const announce = createAnnouncing(feed)
  if (!Number.isInteger(pageSize) || pageSize < 1) throw new RangeError(`pageSize: expected 1 or more, got ${pageSize}`)
  const use = { pageSize, warn, onError, validator, checkRaw }
  const tools = createTools({ ...use, hints: cache?.tools })
  const shelves: Draft['shelves'] = { tool: tools }

  const offer: Draft['offer'] = (kind, ...methods) => {
    Object.assign(registry, logging, ...methods)
    announce(kind)
    onOffer?.()
  }
  const withdraw: Draft['withdraw'] = (kind, wasThere) => {
    if (wasThere) announce(kind)
    return wasThere
  }
  const registry: ToolRegistry = {
    changes: feed.subscribe,
    owns: (kind, name) => shelves[kind]?.has(name) === true,
    schemaOf: tools.schemaOf,
    addTool(name, toolOptions, run) {
      tools.add(name, toolOptions as ToolOptions, run)
      offer('tools', tools.handler)
    },
    removeTool: (name) => withdraw('tools', tools.remove(name)),
  }
  return { registry, feed, use, shelves, offer, withdraw }
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
