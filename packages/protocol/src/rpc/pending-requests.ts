/** Requests that wait for their answer: ids out, promises in, each with its bounds in time. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import { toRpcError } from '../jsonrpc/errors.ts'
import type { NotificationMessage, RequestId, ResponseMessage } from '../jsonrpc/message.ts'
import { isPromise } from '../ports/awaitable.ts'
import type { RequestOptions } from '../ports/requester.ts'
import { createDeadlines } from './deadlines.ts'

export const DEFAULT_TIMEOUT = 60_000
export const DEFAULT_MAX_TIMEOUT = 600_000

/** One request that waits. */
interface Waiting {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly onNotification: RequestOptions['onNotification']
  readonly timeout: number
  /** When to give up whatever progress is made. */
  readonly last: number
  readonly signal: AbortSignal | undefined
  readonly onAbort: (() => void) | undefined
  readonly announceCancel: boolean
  /** When to give up unless progress is made. */
  due: number
}

export interface PendingRequests {
  readonly size: number
  has(id: RequestId): boolean
  /** What was asked under this id; nothing when it does not wait. */
  methodOf(id: RequestId): string | undefined
  /** Adds a request under its id and returns the promise of its answer. */
  add(id: RequestId, method: string, options: RequestOptions): Promise<unknown>
  /** Gives a response to whoever waits for it. False when nobody does. */
  settle(response: ResponseMessage): boolean
  /** Ends one request with an error. False when it is not waiting. */
  fail(id: RequestId, error: Error): boolean
  /** Gives a notification to the request it belongs to. False when that request does not wait or listen. */
  hear(id: RequestId, notification: NotificationMessage): boolean
  /** Ends all requests with an error. */
  failAll(error: Error): void
}

export interface PendingRequestsOptions {
  /** Called when a request is given up, so that the peer can be told. */
  onGivenUp: (id: RequestId, reason: string) => void
  /** Hears of what a listener threw, or rejected with. Default: nobody does. */
  report?: ((problem: Error) => void) | undefined
}

export function createPendingRequests({ onGivenUp, report }: PendingRequestsOptions): PendingRequests {
  const waiting = new Map<RequestId, Waiting>()
  const deadlines = createDeadlines(expire)

  function take(id: RequestId): Waiting | undefined {
    const entry = waiting.get(id)
    if (entry === undefined) return undefined
    waiting.delete(id)
    if (entry.onAbort !== undefined) entry.signal?.removeEventListener('abort', entry.onAbort)
    if (waiting.size === 0) deadlines.rest()
    return entry
  }

  function fail(id: RequestId, error: Error): boolean {
    const entry = take(id)
    entry?.reject(error)
    return entry !== undefined
  }

  function giveUp(id: RequestId, error: ConnectionError, reason: string): void {
    const announce = waiting.get(id)?.announceCancel
    if (fail(id, error) && announce === true) onGivenUp(id, reason)
  }

  /** Gives up what is overdue; returns when the next one will be. */
  function expire(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const [id, entry] of waiting) {
      if (entry.due <= now) giveUp(id, timeoutError(entry, now), 'The request timed out')
      else if (entry.due < next) next = entry.due
    }
    return next
  }

  return {
    get size() {
      return waiting.size
    },
    has: (id) => waiting.has(id),
    methodOf: (id) => waiting.get(id)?.method,
    add(id, method, options) {
      return new Promise((resolve, reject) => {
        const { signal } = options
        const onAbort = signal && (() => giveUp(id, cancelledError(method, signal), reasonOf(signal)))
        const entry = createWaiting(method, options, resolve, reject, onAbort)
        waiting.set(id, entry)
        if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true })
        if (entry.due !== Number.POSITIVE_INFINITY) deadlines.watch(entry.due)
      })
    },
    settle(response) {
      const entry = response.id === undefined ? undefined : take(response.id)
      if (entry !== undefined) settle(entry, response)
      return entry !== undefined
    },
    fail,
    hear(id, notification) {
      const entry = waiting.get(id)
      if (entry?.onNotification === undefined) return false
      entry.due = Math.min(performance.now() + entry.timeout, entry.last)
      tell(entry.onNotification, notification, report)
      return true
    },
    failAll(error) {
      for (const id of [...waiting.keys()]) fail(id, error)
      deadlines.stop()
    },
  }
}

function settle({ resolve, reject }: Waiting, response: ResponseMessage): void {
  if ('error' in response) reject(toRpcError(response.error))
  else resolve(response.result)
}

/** A listener that throws, or rejects, is reported and harms nobody else. */
function tell(
  listener: (notification: NotificationMessage) => unknown,
  notification: NotificationMessage,
  report: PendingRequestsOptions['report'],
): void {
  const fail = (problem: unknown) => report?.(problem as Error)
  try {
    const heard = listener(notification)
    if (isPromise(heard)) heard.then(undefined, fail)
  } catch (problem) {
    fail(problem)
  }
}

function createWaiting(
  method: string,
  options: RequestOptions,
  resolve: (result: unknown) => void,
  reject: (error: Error) => void,
  onAbort: (() => void) | undefined,
): Waiting {
  const now = performance.now()
  const timeout = duration('timeout', options.timeout ?? DEFAULT_TIMEOUT)
  const maxTimeout = duration('maxTimeout', options.maxTimeout ?? Math.max(timeout, DEFAULT_MAX_TIMEOUT))
  return {
    method,
    resolve,
    reject,
    onNotification: options.onNotification,
    timeout,
    last: now + maxTimeout,
    signal: options.signal,
    onAbort,
    announceCancel: options.announceCancel ?? true,
    due: now + Math.min(timeout, maxTimeout),
  }
}

function duration(name: string, ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`${name}: expected a positive number of ms, or Infinity, got ${ms}`)
}

function timeoutError(entry: Waiting, now: number): ConnectionError {
  const atMost = entry.last <= now
  const message = atMost
    ? `No answer to ${entry.method} within its longest time, whatever progress was made`
    : `No answer to ${entry.method} within ${entry.timeout} ms`
  const hint = `Pass a longer ${atMost ? 'maxTimeout' : 'timeout'} with the request, or see why the peer is slow.`
  return new ConnectionError('timeout', message, { hint })
}

/** The error of a request whose signal has fired. */
export function cancelledError(method: string, signal: AbortSignal): ConnectionError {
  return new ConnectionError('cancelled', `${method} was cancelled`, { cause: signal.reason })
}

function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason.message : String(reason)
}
