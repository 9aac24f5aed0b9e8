/** A bound for how long a request may take, whatever its handler does. */

import { type CallToolResult, type Context, RpcError } from '@mcpx/protocol'
import type { Middleware, ServerRequest } from '../middleware.ts'
import type { ToolContext } from '../tool-context.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { DeadlineContext } from './deadline-context.ts'

/** Not done in time. Outside of the range that JSON-RPC keeps for itself, and named like the HTTP status. */
export const TIMED_OUT = 504

/** The longest delay that timers know; a longer bound is taken for this one, which is about 24 days. */
const LONGEST = 2 ** 31 - 1

/**
 * Answers for a handler that takes longer than `limit` ms, and fires its `ctx.signal`. A tool's answer is a result
 * with `isError`; anything else is an error with the code 504 and `data.timeoutMs`. The time that the client takes to
 * answer questions does not count. `Infinity`, or a function that gives nothing, means no bound. Throws a
 * `RangeError` for a bound that is not more than 0.
 *
 * ```ts
 * server.use(timeout(30_000))
 * server.use(timeout(({ method }) => (method === 'tools/call' ? 60_000 : 5_000)))
 * ```
 */
export function timeout(limit: number | ((request: ServerRequest) => number | undefined)): Middleware<ToolContext> {
  if (typeof limit === 'number') checkLimit(limit)
  return (request, ctx, next) => {
    const ms = typeof limit === 'number' ? limit : limit(request)
    if (ms === undefined || ms === Number.POSITIVE_INFINITY) return next()
    const deadline = startDeadline(Math.min(checkLimit(ms), LONGEST))
    return race(next(request, new DeadlineContext(ctx as Context, deadline)), deadline, () => timedOut(request, ms))
  }
}

/** A handler that fails later fails unnoticed: the race still listens to it. */
async function race(answer: Promise<object>, deadline: Deadline, onTimeout: () => object): Promise<object> {
  try {
    const first = await Promise.race([answer, deadline.passed])
    return first ?? onTimeout()
  } finally {
    deadline.clear()
  }
}

function checkLimit(ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`timeout: expected more than 0 ms, got ${ms}`)
}

function timedOut({ method }: ServerRequest, ms: number): CallToolResult {
  const text = `${method === 'tools/call' ? 'The tool' : method} did not end within ${ms} ms and was stopped.`
  if (method !== 'tools/call') throw new RpcError(TIMED_OUT, text, { data: { timeoutMs: ms } })
  return { content: [{ type: 'text', text }], isError: true }
}
