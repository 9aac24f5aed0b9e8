/** One request that waits for its answer, and its clock: when it is given up, and when that is put off. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { RequestOptions } from '../ports/requester.ts'

const DEFAULT_TIMEOUT = 60_000
const DEFAULT_MAX_TIMEOUT = 600_000

export class WaitingRequest {
  readonly method: string
  readonly options: RequestOptions
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly onAbort: (() => void) | undefined
  readonly #timeout: number
  /** When to give up whatever progress is made. */
  #last: number
  /** When to give up unless progress is made. */
  #due: number
  /** How many hold the clock, and since when the first of them does. */
  #holds = 0
  #heldAt = 0

  constructor(
    method: string,
    options: RequestOptions,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
    onAbort: (() => void) | undefined,
  ) {
    const timeout = duration('timeout', options.timeout ?? DEFAULT_TIMEOUT)
    const maxTimeout = duration('maxTimeout', options.maxTimeout ?? Math.max(timeout, DEFAULT_MAX_TIMEOUT))
    const now = performance.now()
    this.method = method
    this.options = options
    this.resolve = resolve
    this.reject = reject
    this.onAbort = onAbort
    this.#timeout = timeout
    this.#last = now + maxTimeout
    this.#due = now + Math.min(timeout, maxTimeout)
  }

  /** When to give up; never, while the clock is held. */
  get due(): number {
    return this.#holds > 0 ? Number.POSITIVE_INFINITY : this.#due
  }

  progressed(): void {
    const now = this.#holds > 0 ? this.#heldAt : performance.now()
    this.#due = Math.min(now + this.#timeout, this.#last)
  }

  hold(): void {
    if (this.#holds === 0) this.#heldAt = performance.now()
    this.#holds += 1
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds > 0) return
    const held = performance.now() - this.#heldAt
    this.#due += held
    this.#last += held
  }

  timeoutError(now: number): ConnectionError {
    const atMost = this.#last <= now
    const message = atMost
      ? `No answer to ${this.method} within its longest time`
      : `No answer to ${this.method} within ${this.#timeout} ms`
    const hint = `Pass a longer ${atMost ? 'maxTimeout' : 'timeout'} with the request.`
    return new ConnectionError('timeout', message, { hint })
  }
}

function duration(name: string, ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`${name}: expected a positive number of ms, or Infinity, got ${ms}`)
}
