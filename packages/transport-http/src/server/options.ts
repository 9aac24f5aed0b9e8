/** What can be set on an endpoint, with the defaults. */

import type { Awaitable, EventBus, EventStore, Exchange, Guard, JsonSchema, SessionStore } from '@mcpx/protocol'
import type { ArrivalLimits } from './arrival-limits.ts'

export interface HttpLimits {
  /** How large the body of a request may be, in bytes. Larger ones are refused with 413. Default: 4 MiB. */
  readonly body: number
  /** How many requests may arrive and run at once, in all. More are refused with 503. Default: 10,000. */
  readonly running: number
  /** How many requests of one legacy session may run at once. More are refused with 429. Default: 100. */
  readonly sessionRequests: number
  /**
   * How many event streams of one legacy session may be open at once. More are refused with 429. Default: 128, so that
   * as many requests as may run can be answered by streams, besides what is listened to.
   */
  readonly sessionStreams: number
  /** How many bytes may wait on a stream whose client does not read, before the stream is cut. Default: 4 MiB. */
  readonly unsent: number
}

export const HTTP_LIMITS: HttpLimits = {
  body: 4 * 1024 * 1024,
  running: 10_000,
  sessionRequests: 100,
  sessionStreams: 128,
  unsent: 4 * 1024 * 1024,
}

/** How often an open stream is given a comment, in ms. */
export const KEEP_ALIVE = 15_000

/** How sessions of the legacy era are kept. */
export interface SessionOptions {
  /** Keeps the records. Default: one in the memory of this process. */
  readonly store?: SessionStore | undefined
  /** How long a session lives after its last use, in ms. Default: 1,800,000. */
  readonly ttl?: number | undefined
  /** Keeps what was sent, so that a client that lost a stream can have the rest. Default: in memory; `false`: nothing is kept. */
  readonly events?: EventStore | false | undefined
  /**
   * How long a client is to wait before it asks for the rest of a stream, in whole ms. What its session is told meanwhile
   * is kept for 30 times as long, in this process, up to 1,000 messages or `limits.unsent`. Default: 1,000.
   */
  readonly retry?: number | undefined
  /** Tells the other processes of one endpoint what arrived here for them. Default: there are no others. */
  readonly bus?: EventBus | undefined
}

/** The input schema of a tool, for its arguments that travel as headers too; nothing when there is no such tool. */
export type ToolSchemas = (tool: string, exchange: Exchange) => Awaitable<JsonSchema | undefined>

export interface EndpointOptions extends ArrivalLimits {
  /**
   * The host names this endpoint may be called by, such as `mcp.example.com` (any port) or `mcp.example.com:8443`;
   * others are refused with 403, which keeps web pages from reaching a local server by DNS rebinding. `'*'`: any.
   * Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined
  /**
   * The origins whose pages may call, such as `https://app.example.com`; others are refused with 403. `'*'`: any.
   * Requests without an origin do not come from pages and pass. Default: those on an allowed host.
   */
  readonly allowedOrigins?: readonly string[] | '*' | undefined
  /** Let pages of other origins read the answers: of all allowed origins, or of these, which are then allowed. Default: false. */
  readonly cors?: boolean | readonly string[] | undefined
  /**
   * Says who is asking, or answers in the server's place, such as with 401. A function does; a guard may also serve
   * metadata, and challenge callers who lack scopes. Default: nobody is known.
   */
  readonly authenticate?: Guard | undefined
  /** Whether the revisions before the modern ones are served. Default: if the server serves them. */
  readonly legacy?: boolean | undefined
  /** How legacy sessions are kept; `false`: there are none, and each legacy request stands alone. */
  readonly sessions?: SessionOptions | false | undefined
  /**
   * The path of the transport that the first revision had, such as `/sse`; its connections live in one process.
   * Default: it is not served, as every client of today speaks the newer one.
   */
  readonly sse?: string | undefined
  /**
   * `auto`: plain JSON, and a stream of events when something is said before the answer. `events`: always a stream, if
   * the client takes one. `json`: never; what handlers say before they end is dropped, and nothing can be asked or
   * listened to. Default: `auto`.
   */
  readonly responses?: 'auto' | 'json' | 'events' | undefined
  /** Refuse with 406 a POST that does not accept both JSON and event streams. Default: false. */
  readonly strictAccept?: boolean | undefined
  /**
   * How often an open stream is given a comment, in ms, so that it is not taken for dead. An answer that takes longer than
   * that, and up to a quarter more, becomes a stream, too. `Infinity`: never. Default: 15,000.
   */
  readonly keepAlive?: number | undefined
  /** Where the schemas of tools come from. Default: the responder's own `inputSchemaOf`, if it has one; else arguments in headers are not checked. */
  readonly toolSchemas?: ToolSchemas | undefined
  readonly limits?: Partial<HttpLimits> | undefined
  /** Hears of everything that was dropped, cut or masked. Default: nobody does. */
  readonly report?: ((problem: Error) => void) | undefined
}
