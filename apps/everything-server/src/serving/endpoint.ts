/** The options of the HTTP endpoint, for every runtime. */
import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { type EndpointOptions, HTTP_LIMITS } from '@mcpx/transport-http'

/** The origins whose pages may call the server. */
const ORIGINS = ['http://localhost:6274']

export function endpointOptions(): EndpointOptions {
  return {
    // The HTTP+SSE transport of 2024-11-05.
    sse: '/sse',
    // Several processes that serve one endpoint share these three.
    sessions: {
      store: createMemorySessionStore({
        maxSessions: 1_000,
        maxTotalBytes: 8 * 1024 * 1024,
        onEvict: (id) => console.error(`session ${id} was evicted`),
      }),
      events: createMemoryEventStore({
        maxStreams: 1_000,
        maxLive: 1_000,
        maxEvents: 500,
        maxCharacters: 1024 * 1024,
        maxTotalCharacters: 16 * 1024 * 1024,
        ttl: 600_000,
      }),
      bus: createMemoryEventBus({
        onWarning: (error) => console.error('an event of another process was lost:', error),
      }),
      ttl: 600_000,
      retry: 500,
      awayTimeout: 240_000,
    },
    cors: ORIGINS,
    keepAlive: 10_000,
    bodyTimeout: 20_000,
    limits: {
      body: HTTP_LIMITS.body / 4,
      running: 1_000,
      receivedBytes: HTTP_LIMITS.receivedBytes / 4,
      streams: 1_000,
      perCaller: 0.5,
      sessionRequests: 50,
      sessionStreams: 60,
      unsent: 1024 * 1024,
    },
    onWarning: (problem) => console.error(problem.message),
  }
}
