/** An endpoint as a Hono app: to be served by itself on any runtime, or mounted in a larger app. */

import type { Responder } from '@mcpx/protocol'
import type { Context, ExecutionContext } from 'hono'
import { Hono } from 'hono/tiny'
import { readArrivalLimits } from './arrival-limits.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { createEras } from './eras/select.ts'
import type { HttpRequest } from './http-request.ts'
import { type Incoming, NodeRequest, type Outgoing } from './incoming.ts'
import type { EndpointOptions } from './options.ts'
import { sendWeb, webRequest } from './web.ts'

/** A Hono app that can be ended. */
export interface McpApp extends Hono, Pick<Endpoint, 'close' | 'drain'> {
  /** Never. Bun, which cuts silent connections after ten seconds, takes it from a default export. */
  readonly idleTimeout: 0
}

/**
 * Serves a server of any kind over HTTP, to clients of every revision. The app answers on every path below the one it
 * is mounted at.
 *
 * @throws RangeError for a limit that is none
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.route('/mcp', mcp(server))
 * ```
 */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  const endpoint = createEndpoint(server, { ...options, ...readArrivalLimits(options) }, createEras)
  const respond = (request: HttpRequest) => sendWeb(endpoint.answer(request))
  const app = new Hono()
  const executionOf = createExecutionOf()
  app.all('*', (context) => respond(viewOf(context.req.raw, context.env, executionOf(context))))
  return Object.assign(app, {
    // Served by itself, there is nothing to route: every request has the one handler.
    fetch: (request: Request, env?: unknown, execution?: ExecutionContext) => respond(viewOf(request, env, execution)),
    close: () => endpoint.close(),
    drain: (ms?: number) => endpoint.drain(ms),
    idleTimeout: 0 as const,
  })
}

/** What Hono's server for Node gives an app besides the request. */
interface NodeBindings {
  readonly incoming?: Incoming | undefined
  readonly outgoing?: Outgoing | undefined
}

/** On Node, its own objects are read: they are there already, and a web request would have to be made of them. */
function viewOf(request: Request, env: unknown, execution: ExecutionContext | undefined): HttpRequest {
  const { incoming, outgoing } = (env ?? {}) as NodeBindings
  if (incoming !== undefined && outgoing !== undefined && isUntouched(request, incoming)) {
    return new NodeRequest(incoming, outgoing, () => request)
  }
  return webRequest(request, execution)
}

/** Hono's server for Node gives an object that only looks like a request; what a middleware put in its place is one. */
function isUntouched(request: Request, { rawHeaders }: Incoming): boolean {
  return rawHeaders !== undefined && Object.getPrototypeOf(request) !== Request.prototype
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
