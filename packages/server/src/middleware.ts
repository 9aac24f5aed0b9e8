/** Middleware: functions that run around every request and may change it, answer it, or pass it on. */

import type { Awaitable, Context, JsonObject, ListToolsResult, PageRequest, Store, Tool } from '@mcpx/protocol'
import { deriveContext } from './context.ts'

/** A request that middleware and the handler receive. */
export interface ServerRequest {
  /** The method, such as `tools/call`. */
  readonly method: string
  /** The parameters, validated for the method. */
  readonly params: JsonObject
}

/**
 * Calls the next middleware or the handler, and returns its result. Without `request` or `ctx`, it passes on the
 * current request or context. `ctx` replaces single members of the context, so `{ auth }` and `{ ...ctx, auth }` have
 * the same effect.
 */
export type Next = (request?: ServerRequest, ctx?: Partial<Context>) => Promise<object>

/** Returns the tool with this name if the caller may see it, otherwise undefined. Rejects if the tool list fails. */
export type ToolLookup = (name: string, ctx: Context) => Promise<Tool | undefined>

/**
 * Handles a request: calls `next` at most once, and returns the result of `next` or another result. `findTool` returns
 * the definition of a tool, with its annotations.
 */
export interface Middleware {
  (request: ServerRequest, ctx: Context, next: Next, findTool: ToolLookup): Awaitable<object>
  /** Returns the middleware that is used in a server with this store. Default: the same middleware. */
  withStore?(store: Store): Middleware
}

/** The function that handles requests after all middleware. */
export type Endpoint = (request: ServerRequest, ctx: Context) => Awaitable<object>

/** Combines middlewares and the endpoint into one function. The first middleware is the outermost. */
export function wrap(middlewares: readonly Middleware[], endpoint: Endpoint): Endpoint {
  const findTool = createToolLookup(endpoint)
  return middlewares.reduceRight<Endpoint>(
    (inner, middleware) => async (request, ctx) => {
      let isCalled = false
      const next: Next = async (nextRequest = request, nextCtx = ctx) => {
        if (isCalled) throw new Error('A middleware called next() more than once')
        isCalled = true
        return inner(nextRequest, nextCtx === ctx ? ctx : deriveContext(ctx, nextCtx))
      }
      return middleware(request, ctx, next, findTool)
    },
    endpoint,
  )
}

/**
 * The largest number of pages that a lookup reads. A longer list is an error, because the tool might be on a later
 * page.
 */
const MAX_PAGES = 1_000

/** Creates a tool lookup. It calls the endpoint directly, so that other middlewares do not see the list requests. */
function createToolLookup(endpoint: Endpoint): ToolLookup {
  return async (name, ctx) => {
    let page: PageRequest = {}
    for (let count = 0; count < MAX_PAGES; count++) {
      const result = (await endpoint({ method: 'tools/list', params: { ...page } }, ctx)) as ListToolsResult
      const tool = result.tools.find((each) => each.name === name)
      if (tool !== undefined || result.nextCursor === undefined) return tool
      page = { cursor: result.nextCursor }
    }
    throw new Error(`Cannot find the tool ${JSON.stringify(name)}: the list of tools has more than ${MAX_PAGES} pages`)
  }
}
