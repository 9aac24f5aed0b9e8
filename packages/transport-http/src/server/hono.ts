/** An endpoint as a Hono app: to be served by itself on any runtime, or mounted in a larger app. */

import type { Responder } from '@mcpx/protocol'
import { type Context, Hono } from 'hono'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import type { Outlive } from './host.ts'
import type { EndpointOptions } from './options.ts'

/** A Hono app that can be ended. */
export interface McpApp extends Hono, Pick<Endpoint, 'close' | 'drain'> {
  /** Never. Bun, which cuts silent connections after ten seconds, takes it from a default export. */
  readonly idleTimeout: 0
}

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
  const outlive = createOutlive()
  app.all('*', (context) => endpoint.fetch(context.req.raw, outlive(context)) as Response | Promise<Response>)
  const close = () => endpoint.close()
  const drain = (ms: number) => endpoint.drain(ms)
  return Object.assign(app, { close, drain, idleTimeout: 0 as const })
}

/**
 * Runtimes that end the work of a request when its client goes away, such as workerd, give an execution context to
 * prevent that with. Hono throws where there is none: what the first request shows holds for all, as a throw is dear.
 */
function createOutlive(): (context: Context) => Outlive | undefined {
  let isGiven: boolean | undefined
  return (context) => {
    if (isGiven === false) return undefined
    try {
      const execution = context.executionCtx
      isGiven = typeof execution.waitUntil === 'function'
      return isGiven ? (work) => execution.waitUntil(Promise.resolve(work)) : undefined
    } catch {
      isGiven = false
      return undefined
    }
  }
}
