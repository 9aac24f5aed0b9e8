/** Middleware: functions around every request, which may change it, answer it, or pass it on. */

import type { Awaitable, Context, JsonObject, ListToolsResult, PageRequest, Tool } from '@mcpx/protocol'
import { deriveContext } from './context.ts'

/** A request on its way to the handler. */
export interface ServerRequest {
  /** The method, such as `tools/call`. */
  readonly method: string
  /** The parameters, validated for the method. */
  readonly params: JsonObject
}

/**
 * Passes the request, or another one, on and returns the result. The members of `ctx` replace those of the context; so
 * `{ auth }` and `{ ...ctx, auth }` mean the same.
 */
export type Next = (request?: ServerRequest, ctx?: Partial<Context>) => Promise<object>

/** Returns the tool of this name that the caller may see, or undefined. Rejects when the list fails. */
export type ToolLookup = (name: string, ctx: Context) => Promise<Tool | undefined>

/**
 * Calls `next` at most once and returns its result, or another one. `findTool` returns the definition of a tool, such as
 * its annotations.
 */
export type Middleware = (request: ServerRequest, ctx: Context, next: Next, findTool: ToolLookup) => Awaitable<object>

/** The function that answers requests behind all middleware. */
export type Endpoint = (request: ServerRequest, ctx: Context) => Awaitable<object>

/** Combines the middlewares and the endpoint into one function: the first middleware is the outermost. */
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

/** Longer lists are an error: the tool might be on the next page. */
const MAX_PAGES = 1_000

/** Asks the endpoint itself: a lookup is no request that other middlewares should see. */
function createToolLookup(endpoint: Endpoint): ToolLookup {
  return async (name, ctx) => {
    let page: PageRequest = {}
    for (let count = 0; count < MAX_PAGES; count++) {
      const result = (await endpoint({ method: 'tools/list', params: { ...page } }, ctx)) as ListToolsResult
      const tool = result.tools.find((each) => each.name === name)
      if (tool !== undefined || result.nextCursor === undefined) return tool
      page = { cursor: result.nextCursor }
    }
    const rest = `${JSON.stringify(name)} was not looked for to its end`
    throw new Error(`The list of tools has more than ${MAX_PAGES} pages: ${rest}`)
  }
}
