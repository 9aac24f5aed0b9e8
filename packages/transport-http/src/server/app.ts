/** The endpoint as a Hono app. Its handler always runs after middleware that users add. */

import type { Guard, Responder } from '@mcpx/protocol'
import { type Context, Hono } from 'hono'
import type { RouterRoute } from 'hono/types'
import { Endpoint } from './endpoint.ts'
import { createGuards } from './guards.ts'
import type { EndpointVariables } from './http-request.ts'
import { checkOptions, type EndpointOptions } from './options.ts'
import { toResponse } from './responses.ts'

/** A Hono app that serves MCP on every path. It can be served, mounted, extended with middleware, and closed. */
export interface McpApp extends Hono {
  /** Ends all requests, streams and sessions of this process. Later requests are refused with 503. */
  close(): void
  /** Refuses new requests, waits at most this many ms for running requests, then closes. Default: 5,000. */
  drain(ms?: number): Promise<void>
  /**
   * Disables Bun's timeout for idle connections, which is ten seconds by default. Bun reads this member if the app is
   * the default export.
   */
  readonly idleTimeout: 0
}

/**
 * Serves a server over HTTP to clients of every revision. The app serves its mount path and every path below.
 *
 * @throws RangeError for an invalid limit or time
 * @throws TypeError for any other invalid option, or if `server` is not a server
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.route('/mcp', mcp(server))
 * ```
 */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  checkOptions(server, options)
  const endpoint = new Endpoint(server, options)
  const app = new Hono()
  app.onError((error, context) => {
    // Middleware of Hono, such as `bearerAuth` and `bodyLimit`, refuses requests by throwing the response.
    if (!('getResponse' in error)) return toResponse(context, endpoint.fault(error))
    const response = error.getResponse()
    return context.newResponse(response.body, response)
  })
  const { authenticate: given } = options
  const guard: Guard | undefined = (server.store && given?.withStore?.(server.store)) ?? given
  app.use(createGuards(options, guard, endpoint.limits, server.telemetry))
  addLast(app, (context: Context<{ Variables: EndpointVariables }>) => endpoint.handle(context))
  const { fetch } = app
  return Object.assign(app, {
    fetch(...args: Parameters<typeof fetch>) {
      refuseNodeRequest(args[0])
      return fetch(...args)
    },
    close: () => endpoint.close(),
    drain: (ms?: number) => endpoint.drain(ms),
    idleTimeout: 0 as const,
  })
}

/** Throws for a request of `node:http`, because its response would never be written. */
function refuseNodeRequest(request: object): void {
  if (!('rawHeaders' in request)) return
  const remedy = 'write toNodeHandler(mcp(server)), with toNodeHandler of @mcpx/transport-http/node'
  throw new TypeError(`mcp: fetch: expected a Request, got an IncomingMessage of Node; ${remedy}`)
}

/**
 * Registers a handler that always runs last, so that middleware added later by `app.use` still runs around the endpoint.
 *
 * Hono runs handlers in the order of registration, so this handler must be registered when no other can follow. For
 * this, two members of Hono are replaced; both exist since 4.8, the oldest supported version:
 * - `app.routes.push`: `parent.route(path, app)` copies `app.routes`, so the handler must stay the last entry.
 * - `app.router.match`: runs for the first request, and registers the handler before the first match.
 *
 * After the first request the router of Hono accepts no routes: `app.use` then throws, as in every Hono app.
 */
function addLast(app: Hono, handler: (context: Context<{ Variables: EndpointVariables }>) => Promise<Response>): void {
  const last: RouterRoute = { basePath: '/', path: '/*', method: 'ALL', handler }
  const { router, routes } = app
  const { match } = router
  routes.push(last)
  routes.push = (...added) => {
    routes.splice(-1, 0, ...added)
    return routes.length
  }
  router.match = (method, path) => {
    router.match = match
    router.add(last.method, last.path, [handler, last])
    return router.match(method, path)
  }
}
