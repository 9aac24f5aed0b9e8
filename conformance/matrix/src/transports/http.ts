/** HTTP without sockets: the `fetch` of the client calls the app directly. */

import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { createNetwork } from './network.ts'
import { createResponseChecker } from './response-checker.ts'
import type { TransportFactory } from './transport.ts'

/** The reconnection delay that the server sets, in milliseconds. */
const RETRY = 1
/**
 * The first revision whose servers set the delay. From this revision on, the test gives the client a long delay, so
 * that the test fails if the client ignores the delay of the server.
 */
const FIRST_WITH_RETRY = '2025-11-25'
const LONG = 60_000

/** Creates the transport with the given endpoint options and path. */
function createHttpTransport(options: EndpointOptions, path = '/mcp'): TransportFactory {
  return (server, { auth, onWarning, revision }) => {
    const app = mcp(server, { ...options, authenticate: auth && (() => auth), onWarning })
    const checker = createResponseChecker((problem) => onWarning?.(problem))
    const network = createNetwork((request) => app.fetch(request), checker)
    const delay = revision === FIRST_WITH_RETRY ? LONG : RETRY
    const connector = http(`http://localhost${path}`, {
      fetch: network.fetch,
      reconnect: { minDelay: delay, maxDelay: LONG },
    })
    return { connector, cut: async () => network.cut(), fetched: network.fetched, close: () => app.close() }
  }
}

/** Modern requests, and sessions for legacy clients. */
export const overHttp = createHttpTransport({ sessions: { retry: RETRY } })

/** Legacy requests without sessions. */
export const overStatelessHttp = createHttpTransport({ sessions: false })

/** The HTTP+SSE transport of the first revision. */
export const overEvents = createHttpTransport({ sse: '/sse' }, '/sse')
