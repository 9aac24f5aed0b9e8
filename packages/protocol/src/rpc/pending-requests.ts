/** Requests that wait for their answer: ids out, promises in, each with its bounds in time. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import { toRpcError } from '../jsonrpc/errors.ts'
import type { NotificationMessage, RequestId, ResponseMessage } from '../jsonrpc/message.ts'
import type { RequestOptions } from '../ports/requester.ts'
import { createDeadlines } from './deadlines.ts'
import { NewestMap } from './newest-map.ts'
import { guarded } from './repairs.ts'
import { WaitingRequest } from './waiting-request.ts'

export interface PendingRequests {
  readonly size: number
  /** What was given to `add` under this id; nothing when it does not wait. */
  get(id: RequestId): { readonly method: string; readonly options: RequestOptions } | undefined
  /** Adds a request under its id and returns the promise of its answer. */
  add(id: RequestId, method: string, options: RequestOptions): Promise<unknown>
  /** Gives a response to whoever waits for it. False when nobody does. */
  settle(response: ResponseMessage): boolean
  /** Ends one request with an error. False when it is not waiting. */
  fail(id: RequestId, error: Error): boolean
  /** Gives a notification to the request it belongs to. False when that request does not wait or listen. */
  hear(id: RequestId, notification: NotificationMessage): boolean
  /**
   * Stops the clock of one request, or of all that wait now, until the returned function is called: neither its timeout
   * nor its longest time goes on.
   */
  hold(id?: RequestId): () => void
  /** Ends all requests with an error. */
  failAll(error: Error): void
}

export interface PendingRequestsOptions {
  /** Called when a request is given up, so that the peer can be told. */
  onGivenUp: (id: RequestId, reason: string) => void
  /** Hears of what a listener threw, or rejected with. Default: nobody does. */
  report?: ((problem: Error) => void) | undefined
}

export function createPendingRequests(options: PendingRequestsOptions): PendingRequests {
  return new Pending(options)
}

class Pending implements PendingRequests {
  readonly #options: PendingRequestsOptions
  readonly #waiting = new NewestMap<RequestId, WaitingRequest>()
  readonly #deadlines = createDeadlines((now) => this.#expire(now))

  constructor(options: PendingRequestsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  get(id: RequestId): WaitingRequest | undefined {
    return this.#waiting.get(id)
  }

  add(id: RequestId, method: string, options: RequestOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal } = options
      const onAbort = signal && (() => this.#giveUp(id, cancelledError(method, signal), reasonOf(signal)))
      const entry = new WaitingRequest(method, options, resolve, reject, onAbort)
      this.#waiting.add(id, entry)
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true })
      this.#watch(entry)
    })
  }

  settle(response: ResponseMessage): boolean {
    const entry = response.id === undefined ? undefined : this.#take(response.id)
    if ('error' in response) entry?.reject(toRpcError(response.error))
    else entry?.resolve(response.result)
    return !!entry
  }

  fail(id: RequestId, error: Error): boolean {
    const entry = this.#take(id)
    entry?.reject(error)
    return !!entry
  }

  hear(id: RequestId, notification: NotificationMessage): boolean {
    const entry = this.#waiting.get(id)
    if (entry?.options.onNotification === undefined) return false
    entry.progressed()
    guarded(entry.options.onNotification, this.#options.report)(notification)
    return true
  }

  hold(id?: RequestId): () => void {
    let held = this.#waiting.entries().filter(([key]) => id === undefined || key === id)
    for (const [, entry] of held) entry.hold()
    return () => {
      for (const [key, entry] of held) {
        entry.release()
        if (this.#waiting.get(key) === entry) this.#watch(entry)
      }
      held = []
    }
  }

  failAll(error: Error): void {
    for (const [id] of this.#waiting.entries()) this.fail(id, error)
    this.#deadlines.stop()
  }

  #watch({ due }: WaitingRequest): void {
    if (due !== Number.POSITIVE_INFINITY) this.#deadlines.watch(due)
  }

  #take(id: RequestId): WaitingRequest | undefined {
    const entry = this.#waiting.get(id)
    if (!entry) return
    this.#waiting.delete(id)
    if (entry.onAbort) entry.options.signal?.removeEventListener('abort', entry.onAbort)
    if (this.#waiting.size === 0) this.#deadlines.rest()
    return entry
  }

  #giveUp(id: RequestId, error: ConnectionError, reason: string): void {
    const announce = this.#waiting.get(id)?.options.announceCancel ?? true
    if (this.fail(id, error) && announce) this.#options.onGivenUp(id, reason)
  }

  /** Gives up what is overdue; returns when the next one will be. */
  #expire(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const [id, entry] of this.#waiting.entries()) {
      const { due } = entry
      if (due <= now) this.#giveUp(id, entry.timeoutError(now), 'The request timed out')
      else if (due < next) next = due
    }
    return next
  }
}

/** The error of a request whose signal has fired. */
export function cancelledError(method: string, signal: AbortSignal): ConnectionError {
  return new ConnectionError('cancelled', `${method} was cancelled`, { cause: signal.reason })
}

function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason.message : String(reason)
}
