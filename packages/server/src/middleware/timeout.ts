/** `timeout`: limits how long a request may take. */

import { type Context, LONGEST_TIMER, RpcError } from '@mcpx/protocol'
import { deriveContext } from '../context.ts'
import { failedResult } from '../errors.ts'
import type { Middleware, ServerRequest } from '../middleware.ts'
import { PendingAnswer } from '../questions.ts'

/** The error code of requests that took too long, as in HTTP. JSON-RPC does not reserve it. */
export const TIMED_OUT = 504

/**
 * Creates a middleware that stops requests after `limit` ms: it aborts `ctx.signal` of the handler, and responds. A
 * tool call returns a result with `isError`; other requests fail with the code 504 and `data.timeoutMs`. The time in
 * which the client answers questions does not count. `Infinity`, or a function that returns undefined, means no limit.
 * Throws a `RangeError` for a limit of 0 or less.
 *
 * ```ts
 * server.use(timeout(30_000))
 * server.use(timeout(({ method }) => (method === 'tools/call' ? 60_000 : 5_000)))
 * ```
 */
export function timeout(limit: number | ((request: ServerRequest) => number | undefined)): Middleware {
  if (typeof limit !== 'function') checkLimit(limit)
  return async (request, ctx, next) => {
    const ms = typeof limit === 'number' ? limit : limit(request)
    if (ms === undefined || ms === Number.POSITIVE_INFINITY) return next()
    const deadline = new Deadline(Math.min(checkLimit(ms), LONGEST_TIMER))
    try {
      // `race` also prevents an unhandled rejection if the handler fails after the deadline.
      const result = await Promise.race([next(request, withDeadline(ctx, deadline)), deadline.passed])
      return result ?? timedOut(request, ms)
    } finally {
      deadline.clear()
    }
  }
}

function checkLimit(ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`timeout: expected more than 0 ms, got ${ms}`)
}

function timedOut({ method }: ServerRequest, ms: number): object {
  const problem = `${method === 'tools/call' ? 'The tool' : method} did not end within ${ms} ms and was stopped.`
  if (method !== 'tools/call') throw new RpcError(TIMED_OUT, problem, { data: { timeoutMs: ms } })
  return failedResult(problem)
}

/** Derives the context of the handler. Its signal is aborted at the deadline, and questions pause the timer. */
function withDeadline(ctx: Context, deadline: Deadline): Context {
  let signal: AbortSignal | undefined
  return deriveContext(ctx, {
    get signal() {
      signal ??= AbortSignal.any([ctx.signal, deadline.signal])
      return signal
    },
    elicit: (key, options) => deadline.pauseDuring(() => ctx.elicit(key, options)),
    openUrl: (key, options) => deadline.pauseDuring(() => ctx.openUrl(key, options)),
    sample: (key, params) => deadline.pauseDuring(() => ctx.sample(key, params)),
    roots: (key) => deadline.pauseDuring(() => ctx.roots(key)),
    ask: (questions) => deadline.pauseDuring(() => ctx.ask(questions)),
  })
}

/** A timer that can be paused. */
class Deadline {
  /** Resolves at the deadline. */
  readonly passed: Promise<undefined>
  readonly #ms: number
  readonly #controller = new AbortController()
  #remaining: number
  #startedAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #pauses = 0
  #isCleared = false

  constructor(ms: number) {
    this.#ms = ms
    this.#remaining = ms
    this.passed = new Promise((resolve) => {
      this.signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    this.#start()
  }

  /** Aborted at the deadline. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Asks a question and pauses the timer until it is answered. After the deadline it rejects without asking. */
  pauseDuring<Value>(ask: () => Promise<Value>): Promise<Value> {
    if (this.signal.aborted) return new PendingAnswer('', Promise.reject(this.signal.reason))
    const answer = ask()
    this.#pause()
    const resume = () => this.#resume()
    // Returns the same promise, so that a missing `await` is still detected.
    if (answer instanceof PendingAnswer) answer.onSettled(resume)
    else answer.then(resume, resume)
    return answer
  }

  clear(): void {
    this.#isCleared = true
    clearTimeout(this.#timer)
  }

  #start(): void {
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#pass(), Math.max(0, this.#remaining))
  }

  #pass(): void {
    this.#controller.abort(new DOMException(`The request did not end within ${this.#ms} ms`, 'TimeoutError'))
  }

  #pause(): void {
    this.#pauses += 1
    if (this.#pauses > 1) return
    clearTimeout(this.#timer)
    this.#remaining -= performance.now() - this.#startedAt
  }

  #resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0 && !this.#isCleared) this.#start()
  }
}
