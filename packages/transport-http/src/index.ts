/** Serves the protocol over HTTP on any runtime. */

import type { Responder } from '@mcpx/protocol'
import { appOf, type McpApp } from './server/hono.ts'
import { onNode } from './server/on-node.ts'
import type { EndpointOptions } from './server/options.ts'

/**
 * Serves a server of any kind over HTTP, to clients of every revision. The app answers on every path below the one it
 * is mounted at.
 *
 * @throws RangeError for a limit or a time that is none
 * @throws TypeError for another option that is none, and for what is no server
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.route('/mcp', mcp(server))
 * ```
 */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  return appOf(server, options, onNode)
}

export type { McpApp } from './server/hono.ts'
export {
  type EndpointOptions,
  HTTP_LIMITS,
  type HttpLimits,
  type SessionOptions,
  type ToolSchemas,
} from './server/options.ts'
