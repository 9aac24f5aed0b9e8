/** HTTP without a network: what the client fetches is handed to the app, and its response is handed back. */

import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import type { Carry } from './carrier.ts'

/** No pause before a stream is opened again: there is nobody to spare. */
const RETRY = 1

/** As the options say; at a path of its own where the transport of the first revision is. */
function over(options: EndpointOptions, path = '/mcp'): Carry {
  return (server, { auth, report }) => {
    const app = mcp(server, { ...options, authenticate: auth && (() => auth), report })
    const connector = http(`http://localhost${path}`, {
      fetch: async (input, init) => app.fetch(new Request(input, init)),
      reconnect: { minDelay: RETRY },
    })
    return { connector, end: () => app.close() }
  }
}

/** Modern requests, and sessions for legacy clients. */
export const overHttp = over({ sessions: { retry: RETRY } })

/** Each legacy request stands alone. */
export const overStatelessHttp = over({ sessions: false })

/** The transport of the first revision: one stream for all that the server says. */
export const overEvents = over({ sse: '/sse' }, '/sse')
