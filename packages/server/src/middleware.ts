/** What stands around every request: a middleware sees it, may change it, answer it, or pass it on. */

import type { Awaitable, Context, JsonObject } from '@mcpx/protocol'

/** A request on its way to the handler. */
export interface ServerRequest {
  readonly method: string
  readonly params: JsonObject
}

/** Passes the request on, or another one in its place, and gives the result. */
export type Next = (request?: ServerRequest) => Promise<object>

/** Must call `next` at most once and give a result: what `next` gave, or another one. */
export type Middleware = (request: ServerRequest, ctx: Context, next: Next) => Awaitable<object>

/** What answers a request in the end. */
export type Endpoint = (request: ServerRequest, ctx: Context) => Awaitable<object>

/** One function out of many: the first middleware is the outermost. */
export function wrap(middlewares: readonly Middleware[], endpoint: Endpoint): Endpoint {
  return middlewares.reduceRight<Endpoint>((inner, middleware) => {
    return (request, ctx) => {
      let called = false
      return middleware(request, ctx, async (changed = request) => {
        if (called) throw new Error('A middleware called next() more than once')
        called = true
        return inner(changed, ctx)
      })
    }
  }, endpoint)
}
