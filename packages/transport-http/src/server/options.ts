/** The options of an endpoint, their defaults, and the checks that refuse invalid ones. */

import {
  type Awaitable,
  type DebugOption,
  type EventBus,
  type EventStore,
  type Exchange,
  type Guard,
  type JsonSchema,
  type Responder,
  type SessionStore,
  SHARE_PER_CALLER,
  unknownOption,
} from '@mcpx/protocol'

/** Limits of an endpoint. */
export interface HttpLimits {
  /** The largest body of a request, in bytes. Larger bodies are refused with 413. Default: 4 MiB. */
  readonly body: number
  /**
   * How many requests may be in progress at the same time: from the arrival of a request until its response. More are
   * refused with 503. Default: 10,000.
   */
  readonly running: number
  /**
   * How many bytes all requests in progress may need in memory, estimated from their JSON. More are refused with 503.
   * Default: 64 MiB.
   */
  readonly receivedBytes: number
  /**
   * The largest number of open streams that clients have opened with GET. More are refused with 503. Default: 10,000.
   */
  readonly streams: number
  /**
   * The largest number of bytes of all responses that clients have not read. Above it, the oldest responses of callers
   * that use their whole share are cut off. The next requests of such a caller are refused with 429. Only Node reports
   * how much of a response a client has not read; on other runtimes, only streams count. Default: 64 MiB.
   */
  readonly unreadBytes: number
  /**
   * The share of `running`, `receivedBytes`, `streams` and `unreadBytes` that one caller may use, from 0 to 1. The share
   * is never smaller than 16 requests and 16 streams. Requests above the share are refused with 429. A caller is
   * identified by its subject, otherwise by its network address, otherwise by its session. The address of a proxy is
   * ignored if the proxy is on the same machine or network and sends `x-forwarded-for` or `forwarded`. All clients behind
   * any other proxy count as one caller: set 1 there, unless callers are authenticated. Default: 0.25.
   */
  readonly perCaller: number
  /**
   * The largest number of requests of one legacy session that run at the same time. More are refused with 429. Default:
   * 100.
   */
  readonly sessionRequests: number
  /**
   * The largest number of SSE streams of one legacy session that are open at the same time. More are refused with 429.
   * Default: 128, which is enough for one stream per running request.
   */
  readonly sessionStreams: number
  /**
   * How many characters of one stream may wait for a client that does not read. Above this number, the stream is cut off.
   * Default: 4 Mi.
   */
  readonly unsent: number
}

/** The default limits of an endpoint. */
export const HTTP_LIMITS: HttpLimits = {
  body: 4 * 1024 * 1024,
  running: 10_000,
  receivedBytes: 64 * 1024 * 1024,
  streams: 10_000,
  unreadBytes: 64 * 1024 * 1024,
  perCaller: SHARE_PER_CALLER,
  sessionRequests: 100,
  sessionStreams: 128,
  unsent: 4 * 1024 * 1024,
}

/** Default of `bodyTimeout`, in ms. */
export const BODY_TIMEOUT = 30_000

/** Default of `sendTimeout`, in ms. */
export const SEND_TIMEOUT = 60_000

/** Default of `keepAlive`, in ms. */
export const KEEP_ALIVE = 15_000

/** The sessions of the legacy era. */
export interface SessionOptions {
  /** Stores the session records. Default: `store.sessions` of the server, or the memory of this process. */
  readonly store?: SessionStore | undefined
  /**
   * How long a session lives after its last use, in ms. When a session expires, its running calls are aborted if the
   * client is not connected. Default: 1,800,000.
   */
  readonly ttl?: number | undefined
  /**
   * Stores sent events, so that a client can resume a stream. With `false`, streams cannot be resumed. Default:
   * `store.events` of the server, otherwise the memory of this process.
   */
  readonly events?: EventStore | false | undefined
  /**
   * How long a client waits before it resumes a stream, in whole ms. If only one process serves the endpoint, it stores
   * notifications for a disconnected client for 30 times this time: at most 900 notifications, with at most
   * `limits.unsent` characters. Default: 1,000.
   */
  readonly retry?: number | undefined
  /**
   * How long a request to a client waits for its response while the client reads no stream and sends no message, in ms.
   * After this time, the request rejects, so that its call ends. `Infinity` disables the limit. Default: 300,000.
   */
  readonly awayTimeout?: number | undefined
  /**
   * Connects the processes that serve one endpoint. Changes of lists and resources use only the bus of the server's store.
   * Default: `store.bus` of the server. Without a bus, all requests of a session must reach the same process.
   */
  readonly bus?: EventBus | undefined
}

