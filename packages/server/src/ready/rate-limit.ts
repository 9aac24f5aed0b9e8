/** How often a caller may ask within a window of time. */

import { type Awaitable, type CallToolResult, isPromise, principalOf, RpcError } from '@mcpx/protocol'
import type { Middleware, ServerRequest } from '../middleware.ts'
import type { ToolContext } from '../tool-context.ts'
import { type Count, type CounterStore, createMemoryCounterStore } from './counter-store.ts'

/** Too many requests. Outside of the range that JSON-RPC keeps for itself, and named like the HTTP status. */
export const RATE_LIMITED = 429

export interface RateLimitOptions {
  /** How many requests a caller has in each window. A whole number, 1 or more. */
  readonly limit: number
  /** How long a window is, in ms. It begins with the first request, so twice the limit can pass around its end. */
  readonly windowMs: number
  /**
   * Names who is counted; a request for which it gives nothing is not counted. Default: the principal; all anonymous
   * callers are counted as one.
   */
  readonly key?: ((request: ServerRequest, ctx: ToolContext) => string | undefined) | undefined
  /** Default: one for this process, for 10,000 callers. A request fails when its store does. */
  readonly store?: CounterStore | undefined
}

/**
 * Refuses what goes beyond the limit. A refused call of a tool is a result with `isError`, which models read; anything
 * else is an error with the code 429 and `data.retryAfterMs`.
 *
 * ```ts
 * server.use(rateLimit({ limit: 100, windowMs: 60_000 }))
 * ```
 */
export function rateLimit({ limit, windowMs, key = callerOf, store }: RateLimitOptions): Middleware<ToolContext> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit: expected a whole number from 1 on, got ${limit}`)
  if (!Number.isFinite(windowMs) || windowMs <= 0)
    throw new RangeError(`windowMs: expected more than 0, got ${windowMs}`)
  const counters = store ?? createMemoryCounterStore()
  return (request, ctx, next) => {
    // Who gives something up costs less from then on, and what is held for them would stay.
    if (request.method === 'resources/unsubscribe') return next()
    const caller = key(request, ctx)
    if (caller === undefined) return next()
    const decide = (count: Count): Awaitable<object> =>
      count.count <= limit ? next() : refuse(request, `at most ${limit} in ${seconds(windowMs)}`, count)
    // Limits that share a store do not share counts.
    const counted = counters.increment(`${limit}/${windowMs} ${caller}`, windowMs)
    return isPromise(counted) ? counted.then(decide) : decide(counted)
  }
}

function callerOf(_: ServerRequest, { auth }: ToolContext): string {
  return auth === undefined ? 'anonymous' : `subject ${principalOf(auth)}`
}

function refuse({ method }: ServerRequest, rule: string, { resetsAt }: Count): CallToolResult {
  const retryAfterMs = Math.max(0, Math.ceil(resetsAt - Date.now()))
  const text = `Too many requests: ${rule}. Try again in ${seconds(retryAfterMs)}.`
  if (method !== 'tools/call') throw new RpcError(RATE_LIMITED, text, { data: { retryAfterMs } })
  return { content: [{ type: 'text', text }], isError: true }
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1_000)} s`
}
