/** An endpoint as a Hono app: to be served by itself on any runtime, or mounted in a larger app. */

import type { Responder } from '@mcpx/protocol'
import { Hono } from 'hono'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import type { EndpointOptions } from './options.ts'

/** A Hono app that can be ended. */
export interface McpApp extends Hono, Pick<Endpoint, 'close' | 'drain'> {}

/**
 * Serves a server of any kind over HTTP, to clients of every revision. The app answers on every path below the one it
 * is mounted at.
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.route('/mcp', mcp(server))
 * ```
 */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  const endpoint = createEndpoint(server, options)
  const app = new Hono()
  app.all('*', (context) => endpoint.fetch(context.req.raw) as Response | Promise<Response>)
  return Object.assign(app, { close: () => endpoint.close(), drain: (ms: number) => endpoint.drain(ms) })
}