/**
 * Returns the input schema of a tool. The schema shows which arguments clients must repeat in headers, so that these
 * headers can be checked. Returns undefined if there is no such tool.
 */
export type ToolSchemas = (tool: string, exchange: Exchange) => Awaitable<JsonSchema | undefined>

/** Options of `mcp`. */
export interface EndpointOptions {
  /**
   * The host names of this endpoint, such as `mcp.example.com` (any port) or `mcp.example.com:8443`. Requests for other
   * hosts are refused with 403. This prevents web pages from reaching a local server by DNS rebinding. `'*'` allows all
   * hosts. Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined
  /**
   * The origins whose pages may send requests, such as `https://app.example.com`. Other origins are refused with 403.
   * `'*'` allows all origins. Requests without an origin do not come from pages and are accepted. Default: the origins
   * on an allowed host.
   */
  readonly allowedOrigins?: readonly string[] | '*' | undefined
  /**
   * Whether web pages may read the responses. `true` permits it for pages of all allowed origins. A list permits it for
   * these origins, and also adds them to the allowed origins. Default: false.
   */
  readonly cors?: boolean | readonly string[] | undefined
  /**
   * Identifies the caller, or returns a response such as 401. A `Guard` is a function. It may have further members, with
   * which it serves metadata, and challenges callers who lack scopes. Default: none.
   */
  readonly authenticate?: Guard | undefined
  /** Whether the legacy revisions are served. Default: true when the server supports them. */
  readonly legacy?: boolean | undefined
  /** The options of legacy sessions. With `false`, there are no sessions, and each legacy request is independent. */
  readonly sessions?: SessionOptions | false | undefined
  /**
   * The path of the HTTP+SSE transport of revision 2024-11-05, such as `/sse`. All messages of a connection must reach
   * the same process. Default: none, because current clients use the newer transport.
   */
  readonly sse?: string | undefined
  /**
   * The form of responses. `auto`: JSON, or an SSE stream if a message is sent before the response. `events`: always a
   * stream, if the client accepts one. `json`: always JSON; messages before the response are dropped, and requests to the
   * client and subscriptions are not available. Default: `auto`.
   */
  readonly responses?: 'auto' | 'json' | 'events' | undefined
  /** Whether a POST that does not accept both JSON and event streams is refused with 406. Default: false. */
  readonly strictAccept?: boolean | undefined
  /**
   * The interval of comments on open streams, in ms. They prevent proxies from closing the streams. With
   * `responses: 'auto'`, a response that takes longer than this interval also becomes a stream. `Infinity` disables
   * comments. Default: 15,000.
   */
  readonly keepAlive?: number | undefined
  /**
   * The longest time between two bytes of a request body, in ms. After this time, the request is refused with 408.
   * `Infinity` disables the limit. Default: 30,000.
   */
  readonly bodyTimeout?: number | undefined
  /**
   * How long a client may read nothing of its response, in ms. After this time, its connection is cut off. Works only
   * on Node. `Infinity` disables the limit. Default: 60,000.
   */
  readonly sendTimeout?: number | undefined
  /**
   * Returns the input schema of a tool. It shows which arguments clients must repeat in headers. Default: `inputSchemaOf`
   * of the server. If the server has no such method, these headers are not checked.
   */
  readonly toolSchemas?: ToolSchemas | undefined
  /** Limits that differ from `HTTP_LIMITS`. */
  readonly limits?: Partial<HttpLimits> | undefined
  /**
   * Whether a browser that opens the URL of the endpoint receives a page. The page shows the name and the version of
   * the server, and how to connect. MCP clients never receive it. Default: true.
   */
  readonly page?: boolean | undefined
  /** Called with each error that was dropped or masked, and for each stream that was cut off. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /**
   * Writes each message that is sent or received to standard error, as one line without secrets, in which long values
   * are cut. If it is a function, the function receives the lines instead. Default: whether the environment variable
   * `MCPX_DEBUG` is set.
   */
  readonly debug?: DebugOption | undefined
}

