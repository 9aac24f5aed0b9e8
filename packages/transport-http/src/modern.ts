/** Serves the modern era alone, over HTTP, on any runtime of the web: nothing of sessions and replay is part of it. */

import type { Responder } from '@mcpx/protocol'
import { readArrivalLimits } from './server/arrival-limits.ts'
import { createEndpoint, type Endpoint } from './server/endpoint.ts'
import { createModernEras } from './server/eras/modern-eras.ts'
import type { EndpointOptions, HttpLimits } from './server/options.ts'
import { answerWeb, type Execution, onWeb } from './server/web.ts'

/** Those of every endpoint, but for what only sessions have. */
export interface ModernOptions extends Omit<EndpointOptions, 'legacy' | 'limits' | 'sessions' | 'sse'> {
  readonly limits?: Partial<Omit<HttpLimits, 'sessionRequests' | 'sessionStreams'>> | undefined
}

/** What runtimes serve as a default export. It works without a `this`. */
export interface ModernApp extends Pick<Endpoint, 'close' | 'drain'> {
  /** Answers on every path. Runtimes with bindings pass them second, and what keeps their work alive third. */
  readonly fetch: (request: Request, env?: unknown, execution?: Partial<Execution>) => Response | Promise<Response>
  /** Never. Bun, which cuts silent connections after ten seconds, takes it from a default export. */
  readonly idleTimeout: 0
}

/**
 * Serves a server of any kind over HTTP, as `mcp` of `@mcpx/transport-http` does, to clients of the modern era. Older
 * ones are refused and told which revisions are served. Within an app of Hono's, mount its `fetch`.
 *
 * @throws RangeError for a limit or a time that is none
 * @throws TypeError for another option that is none, and for what is no server
 *
 * ```ts
 * export default mcp(server, { allowedHosts: ['mcp.example.com'] })
 * app.mount('/mcp', mcp(server).fetch)
 * ```
 */
export function mcp(server: Responder, options: ModernOptions = {}): ModernApp {
  const endpoint = createEndpoint(server, { ...options, ...readArrivalLimits(options) }, createModernEras)
  const respond = answerWeb(endpoint, onWeb)
  return {
    fetch: (request, env, execution) => respond(onWeb.viewOf(request, env, execution)),
    close: () => endpoint.close(),
    drain: (ms) => endpoint.drain(ms),
    idleTimeout: 0,
  }
}
