/** What can be set about reaching a server over HTTP, and what holds when nothing is. */

import type { Awaitable } from '@mcpx/protocol'
import { patience } from './patience.ts'

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** What a wrapper of `fetch` may know of the server that it proves something to. */
export interface AuthTarget {
  /** The URL of the server. */
  readonly url: URL
  /**
   * Stops the clocks of the request that was sent with this signal, until the returned function is called: for what is
   * asked of people, who take their time. Does nothing for what is no request of the protocol.
   */
  readonly hold: (signal: AbortSignal) => () => void
}

/** How a broken event stream is opened again. */
export interface ReconnectOptions {
  /** The wait before the first attempt, in ms, unless the server names one. It doubles with each attempt. Default: 1,000. */
  readonly minDelay?: number | undefined
  /** The longest wait between two attempts, in ms. A time that the server names is cut to it. Default: 30,000. */
  readonly maxDelay?: number | undefined
  /**
   * How many attempts may fail in a row. Then what waits on that stream rejects with `ConnectionError` `unreachable`.
   * Default: 8. 0: never open again.
   */
  readonly attempts?: number | undefined
}

export interface HttpOptions {
  /**
   * Sends a request. Default: the runtime's own `fetch`, which is told to wait for silent answers and streams, where it
   * would give them up after 300 s (Node, Bun). One of your own waits as long as it does.
   */
  readonly fetch?: Fetch | undefined
  /** Sent with every request; a function is asked each time. What the protocol says with headers of its own comes first. */
  readonly headers?: Readonly<Record<string, string>> | (() => Awaitable<Readonly<Record<string, string>>>) | undefined
  /**
   * Wraps `fetch` to prove who is asking, once for each connection. It sees every request, and none that leaves the
   * server's origin. An `AuthError` that it rejects with is what the request rejects with.
   */
  readonly auth?: ((fetch: Fetch, target: AuthTarget) => Fetch) | undefined
  /** More that the runtime's `fetch` takes, such as `credentials`, or the `dispatcher` of undici. */
  readonly init?: Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal'> | undefined
  readonly reconnect?: ReconnectOptions | undefined
  /**
   * How long an event stream may be silent, in ms; comments count as a sound. Then it is taken for dead, as if it had
   * been cut. Default: `Infinity`. Set it to a few times the interval at which the server sends comments.
   */
  readonly keepAlive?: number | undefined
  /** The largest JSON body, in bytes. Over: `ConnectionError` `limit`. Default: 33,554,432 (32 Mi). */
  readonly maxResponseSize?: number | undefined
  /** The largest event of a stream, in characters. Over: `ConnectionError` `limit`. Default: 16,777,216 (16 Mi). */
  readonly maxEventSize?: number | undefined
  /** How long the server may take to show its era, in ms. Default: 10,000, as some are started by the first request. */
  readonly probeTimeout?: number | undefined
}

/** The options with all defaults filled in. */
export interface Settings {
  readonly url: URL
  readonly fetch: Fetch
  /** What is passed to `fetch` so that it waits; looked up with each request. */
  readonly patience: () => object
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
}

export function settle(url: string | URL, options: HttpOptions): Settings {
  const { headers = {}, auth, init = {}, reconnect = {} } = options
  // Called as a method of nothing: some runtimes refuse a `fetch` that is taken off its global object.
  const bare: Fetch = options.fetch ?? ((input, init) => fetch(input, init))
  return {
    url: readUrl(url),
    fetch: bare,
    patience: options.fetch === undefined ? patience : () => ({}),
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

function readUrl(given: string | URL): URL {
  // What is none is not shown: it may hold a password.
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