const HOST = /^(?:[^\s/:?#*[\]]+|\[[^\s/\]]+\])(?::\d+)?$/
const HOSTS = 'hosts such as "mcp.example.com" or "mcp.example.com:8443"'
const ORIGIN = /^(?:[a-z][\w+.-]*:\/\/[^\s/?#*]+|null)$/i
const ORIGINS = 'origins such as "https://app.example.com"'

export const ENDPOINT_OPTIONS: readonly (keyof EndpointOptions)[] = [
  'allowedHosts',
  'allowedOrigins',
  'authenticate',
  'bodyTimeout',
  'cors',
  'debug',
  'keepAlive',
  'legacy',
  'limits',
  'onWarning',
  'page',
  'responses',
  'sendTimeout',
  'sessions',
  'sse',
  'strictAccept',
  'toolSchemas',
]

/** Throws a `TypeError` or a `RangeError` for an invalid option. The values of `limits` are checked by `withDefaultLimits`. */
export function checkOptions(responder: Responder, options: EndpointOptions): void {
  const { allowedHosts = '*', allowedOrigins = '*', cors = false, responses = 'auto', sessions } = options
  if (typeof responder?.respond !== 'function')
    throw unexpected('a server, such as the result of createServer()', responder)
  if (allowedHosts !== '*') checkList('allowedHosts', allowedHosts, HOST, `${HOSTS}, or "*"`)
  if (allowedOrigins !== '*') checkList('allowedOrigins', allowedOrigins, ORIGIN, `${ORIGINS}, or "*"`)
  if (typeof cors !== 'boolean') checkList('cors', cors, ORIGIN, `${ORIGINS}, or true or false`)
  if (!['auto', 'json', 'events'].includes(responses)) {
    throw unexpected('"auto", "json" or "events"', responses, 'responses: ')
  }
  for (const name of ['authenticate', 'onWarning', 'toolSchemas'] as const) {
    const given: unknown = options[name]
    if (given !== undefined && typeof given !== 'function') throw unexpected('a function', given, `${name}: `)
  }
  const { page = true } = options
  if (typeof page !== 'boolean') throw unexpected('true or false', page, 'page: ')
  checkTime('bodyTimeout', options.bodyTimeout, 1)
  checkTime('keepAlive', options.keepAlive, 1)
  checkTime('sendTimeout', options.sendTimeout, 1)
  checkNames('mcp', options, ENDPOINT_OPTIONS)
  checkNames('limits', options.limits ?? {}, Object.keys(HTTP_LIMITS))
  if (!sessions) return
  checkNames('sessions', sessions, ['store', 'ttl', 'events', 'retry', 'awayTimeout', 'bus'])
  checkTime('sessions.ttl', sessions.ttl, 1)
  checkTime('sessions.awayTimeout', sessions.awayTimeout, 1)
  // `retry` is sent to clients, which accept only whole numbers.
  const { retry } = sessions
  if (retry === undefined || (Number.isSafeInteger(retry) && retry >= 0)) return
  throw new RangeError(`sessions.retry: expected a whole number of ms from 0, got ${retry}`)
}

function checkList(option: string, given: unknown, form: RegExp, wanted: string): void {
  const isEntry = (each: unknown) => typeof each === 'string' && form.test(each)
  const wrong = Array.isArray(given) ? given.findIndex((each) => !isEntry(each)) : 0
  if (wrong === -1) return
  throw unexpected(`a list of ${wanted}`, Array.isArray(given) ? given[wrong] : given, `${option}: `)
}

/** Refuses unknown members, because a misspelled option would be ignored silently. */
function checkNames(place: string, given: object, known: readonly string[]): void {
  const problem = unknownOption(place, given, known)
  if (problem !== undefined) throw new TypeError(problem)
}

function checkTime(option: string, given: unknown, least: number): void {
  if (given === undefined || (typeof given === 'number' && given >= least)) return
  throw new RangeError(`${option}: expected a number of ms from ${least}, or Infinity, got ${given}`)
}

function unexpected(wanted: string, given: unknown, where = ''): TypeError {
  return new TypeError(`${where}expected ${wanted}, got ${JSON.stringify(given) ?? String(given)}`)
}

const PATH_BASE = 'http://path.invalid'

/**
 * Checks a path. Returns it with a slash at the beginning, and encoded as in a URL.
 *
 * @param example a valid path for the error message
 * @throws TypeError for any other value
 */
export function readPath(option: string, given: unknown, example: string): string {
  if (typeof given === 'string') {
    const path = given.startsWith('/') || given.includes('://') ? given : `/${given}`
    const url = URL.canParse(path, PATH_BASE) ? new URL(path, PATH_BASE) : undefined
    if (url?.origin === PATH_BASE && url.search === '' && url.hash === '') return url.pathname
  }
  const shown = JSON.stringify(given)
  throw new TypeError(`${option}: expected a path such as "${example}", with no host and no query, got ${shown}`)
}
