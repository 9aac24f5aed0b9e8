/** `rateLimit`: limits how many requests a caller may send within a window of time. */

import { type Awaitable, type CallToolResult, type Context, principalOf, RpcError } from '@mcpx/protocol'
import { failedResult } from '../errors.ts'
import type { Middleware, ServerRequest } from '../middleware.ts'

/** The error code of refused requests, which is that of HTTP. Outside of the range that JSON-RPC reserves. */
export const RATE_LIMITED = 429

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** How many requests a caller may send in each window. A whole number, 1 or more. */
  readonly limit: number
  /** The length of a window in ms. It begins with the first request, so twice the limit can pass around its end. */
  readonly window: number
  /**
   * Returns the caller to count; requests for which it returns undefined are not counted. Default: the principal; all
   * anonymous callers are counted as one.
   */
  readonly key?: ((request: ServerRequest, ctx: Context) => string | undefined) | undefined
  /** Holds the counts. A request fails when its store does. Default: `createMemoryCounterStore()`, for this process. */
  readonly store?: CounterStore | undefined
}

/**
 * Refuses requests beyond the limit. A refused tool call is a result with `isError`, which models read; every other refused
 * request is an error with the code 429 and `data.retryAfterMs`.
 *
 * ```ts
 * server.use(rateLimit({ limit: 100, window: 60_000 }))
 * ```
 */
export function rateLimit({ limit, window, key = callerOf, store }: RateLimitOptions): Middleware {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit: expected a whole number from 1 on, got ${limit}`)
  if (!Number.isFinite(window) || window <= 0) throw new RangeError(`window: expected more than 0, got ${window}`)
  const counters = store ?? createMemoryCounterStore()
  return async (request, ctx, next) => {
    // Refusing would keep a subscription alive that the client wants to end.
    if (request.method === 'resources/unsubscribe') return next()
    const caller = key(request, ctx)
    if (caller === undefined) return next()
    // Limits that share a store do not share counts.
    const count = await counters.increment(`${limit}/${window} ${caller}`, window)
    return count.count <= limit ? next() : refuse(request, `at most ${limit} in ${seconds(window)}`, count)
  }
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

/** The requests of one caller in the current window. */
export interface Count {
  /** The number of requests since the window began, with this one. */
  readonly count: number
  /** When the window ends, as `Date.now()` counts. */
  readonly resetsAt: number
}

/** Holds the counts of callers. Where several processes serve one endpoint, they share a store. */
export interface CounterStore {
  /** Increments the count of a key atomically. The first count of a key begins a window. */
  increment(key: string, window: number): Awaitable<Count>
}

/** Options of `createMemoryCounterStore`. */
export interface MemoryCounterStoreOptions {
  /** How many keys are counted at once; beyond that, the oldest window is dropped. Default: 10,000. */
  readonly maxKeys?: number | undefined
}

/** A store in the memory of this process. */
export function createMemoryCounterStore({ maxKeys = 10_000 }: MemoryCounterStoreOptions = {}): CounterStore {
  if (!(maxKeys >= 1)) throw new RangeError(`maxKeys: expected 1 or more, got ${maxKeys}`)
  const windows = new Map<string, { count: number; resetsAt: number }>()

  function makeRoom(now: number): void {
    for (const [key, { resetsAt }] of windows) {
      if (resetsAt > now && windows.size < maxKeys) return
      windows.delete(key)
    }
  }

  return {
    increment(key, window) {
      const now = Date.now()
      const known = windows.get(key)
      if (known !== undefined && known.resetsAt > now) {
        known.count += 1
        return { count: known.count, resetsAt: known.resetsAt }
      }
      // Deleted first, so that entries stay in the order in which their windows began.
      windows.delete(key)
      makeRoom(now)
      const fresh = { count: 1, resetsAt: now + window }
      windows.set(key, fresh)
      return { ...fresh }
    },
  }
}
