/** What stands around every request: a middleware sees it, may change it, answer it, or pass it on. */

import type { Awaitable, Context, JsonObject, ListToolsResult } from '@mcpx/protocol'
import { createToolLookup, type ToolLookup } from './compose/tool-lookup.ts'
import { deriveContext } from './derived-context.ts'

/** A request on its way to the handler. */
export interface ServerRequest {
  readonly method: string
  readonly params: JsonObject
}

/**
 * Passes the request on, or another one in its place, and gives the result. Who comes next gets the context, with what
 * is given here in the place of its members; so `{ auth }` and `{ ...ctx, auth }` are the same.
 */
export type Next<Ctx = Context> = (request?: ServerRequest, ctx?: Partial<Ctx>) => Promise<object>

/**
 * Must call `next` at most once and give a result: what `next` gave, or another one. `findTool` tells what the
 * server says of a tool, such as its annotations.
 *
 * One that asks the client nothing is a `Middleware<ToolContext>`: it can stand in servers of all kinds, where others can
 * stand only in those that ask.
 */
export type Middleware<Ctx = Context> = (
  request: ServerRequest,
  ctx: Ctx,
  next: Next<Ctx>,
  findTool: ToolLookup,
) => Awaitable<object>

/** What answers a request in the end. */
export type Endpoint = (request: ServerRequest, ctx: Context) => Awaitable<object>

/** One function out of many: the first middleware is the outermost. */
export function wrap(middlewares: readonly Middleware[], endpoint: Endpoint): Endpoint {
  // Asks the endpoint itself: looking for a tool is no request that others should see.
  const findTool = createToolLookup(
    (params, ctx) =>
      endpoint({ method: 'tools/list', params: { ...params } }, ctx as Context) as Awaitable<ListToolsResult>,
  )
  return middlewares.reduceRight<Endpoint>((inner, middleware) => {
    return (request, ctx) => {
      let called = false
      const next: Next = async (changed = request, other = ctx) => {
        if (called) throw new Error('A middleware called next() more than once')
        called = true
        return inner(changed, other === ctx ? ctx : deriveContext(ctx, other))
      }
      return middleware(request, ctx, next, findTool)
    }
  }, endpoint)
}
