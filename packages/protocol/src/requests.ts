/** Requests of this side that wait for a response: their timeouts, their cancellation, their notifications. */

import { guarded } from './async.ts'
import { ConnectionError, toRpcError } from './errors.ts'
import type { RequestOptions } from './exchange.ts'
import type { NotificationMessage, RequestId, ResponseMessage } from './messages.ts'

/** The requests of this side that wait for their response. */
export interface PendingRequests {
  /** How many requests wait. */
  readonly size: number
  /** The method and options of a waiting request; undefined when no request waits under this id. */
  get(id: RequestId): { readonly method: string; readonly options: RequestOptions } | undefined
  /** Adds a request under its id and returns the promise of its result. */
  add(id: RequestId, method: string, options: RequestOptions): Promise<unknown>
  /** Resolves or rejects the request of a response. Returns false when no request waits for it. */
  settle(response: ResponseMessage): boolean
  /** Rejects one request. Returns false when it is not waiting. */
  fail(id: RequestId, error: Error): boolean
  /**
   * Calls the listener of a request with a notification. Returns false when the request does not wait or has no
   * listener.
   */
  hear(id: RequestId, notification: NotificationMessage): boolean
  /** Stops the clock of one request, or of all that wait now, until the returned function is called. */
  hold(id?: RequestId): () => void
  /** Rejects all requests. */
  failAll(error: Error): void
}

export interface PendingRequestsOptions {
  /** Called when a request timed out or was cancelled, to notify the peer. */
  onGivenUp: (id: RequestId, reason: string) => void
  /** Called with what a listener throws or rejects with. Default: none. */
  report?: ((problem: Error) => void) | undefined
}

/** Creates the record of the requests that wait for their response. */
export function createPendingRequests({ onGivenUp, report }: PendingRequestsOptions): PendingRequests {
  const waiting = new Map<RequestId, PendingRequest>()

  function take(id: RequestId): PendingRequest | undefined {
    // Some peers send numbers back as strings.
    const key = waiting.has(id) ? id : Number(id)
    const request = waiting.get(key)
    waiting.delete(key)
    request?.stop()
    return request
  }

  function fail(id: RequestId, error: Error): boolean {
    const request = take(id)
    request?.reject(error)
    return request !== undefined
  }

  function giveUp(id: RequestId, error: ConnectionError, reason: string): void {
    const announce = waiting.get(id)?.options.announceCancel ?? true
    if (fail(id, error) && announce) onGivenUp(id, reason)
  }

  return {
    get size() {
      return waiting.size
    },
    get: (id) => waiting.get(id),
    add: (id, method, options) =>
      new Promise((resolve, reject) => {
        waiting.set(id, new PendingRequest(method, options, resolve, reject, giveUp.bind(undefined, id)))
      }),
    settle(response) {
      const request = response.id === undefined ? undefined : take(response.id)
      if ('error' in response) request?.reject(toRpcError(response.error))
      else request?.resolve(response.result)
      return request !== undefined
    },
    fail,
    hear(id, notification) {
      const request = waiting.get(id)
      if (request?.options.onNotification === undefined) return false
      request.restartTimeout()
      guarded(request.options.onNotification, report)(notification)
      return true
    },
    hold(id) {
      let held = [...waiting].flatMap(([key, request]) => (id === undefined || key === id ? [request] : []))
      for (const request of held) request.hold()
      return () => {
        for (const request of held) request.release()
        held = []
      }
    },
    failAll(error) {
      for (const id of [...waiting.keys()]) fail(id, error)
    },
  }
}

const DEFAULT_TIMEOUT = 60_000
const DEFAULT_MAX_TIMEOUT = 600_000
/** The longest delay that timers support, in ms. */
const LONGEST_DELAY = 2 ** 31 - 1

/** One waiting request with its timer and its abort listener. */
class PendingRequest {
  readonly method: string
  readonly options: RequestOptions
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly #giveUp: (error: ConnectionError, reason: string) => void
  readonly #timeout: number
  /** When the request times out in spite of progress. */
  #last: number
  /** When the request times out without progress. */
  #due: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** How often the clock is held, and since when. */
  #holds = 0
  #heldAt = 0
  #hasStopped = false

  constructor(
    method: string,
    options: RequestOptions,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
    giveUp: (error: ConnectionError, reason: string) => void,
  ) {
    const timeout = duration('timeout', options.timeout ?? DEFAULT_TIMEOUT)
    const maxTimeout = duration('maxTimeout', options.maxTimeout ?? Math.max(timeout, DEFAULT_MAX_TIMEOUT))
    const now = performance.now()
    this.method = method
    this.options = options
    this.resolve = resolve
    this.reject = reject
    this.#giveUp = giveUp
    this.#timeout = timeout
    this.#last = now + maxTimeout
    this.#due = now + Math.min(timeout, maxTimeout)
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#startTimer()
  }

  /** The request has its response, or is given up. */
  stop(): void {
    this.#hasStopped = true
    clearTimeout(this.#timer)
    this.options.signal?.removeEventListener('abort', this.#onAbort)
  }

  restartTimeout(): void {
    const now = this.#holds > 0 ? this.#heldAt : performance.now()
    this.#due = Math.min(now + this.#timeout, this.#last)
    this.#startTimer()
  }

  hold(): void {
    if (this.#holds === 0) this.#heldAt = performance.now()
    this.#holds += 1
    clearTimeout(this.#timer)
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds > 0) return
    const held = performance.now() - this.#heldAt
    this.#due += held
    this.#last += held
    this.#startTimer()
  }

  readonly #onAbort = (): void => {
    const { signal } = this.options
    if (signal === undefined) return
    const reason: unknown = signal.reason
    this.#giveUp(cancelledError(this.#label, signal), reason instanceof Error ? reason.message : String(reason))
  }

  get #label(): string {
    return this.options.label ?? this.method
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    if (this.#hasStopped || this.#holds > 0 || this.#due === Number.POSITIVE_INFINITY) return
    const delay = this.#due - performance.now()
    const onTimer = () => {
      if (delay > LONGEST_DELAY) this.#startTimer()
      else this.#giveUp(this.#timeoutError(), 'The request timed out')
    }
    this.#timer = setTimeout(onTimer, Math.min(delay, LONGEST_DELAY))
  }

  #timeoutError(): ConnectionError {
    const isLast = this.#due >= this.#last
    const message = isLast
      ? `No answer to ${this.#label} within its longest time`
      : `No answer to ${this.#label} within ${this.#timeout} ms`
    const hint = `Pass a longer ${isLast ? 'maxTimeout' : 'timeout'} with the request.`
    return new ConnectionError('timeout', message, { hint })
  }
}

function duration(name: string, ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`${name}: expected a positive number of ms, or Infinity, got ${ms}`)
}

/** The error of a request whose signal has fired. */
export function cancelledError(label: string, signal: AbortSignal): ConnectionError {
  return new ConnectionError('cancelled', `${label} was cancelled`, { cause: signal.reason })
}
