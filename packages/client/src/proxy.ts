/** Offers what another server offers: everything is passed on, to it and back. */

import {
  type Change,
  ConnectionError,
  type Context,
  guarded,
  type Handler,
  hasCapability,
  invalidParams,
  type JsonObject,
  type LoggingLevel,
  type ServerCapabilities,
} from '@mcpx/protocol'
import type { Client } from './client.ts'
import { insides } from './insides.ts'
import { forward, placeOf } from './proxy-call.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

export interface ProxyOptions {
  /** Called with every problem that was ignored or dropped. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/**
 * Makes of a client a handler that can be served and mounted. What it offers is what its server offers now. A legacy
 * server asks only for what the client declared: give `capabilities` when connecting.
 *
 * ```ts
 * const client = await connect(spawn('old-server'), { capabilities: { elicitation: { form: {}, url: {} } } })
 * createServer(info).mount('old', proxy(client))
 * ```
 */
export function proxy(client: Client, { onWarning }: ProxyOptions = {}): Handler {
  const { capabilities } = client.server
  const feed = createFeed(client, guarded(onWarning))
  const handler: Handler = {
    ...(capabilities.tools && toolsOf(client)),
    ...(capabilities.prompts && promptsOf(client)),
    ...(capabilities.resources && resourcesOf(client)),
    ...(capabilities.resources?.subscribe && { subscribe: feed.subscribe, unsubscribe: feed.unsubscribe }),
  }
  if (tellsOfChanges(capabilities)) handler.changes = feed.changes
  // The oldest revision has completion without a capability that says so.
  if (capabilities.completions || !hasCapability(client.revision, 'server', 'completions'))
    handler.complete = ({ _meta, ...params }, ctx) => pass(client, 'completion/complete', params, ctx)
  if (capabilities.logging) handler.setLogLevel = ({ level }: { level: LoggingLevel }) => client.setLogLevel(level)
  return handler
}

/** The result is passed on as it came; the handler's types say what it is. */
function pass<Result>(
  client: Client,
  method: string,
  params: JsonObject,
  ctx: Context,
  place?: number,
): Promise<Result> {
  return forward(ctx, (options) => client.request(method, params, options) as Promise<Result>, place)
}

/** What may ask comes again with answers. They are of this one request: lists may be read in the middle of any other. */
function passAnswered<Result>(client: Client, method: string, params: JsonObject, ctx: Context): Promise<Result> {
  const answered = {
    ...(ctx.inputResponses !== undefined && { inputResponses: ctx.inputResponses }),
    ...(ctx.requestState !== undefined && { requestState: ctx.requestState }),
  }
  return pass(client, method, { ...params, ...answered }, ctx, placeOf(ctx))
}

type ListPage = Parameters<NonNullable<Handler['listTools']>>[0]

function pageOf({ cursor }: ListPage): JsonObject {
  return cursor === undefined ? {} : { cursor }
}

function named({ name, arguments: args }: { name: string; arguments?: object | undefined }): JsonObject {
  return args === undefined ? { name } : { name, arguments: args }
}

function toolsOf(client: Client): Handler {
  return {
    listTools: (page, ctx) => pass(client, 'tools/list', pageOf(page), ctx),
    callTool: (params, ctx) => passAnswered(client, 'tools/call', named(params), ctx),
  }
}

function promptsOf(client: Client): Handler {
  return {
    listPrompts: (page, ctx) => pass(client, 'prompts/list', pageOf(page), ctx),
    getPrompt: (params, ctx) => passAnswered(client, 'prompts/get', named(params), ctx),
  }
}

function resourcesOf(client: Client): Handler {
  return {
    listResources: (page, ctx) => pass(client, 'resources/list', pageOf(page), ctx),
    listResourceTemplates: (page, ctx) => pass(client, 'resources/templates/list', pageOf(page), ctx),
    readResource: ({ uri }, ctx) => passAnswered(client, 'resources/read', { uri }, ctx),
  }
}

function tellsOfChanges({ tools, prompts, resources }: ServerCapabilities): boolean {
  return [tools?.listChanged, prompts?.listChanged, resources?.listChanged, resources?.subscribe].includes(true)
}

function isUnsupported(error: unknown): error is ConnectionError {
  return error instanceof ConnectionError && error.reason === 'unsupported'
}

/** One stream of changes for all who listen, open while somebody does. */
function createFeed(client: Client, report: (problem: Error) => void) {
  const listeners = new Set<(change: Change) => void>()
  const wanted = new Map<string, { count: number }>()
  let subscriptions: Subscriptions | undefined

  function open(): Subscriptions {
    subscriptions ??= createSubscriptions({
      listen: (filter, options) => client.listen(filter, options),
      capabilities: () => client.server.capabilities,
      onChange(change) {
        for (const listener of listeners) listener(change)
      },
      report,
      ...(insides.get(client) ?? { isOrdered: () => false }),
    })
    return subscriptions
  }

  /** True for the last of those who wanted it together. */
  function forget(uri: string, who = wanted.get(uri)): boolean {
    if (who === undefined) return false
    who.count -= 1
    if (who.count > 0 || wanted.get(uri) !== who) return false
    return wanted.delete(uri)
  }

  function closeIfIdle(): void {
    if (listeners.size > 0 || wanted.size > 0) return
    subscriptions?.close()
    subscriptions = undefined
  }

  return {
    changes(tell: (change: Change) => void) {
      // A function of its own: the same one may listen twice.
      const listener = guarded(tell, report)
      listeners.add(listener)
      open()
      return () => {
        listeners.delete(listener)
        closeIfIdle()
      }
    },
    async subscribe({ uri }: { readonly uri: string }) {
      const who = wanted.get(uri) ?? { count: 0 }
      wanted.set(uri, who)
      who.count += 1
      try {
        await open().subscribe(uri, {})
      } catch (error) {
        forget(uri, who)
        closeIfIdle()
        // A refusal is one for whoever subscribes, and no fault of this server.
        throw isUnsupported(error) ? invalidParams(error.message) : error
      }
    },
    async unsubscribe({ uri }: { readonly uri: string }) {
      if (!forget(uri)) return
      const feed = subscriptions
      closeIfIdle()
      try {
        await subscriptions?.unsubscribe(uri)
      } catch (error) {
        // It was closed meanwhile: nobody wants anything any more.
        if (feed === subscriptions) throw error
      }
    },
  }
}
