/** How the server is reached by HTTP, whichever runtime serves it. */
import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { type EndpointOptions, HTTP_LIMITS } from '@mcpx/transport-http'

/** The pages of these origins may call, and read the answers. */
const PAGES = ['http://localhost:6274']

export function endpointOptions(): EndpointOptions {
  return {
    // The transport of the first revision, for clients that know no other.
    sse: '/sse',
    // Processes that serve one endpoint together would share all three.
    sessions: {
      store: createMemorySessionStore({ maxSessions: 1_000, onEvict: (id) => console.error(`session ${id} is over`) }),
      events: createMemoryEventStore({
        maxStreams: 1_000,
        maxLive: 1_000,
        maxEvents: 500,
        maxCharacters: 1024 * 1024,
        ttl: 600_000,
      }),
      bus: createMemoryEventBus({ onWarning: (error) => console.error('another process could not be heard:', error) }),
      ttl: 600_000,
      retry: 500,
    },
    cors: PAGES,
    keepAlive: 10_000,
    limits: {
      body: HTTP_LIMITS.body / 4,
      running: 1_000,
      sessionRequests: 50,
      sessionStreams: 60,
      unsent: 1024 * 1024,
    },
    onWarning: (problem) => console.error(problem.message),
  }
}
