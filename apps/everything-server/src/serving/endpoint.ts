/** The options of the HTTP endpoint, for every runtime. */
import { type EndpointOptions, HTTP_LIMITS } from '@mcpx/transport-http'

/** The origins whose pages may call the server. */
const ORIGINS = ['http://localhost:6274']

export function endpointOptions(): EndpointOptions {
  return {
    // The HTTP+SSE transport of 2024-11-05.
    sse: '/sse',
    sessions: { ttl: 600_000, retry: 500, awayTimeout: 240_000 },
    cors: ORIGINS,
    keepAlive: 10_000,
    bodyTimeout: 20_000,
    sendTimeout: 30_000,
    limits: {
      body: HTTP_LIMITS.body / 4,
      running: 1_000,
      receivedBytes: HTTP_LIMITS.receivedBytes / 4,
      streams: 1_000,
      unreadBytes: HTTP_LIMITS.unreadBytes / 4,
      perCaller: 0.5,
      sessionRequests: 50,
      sessionStreams: 60,
      unsent: 1024 * 1024,
    },
    onWarning: (problem) => console.error(problem.message),
  }
}
