/** The requests that this side has sent, with their timeouts, cancellation and notifications. */

import { guarded, LONGEST_TIMER } from './async.ts'
import { ConnectionError, toRpcError } from './errors.ts'
import type { RequestOptions } from './exchange.ts'
import type { NotificationMessage, RequestId, ResponseMessage } from './messages.ts'
import { ShortLivedMap } from './short-lived-map.ts'

/** The sent requests that wait for a response. */
export interface PendingRequests {
  /** The number of pending requests. */
  readonly size: number
  /** Returns the method and options of a pending request, or undefined if no request with this id is pending. */
  get(id: RequestId): { readonly method: string; readonly options: RequestOptions } | undefined
  /**
   * Adds a request and returns the promise of its result. If the timeout is invalid, does not add the request, and the
   * promise rejects.
   */
  add(id: RequestId, method: string, options: RequestOptions): Promise<unknown>
  /** Resolves or rejects the request of a response. Returns false if no request with its id is pending. */
  settle(response: ResponseMessage): boolean
  /** Rejects one request. Returns false if it is not pending. */
  fail(id: RequestId, error: Error): boolean
  /**
   * Passes a notification to the listener of a request. Returns false if the request is not pending or has no listener.
   */
  handleNotification(id: RequestId, notification: NotificationMessage): boolean
  /** Pauses the timeout of one request, or of all pending requests, until the returned function is called. */
  hold(id?: RequestId): () => void
  /** Rejects all requests. */
  failAll(error: Error): void
}

export interface PendingRequestsOptions {
  /** Called to notify the peer when a request timed out or was cancelled. */
  onCancel: (id: RequestId, reason: string) => void
  /** Called with errors of listeners, and once if the peer sends numbers as ids back as strings. Default: none. */
  report?: ((problem: Error) => void) | undefined
}

/** Creates the record of pending requests. */
export function createPendingRequests({ onCancel, report }: PendingRequestsOptions): PendingRequests {
  const waiting = new ShortLivedMap<RequestId, PendingRequest>()

  let hasStringIds = false

  /** Returns the id of a pending request. Some peers send numbers back as strings, which is reported once. */
  function keyOf(id: RequestId): RequestId {
    if (typeof id === 'number' || waiting.has(id)) return id
    const key = Number(id)
    if (!waiting.has(key)) return id
    if (!hasStringIds) report?.(stringIdError(id))
    hasStringIds = true
    return key
  }

  function take(id: RequestId): PendingRequest | undefined {
    const key = keyOf(id)
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

  function cancel(id: RequestId, error: ConnectionError, reason: string): void {
    const announce = waiting.get(id)?.options.announceCancel ?? true
    if (fail(id, error) && announce) onCancel(id, reason)
  }

  return {
    get size() {
      return waiting.size
    },
    get: (id) => waiting.get(id),
    add: (id, method, options) =>
      new Promise((resolve, reject) => {
        waiting.set(id, new PendingRequest(method, options, resolve, reject, cancel.bind(undefined, id)))
        options.onId?.(id)
      }),
    settle(response) {
      const request = response.id === undefined ? undefined : take(response.id)
      if ('error' in response) request?.reject(toRpcError(response.error))
      else request?.resolve(response.result)
      return request !== undefined
    },
    fail,
    handleNotification(id, notification) {
      const request = waiting.get(keyOf(id))
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

function stringIdError(id: string): ConnectionError {
  const hint = 'The responses are accepted; report this to the author of the peer.'
  const message = `The peer sends ids of requests back as strings: expected the number ${Number(id)}, got a string`
  return new ConnectionError('invalid-message', message, { hint })
}

const DEFAULT_TIMEOUT = 60_000
const DEFAULT_MAX_TIMEOUT = 600_000
/** One pending request with its timer and its abort listener. */
class PendingRequest {
  readonly method: string
  readonly options: RequestOptions
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly #cancel: (error: ConnectionError, reason: string) => void
  readonly #timeout: number
  /** The time at which `maxTimeout` ends. */
  #last: number
  /** The time at which `timeout` ends, unless there is further progress. */
  #due: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The number of active holds, and the start of the first hold. */
  #holds = 0
  #heldAt = 0
  #hasStopped = false

  constructor(
    method: string,
    options: RequestOptions,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
    cancel: (error: ConnectionError, reason: string) => void,
  ) {
    const timeout = duration('timeout', options.timeout ?? DEFAULT_TIMEOUT)
    const maxTimeout = duration('maxTimeout', options.maxTimeout ?? Math.max(timeout, DEFAULT_MAX_TIMEOUT))
    const now = performance.now()
    this.method = method
    this.options = options
    this.resolve = resolve
    this.reject = reject
    this.#cancel = cancel
    this.#timeout = timeout
    this.#last = now + maxTimeout
    this.#due = now + Math.min(timeout, maxTimeout)
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#startTimer()
  }

  /** Stops the timer and the abort listener, when the request has ended. */
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
    this.#cancel(cancelledError(this.#label, signal), reason instanceof Error ? reason.message : String(reason))
  }

  get #label(): string {
    return this.options.label ?? this.method
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    if (this.#hasStopped || this.#holds > 0 || this.#due === Number.POSITIVE_INFINITY) return
    const delay = this.#due - performance.now()
    const onTimer = () => {
      if (delay > LONGEST_TIMER) this.#startTimer()
      else this.#cancel(this.#timeoutError(), 'The request timed out')
    }
    this.#timer = setTimeout(onTimer, Math.min(delay, LONGEST_TIMER))
  }

  #timeoutError(): ConnectionError {
    const isLast = this.#due >= this.#last
    const message = isLast
      ? `No response to ${this.#label} within its maxTimeout`
      : `No response to ${this.#label} within ${this.#timeout} ms`
    const hint = `Pass a longer ${isLast ? 'maxTimeout' : 'timeout'} with the request.`
    return new ConnectionError('timeout', message, { hint })
  }
}

function duration(name: string, ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`${name}: expected a positive number of ms, or Infinity, got ${ms}`)
}

/** Creates the error of a request whose signal was aborted. */
export function cancelledError(label: string, signal: AbortSignal): ConnectionError {
  return new ConnectionError('cancelled', `${label} was cancelled`, { cause: signal.reason })
}
