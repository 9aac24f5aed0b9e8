/** An endpoint as an app: to be served by itself on any runtime, or mounted in a larger app of Hono's, of which it needs nothing. */

import type { Responder } from '@mcpx/protocol'
import type { Context, ExecutionContext, Hono } from 'hono'
import { readArrivalLimits } from './arrival-limits.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { createEras } from './eras/select.ts'
import type { EndpointOptions } from './options.ts'
import { answerWeb, type Runtime } from './web.ts'

/** What Hono's `route` takes. All that comes has the one handler, so there is nothing of Hono's to add to it. */
interface Mountable extends Hono {
  readonly all: never
  readonly basePath: never
  readonly delete: never
  readonly fire: never
  readonly get: never
  readonly getPath: never
  readonly mount: never
  readonly notFound: never
  readonly on: never
  readonly onError: never
  readonly options: never
  readonly patch: never
  readonly post: never
  readonly put: never
  readonly query: never
  readonly route: never
  readonly router: never
  readonly use: never
}

/** An app that can be served, mounted in one of Hono's, and ended. */
export interface McpApp extends Mountable, Pick<Endpoint, 'close' | 'drain'> {
  /** Works without a `this`. Runtimes with bindings pass them second, and what keeps their work alive third. */
  readonly fetch: (request: Request, env?: unknown, execution?: ExecutionContext) => Response | Promise<Response>
  /**
   * The same as a handler of Hono's, for `all`: what `route` makes of an app takes each request one step more. It needs no
   * `this`.
   *
   * ```ts
   * app.all('/mcp', mcp(server).handler)
   * ```
   */
  readonly handler: (context: Context) => Response | Promise<Response>
  /** Never. Bun, which cuts silent connections after ten seconds, takes it from a default export. */
  readonly idleTimeout: 0
}

export function appOf(server: Responder, options: EndpointOptions, runtime: Runtime): McpApp {
  const endpoint = createEndpoint(server, { ...options, ...readArrivalLimits(options) }, createEras)
  const respond = answerWeb(endpoint, runtime)
  const executionOf = createExecutionOf()
  const fetch: McpApp['fetch'] = (request, env, execution) => respond(runtime.viewOf(request, env, execution))
  const answer = (context: Context, request: Request) =>
    respond(runtime.viewOf(request, context.env, executionOf(context)))
  const handler: McpApp['handler'] = (context) => {
    const { req } = context
    if (!isRead(req)) return answer(context, req.raw)
    // Not made of the other one: that may be of a class which only Hono's server knows.
    const { headers, signal } = req.raw
    const again = { method: 'POST', headers, signal, body: bodyOf(req), duplex: 'half' }
    return answer(context, new Request(req.url, again))
  }
  const app: Pick<McpApp, Made> = {
    fetch,
    request: (input, init, env, execution) => fetch(requestOf(input, init), env, execution),
    handler,
    routes: [{ basePath: '/', path: '/*', method: 'ALL', handler }],
    close: () => endpoint.close(),
    drain: (ms) => endpoint.drain(ms),
    idleTimeout: 0,
  }
  return app as McpApp
}

/** What a middleware has read, or begun to: it has to arrive within the limits for that all the same. */
function bodyOf(req: Context['req']): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(await req.arrayBuffer()))
      controller.close()
    },
  })
}

/** Whether a middleware has read the body by the context, which then has it, but for that of a form. */
function isRead({ bodyCache, method }: Context['req']): boolean {
  for (const _ in bodyCache) return method === 'POST' && !('formData' in bodyCache)
  return false
}

/** The members that there are. The others are typed as `never`, or private to Hono. */
type Made = 'close' | 'drain' | 'fetch' | 'handler' | 'idleTimeout' | 'request' | 'routes'

/** A path stands for one on this machine, as in Hono. */
function requestOf(input: Request | URL | string, init: RequestInit | undefined): Request {
  return new Request(input instanceof Request ? input : new URL(input, 'http://localhost'), init)
}

/** Hono throws where there is no execution context: what the first request shows holds for all, as a throw is dear. */
function createExecutionOf(): (context: Context) => ExecutionContext | undefined {
  let isGiven = true
  return (context) => {
    if (!isGiven) return undefined
    try {
      return context.executionCtx
    } catch {
      isGiven = false
      return undefined
    }
  }
}
