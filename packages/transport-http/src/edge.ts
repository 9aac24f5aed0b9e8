/** Serves the protocol over HTTP on runtimes that are never Node: what bundlers for these take in the place of `index.ts`, which has the types. */

import type { Responder } from '@mcpx/protocol'
import { appOf, type McpApp } from './server/hono.ts'
import type { EndpointOptions } from './server/options.ts'
import { onWeb } from './server/web.ts'

/** As `mcp` of `index.ts`, for all that is not Node. */
export function mcp(server: Responder, options: EndpointOptions = {}): McpApp {
  return appOf(server, options, onWeb)
}

export { HTTP_LIMITS } from './server/options.ts'
