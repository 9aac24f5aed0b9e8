/** `rateLimit`: limits the number of requests per caller within a time window. */

import { type CallToolResult, type Context, type Count, type CounterStore, principalOf, RpcError } from '@mcpx/protocol'
import { createMemoryCounterStore } from '@mcpx/protocol/memory'
import { failedResult } from '../errors.ts'
import type { Middleware, ServerRequest } from '../middleware.ts'
import { checkOptionNames } from '../registration.ts'

/** The error code of refused requests, as in HTTP. JSON-RPC does not reserve it. */
export const RATE_LIMITED = 429

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** The largest number of requests per caller and window: an integer from 1. */
  readonly limit: number
  /**
   * The length of a window, in ms. A window starts with the first request after the previous one. Around its end, a caller
   * can send up to twice the limit within a short time.
   */
  readonly window: number
  /**
   * Returns the key under which a request is counted. If it returns undefined, the request is not counted. Default: the
   * principal; all anonymous callers share one key.
   */
  readonly key?: ((request: ServerRequest, ctx: Context) => string | undefined) | undefined
  /**
   * Stores the counts. If the store fails, the request fails. Default: `store.counters` of the server, otherwise
   * `createMemoryCounterStore()`, which counts only in this process.
   */
  readonly store?: CounterStore | undefined
}

/**
 * Creates a middleware that refuses requests beyond the limit. A refused tool call returns a result with `isError`, which
 * models read. Other requests fail with the code 429 and `data.retryAfterMs`.
 *
 * ```ts
 * server.use(rateLimit({ limit: 100, window: 60_000 }))
 * ```
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  checkOptionNames('rateLimit', options, ['limit', 'window', 'key', 'store'] satisfies (keyof RateLimitOptions)[])
  const { limit, window, key = callerOf, store } = options
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit: expected a whole number from 1 on, got ${limit}`)
  if (!Number.isFinite(window) || window <= 0) throw new RangeError(`window: expected more than 0, got ${window}`)
  const counters = store ?? createMemoryCounterStore()
  const middleware: Middleware = async (request, ctx, next) => {
    // `resources/unsubscribe` is never refused: otherwise the client could not end its subscription.
    if (request.method === 'resources/unsubscribe') return next()
    const caller = key(request, ctx)
    if (caller === undefined) return next()
    // The key contains the limit and the window, so that several limits can use one store.
    const count = await counters.increment(`${limit}/${window} ${caller}`, window)
    return count.count <= limit ? next() : refuse(request, `at most ${limit} in ${seconds(window)}`, count)
  }
  if (store === undefined) middleware.withStore = (shared) => rateLimit({ ...options, store: shared.counters })
  return middleware
}

function callerOf(_: ServerRequest, { auth }: Context): string {
  return auth === undefined ? 'anonymous' : `subject ${principalOf(auth)}`
}

function refuse({ method }: ServerRequest, rule: string, { resetsAt }: Count): CallToolResult {
  const retryAfterMs = Math.max(0, Math.ceil(resetsAt - Date.now()))
  const text = `Too many requests: ${rule}. Try again in ${seconds(retryAfterMs)}.`
  if (method !== 'tools/call') throw new RpcError(RATE_LIMITED, text, { data: { retryAfterMs } })
  return failedResult(text)
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1_000)} s`
}
