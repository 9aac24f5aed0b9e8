/** The options of `http`, and their defaults. */

import { type Awaitable, type MessageObserver, unknownOption } from '@mcpx/protocol'
import type { UnsentResponses } from './unsent-responses.ts'

/** The signature of the platform's `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** The server that the `auth` option authenticates to. */
export interface AuthTarget {
  /** The URL of the server. */
  readonly url: URL
  /**
   * Pauses the timeouts of the request that was sent with this signal until the returned function is called, for
   * example while a user logs in. Has no effect for signals that do not belong to a request of the protocol.
   */
  readonly hold: (signal: AbortSignal) => () => void
}

/** How a broken SSE stream is opened again. */
export interface ReconnectOptions {
  /**
   * The delay before the first attempt, in ms, unless the server requests another delay. It doubles with each attempt.
   * Default: 1,000.
   */
  readonly minDelay?: number | undefined
  /** The longest delay between two attempts, in ms, even if the server requests a longer delay. Default: 30,000. */
  readonly maxDelay?: number | undefined
  /**
   * How many attempts may fail in a row. After that, requests that wait for the stream reject with `ConnectionError`
   * (reason `unreachable`). 0 disables further attempts. Default: 8.
   */
  readonly attempts?: number | undefined
}

/** Options of `http`. */
export interface HttpOptions {
  /**
   * Sends a request. Default: the runtime's `fetch`. `fetch` of Node aborts a response that is silent for 300 s; to
   * wait longer, pass the `fetch` of undici with a `dispatcher` whose `headersTimeout` and `bodyTimeout` are longer.
   */
  readonly fetch?: Fetch | undefined
  /**
   * Headers for every request, or a function that returns them and is called for each request. Headers of the protocol
   * have precedence.
   */
  readonly headers?: Readonly<Record<string, string>> | (() => Awaitable<Readonly<Record<string, string>>>) | undefined
  /**
   * Wraps `fetch` to authenticate requests; called once for each connection. The wrapper receives every request; all of
   * them are to the server's origin. If the wrapper rejects with an `AuthError`, the request rejects with this error.
   */
  readonly auth?: ((fetch: Fetch, target: AuthTarget) => Fetch) | undefined
  /** Additional options of `fetch`, such as `credentials`, or the `dispatcher` of undici. */
  readonly init?: Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal'> | undefined
  /** How often and how fast a broken stream is opened again. */
  readonly reconnect?: ReconnectOptions | undefined
  /**
   * How long an SSE stream may be silent, in ms. SSE comments count as activity. After this time, the stream counts as
   * broken. Set it to several times the interval at which the server sends comments. Default: `Infinity`.
   */
  readonly keepAlive?: number | undefined
  /**
   * The largest JSON body, in bytes. A larger body causes a `ConnectionError` (reason `limit`). Default: 33,554,432 (32
   * Mi).
   */
  readonly maxResponseSize?: number | undefined
  /**
   * The largest event of a stream, in characters. A larger event causes a `ConnectionError` (reason `limit`). Default:
   * 16,777,216 (16 Mi).
   */
  readonly maxEventSize?: number | undefined
  /**
   * How long to wait for the response that shows the era of the server, in ms. Default: 10,000, because some servers
   * start on demand.
   */
  readonly probeTimeout?: number | undefined
}

/** The options with all defaults filled in. */
export interface Settings {
  readonly url: URL
  readonly fetch: Fetch
  readonly auth: HttpOptions['auth']
  readonly headers: () => Awaitable<Readonly<Record<string, string>>>
  readonly init: RequestInit
  readonly minDelay: number
  readonly maxDelay: number
  readonly attempts: number
  readonly keepAlive: number
  readonly maxResponseSize: number
  readonly maxEventSize: number
  readonly probeTimeout: number
  /** Called with each message that is received or sent. */
  readonly onMessage?: MessageObserver | undefined
  /** The responses to requests of the server. Default: none are sent. */
  readonly unsent?: UnsentResponses | undefined
}

// The compiler compares these names with the interface.
const OPTION_NAMES: Readonly<Record<keyof HttpOptions, true>> = {
  fetch: true,
  headers: true,
  auth: true,
  init: true,
  reconnect: true,
  keepAlive: true,
  maxResponseSize: true,
  maxEventSize: true,
  probeTimeout: true,
}

/** The names that other libraries use for options. */
const OTHER_NAMES = {
  authProvider: 'auth',
  requestInit: 'init',
  fetchOptions: 'init',
  reconnectionOptions: 'reconnect',
}

/** Throws for an unknown option, because a misspelled option would have no effect. */
function refuseUnknown(place: string, options: object, names: readonly string[]): void {
  const problem = unknownOption(place, options, names, OTHER_NAMES)
  if (problem !== undefined) throw new TypeError(problem)
}

/**
 * Fills in the defaults. Throws `TypeError` for an unknown option and for a URL that is not valid, and `RangeError` for
 * a number out of range.
 */
export function readOptions(url: string | URL, options: HttpOptions): Settings {
  refuseUnknown('http', options, Object.keys(OPTION_NAMES))
  const { headers = {}, auth, init = {}, reconnect = {} } = options
  refuseUnknown('http: reconnect', reconnect, ['minDelay', 'maxDelay', 'attempts'])
  return {
    url: readUrl(url),
    fetch: options.fetch ?? runtimeFetch,
    auth,
    headers: typeof headers === 'function' ? headers : () => headers,
    init,
    minDelay: atLeast(0, 'reconnect.minDelay', reconnect.minDelay ?? 1_000),
    maxDelay: atLeast(1, 'reconnect.maxDelay', reconnect.maxDelay ?? 30_000),
    attempts: atLeast(0, 'reconnect.attempts', reconnect.attempts ?? 8),
    keepAlive: atLeast(1, 'keepAlive', options.keepAlive ?? Number.POSITIVE_INFINITY),
    maxResponseSize: atLeast(1, 'maxResponseSize', options.maxResponseSize ?? 2 ** 25),
    maxEventSize: atLeast(1, 'maxEventSize', options.maxEventSize ?? 2 ** 24),
    probeTimeout: atLeast(1, 'probeTimeout', options.probeTimeout ?? 10_000),
  }
}

/** Disables a timeout of Bun, which aborts a response that is silent for 300 s. Other runtimes ignore the member. */
const NO_IDLE_TIMEOUT = { timeout: false }

/** The runtime's `fetch`. It is called as a function of the global object, because some runtimes require this. */
const runtimeFetch: Fetch = (input, init) => fetch(input, { ...NO_IDLE_TIMEOUT, ...init })

function readUrl(given: string | URL): URL {
  // The error does not quote the URL, because it may contain a password.
  if (!URL.canParse(given)) throw new TypeError('url: expected a whole URL such as "https://example.com/mcp"')
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`url: expected http: or https:, got ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('url: must not hold a name or a password; pass them with the headers option')
  }
  return url
}

function atLeast(least: number, name: string, value: number): number {
  if (value >= least) return value
  throw new RangeError(`${name}: expected a number from ${least}, got ${value}`)
}
