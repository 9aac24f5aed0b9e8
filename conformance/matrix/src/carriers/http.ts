/** HTTP without sockets: what the client fetches is handed to the app, and its response is handed back. */

import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { watchAnswers } from './answers-watch.ts'
import type { Carry } from './carrier.ts'
import { createNetwork } from './network.ts'

/** What the server asks for between two attempts at a stream, in ms: there is nobody to spare. */
const RETRY = 1
/** From here on servers name that pause; a client that did not heed it would wait longer than any behaviour does. */
const FIRST_WITH_RETRY = '2025-11-25'
const LONG = 60_000

/** As the options say; at a path of its own where the transport of the first revision is. */
function over(options: EndpointOptions, path = '/mcp'): Carry {
  return (server, { auth, report, revision }) => {
    const app = mcp(server, { ...options, authenticate: auth && (() => auth), onWarning: report })
    const watch = watchAnswers((problem) => report?.(problem))
    const network = createNetwork((request) => app.fetch(request), watch)
    const delay = revision === FIRST_WITH_RETRY ? LONG : RETRY
    const connector = http(`http://localhost${path}`, {
      fetch: network.fetch,
      reconnect: { minDelay: delay, maxDelay: LONG },
    })
    return { connector, cut: async () => network.cut(), fetched: network.fetched, end: () => app.close() }
  }
}

/** Modern requests, and sessions for legacy clients. */
export const overHttp = over({ sessions: { retry: RETRY } })

/** Each legacy request stands alone. */
export const overStatelessHttp = over({ sessions: false })

/** The transport of the first revision: one stream for all that the server says. */
export const overEvents = over({ sse: '/sse' }, '/sse')
