/** One handler out of several: lists are joined, and each name is answered by the part that has it. */

import {
  type Awaitable,
  type Change,
  type CompleteRequestParams,
  type CompleteResult,
  type Context,
  type Handler,
  invalidParams,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  quoted,
  type RpcError,
  resourceNotFound,
} from '@mcpx/protocol'
import { joinedList, LISTS } from './joined-list.ts'
import { membersWhile } from './members.ts'
import { isOwner, type OwnedKind, type OwningHandler, route } from './owning-handler.ts'

const unknown: Record<OwnedKind, (name: string) => RpcError> = {
  tool: (name) => invalidParams(`Unknown tool: ${quoted(name)}`),
  prompt: (name) => invalidParams(`Unknown prompt: ${quoted(name)}`),
  resource: (uri) => resourceNotFound(uri, 'modern'),
}

/**
 * Asks its parts in order; where two have something of one name, it is the first part's, and lists drop the other.
 * It has a method while any part has it; `changes` hears the parts that have it when it is called. One part is
 * given back as it is.
 */
export function combine(parts: readonly Handler[]): OwningHandler {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const all: readonly OwningHandler[] = [...parts]
  const handler: OwningHandler = membersWhile(membersOf(all), (name) => all.some((part) => part[name] !== undefined))
  // With a catch-all among the parts, nobody can tell what is not theirs.
  if (all.every((part) => part.owns !== undefined)) {
    handler.owns = (kind, name) => all.some((part) => isOwner(part, kind, name))
  }
  return handler
}

function membersOf(all: readonly OwningHandler[]): Required<Handler> {
  return {
    listTools: joinedList<ListToolsResult>(all, LISTS.tools),
    listPrompts: joinedList<ListPromptsResult>(all, LISTS.prompts),
    listResources: joinedList<ListResourcesResult>(all, LISTS.resources),
    listResourceTemplates: joinedList<ListResourceTemplatesResult>(all, LISTS.templates),
    callTool: (params, ctx) =>
      route(all, 'tool', params.name, (part) => there(part.callTool?.(params, ctx)), unknown.tool),
    getPrompt: (params, ctx) =>
      route(all, 'prompt', params.name, (part) => there(part.getPrompt?.(params, ctx)), unknown.prompt),
    readResource: (params, ctx) =>
      route(all, 'resource', params.uri, (part) => there(part.readResource?.(params, ctx)), unknown.resource),
    // A part that cannot be subscribed to tells of no updates: there is nothing to set up.
    subscribe: (params, ctx) =>
      route(all, 'resource', params.uri, (part) => part.subscribe?.(params, ctx), unknown.resource),
    unsubscribe: (params, ctx) =>
      route(all, 'resource', params.uri, (part) => part.unsubscribe?.(params, ctx), unknown.resource),
    complete: (params, ctx) => complete(all, params, ctx),
    setLogLevel: async (params, ctx) => {
      await Promise.all(all.map(async (part) => part.setLogLevel?.(params, ctx)))
    },
    changes: (listener) => hearAll(all, listener),
  }
}

/** A part is only asked for a kind of thing whose method it has. */
function there<Result>(answer: Awaitable<Result> | undefined): Awaitable<Result> {
  return answer as Awaitable<Result>
}

function complete(
  all: readonly OwningHandler[],
  params: CompleteRequestParams,
  ctx: Context,
): Awaitable<CompleteResult> {
  const { ref } = params
  const run = (part: Handler) => part.complete?.(params, ctx) ?? { completion: { values: [] } }
  if (ref.type === 'ref/prompt') return route(all, 'prompt', ref.name, run, unknown.prompt)
  return route(all, 'resource', ref.uri, run, unknown.resource)
}

function hearAll(all: readonly Handler[], listener: (change: Change) => void): () => void {
  const stops: (() => void)[] = []
  const stopAll = () => {
    const failures: unknown[] = []
    for (const stop of stops.splice(0)) {
      try {
        stop()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  try {
    for (const part of all) {
      const stop = part.changes?.(listener)
      if (stop !== undefined) stops.push(stop)
    }
  } catch (error) {
    stopAll()
    throw error
  }
  return stopAll
}
