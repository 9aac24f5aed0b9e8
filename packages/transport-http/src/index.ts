/** Serves MCP over HTTP on any runtime. */

import type { Responder } from '@mcpx/protocol'
import { createApp, type McpApp } from './server/app.ts'
import type { EndpointOptions } from './server/options.ts'

/**
 * Serves a server over HTTP to clients of every revision. The app answers on every path below the one it is mounted at.
 *
 * @throws RangeError for an invalid limit or time
 * @throws TypeError for another invalid option, and for a value that is not a server
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.route('/mcp', mcp(server))
 * ```
 */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  return createApp(server, options)
}

export type { McpApp } from './server/app.ts'
export {
  type EndpointOptions,
  HTTP_LIMITS,
  type HttpLimits,
  type SessionOptions,
  type ToolSchemas,
} from './server/options.ts'
