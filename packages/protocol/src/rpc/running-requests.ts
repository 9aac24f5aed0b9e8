/** Requests that are being answered: each with its way back, its signal, and at most one answer. */

import type { JsonObject, RequestId } from '../jsonrpc/message.ts'
import type { AuthInfo } from '../ports/auth-info.ts'
import type { Awaitable } from '../ports/awaitable.ts'
import type { Exchange, RequestInfo } from '../ports/exchange.ts'
import type { RequestOptions } from '../ports/requester.ts'
import type { Session } from '../ports/session.ts'
import { NewestMap } from './newest-map.ts'

/** What all exchanges of one connection share. */
export interface ExchangeHost {
  readonly auth: AuthInfo | undefined
  readonly requestInfo: RequestInfo | undefined
  readonly session: Session | undefined
  notify(method: string, params: JsonObject | undefined): Awaitable<void>
  /** Stops the clock of a request of this side, or of all that wait. */
  hold(id: RequestId | undefined): () => void
  /** How a request of this side was made. Default: nobody can tell. */
  optionsOf?(id: RequestId): RequestOptions | undefined
}

/** The way back for one message of a connection. What it does not need is never made. */
export class RunningExchange implements Exchange {
  readonly #host: ExchangeHost
  readonly #during: RequestId | undefined
  #controller: AbortController | undefined
  #reason: unknown
  #onClose: ((graceful: boolean) => void) | undefined
  #state: 'open' | 'aborted' | 'ended' = 'open'

  /** Whether this goes on until somebody ends it. */
  readonly isStream: boolean

  /** @param during the request of this side on whose stream the message came. */
  constructor(host: ExchangeHost, during?: RequestId, isStream = false) {
    this.#host = host
    this.#during = during
    this.isStream = isStream
  }

  get auth(): AuthInfo | undefined {
    return this.#host.auth
  }

  get requestInfo(): RequestInfo | undefined {
    return this.#host.requestInfo
  }

  get session(): Session | undefined {
    return this.#host.session
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#state === 'aborted') this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  onClose(listener: (graceful: boolean) => void): void {
    if (this.#state === 'aborted') listener(false)
    else if (this.#state === 'open') this.#onClose = listener
  }

  get during(): RequestOptions | undefined {
    return this.#during === undefined ? undefined : this.#host.optionsOf?.(this.#during)
  }

  hold(): () => void {
    return this.#host.hold(this.#during)
  }

  /** Whether the peer still wants to hear of this. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  notify(method: string, params?: JsonObject): Awaitable<void> {
    return this.#state === 'open' ? this.#host.notify(method, params) : undefined
  }

  /** The answer is out: what is said from now on goes nowhere. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
  }

  /** Ends by an answer of its own what listens for that, and by force what does not. */
  finish(reason: unknown): void {
    if (this.#onClose === undefined) this.abort(reason)
    else this.#over(true)
  }

  /** The answer is no longer wanted. */
  abort(reason: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'aborted'
    this.#reason = reason
    this.#over(false)
    this.#controller?.abort(reason)
  }

  #over(graceful: boolean): void {
    const listener = this.#onClose
    this.#onClose = undefined
    listener?.(graceful)
  }
}

/** What runs is known by the peer's id; a notification has none and is known by its exchange. */
export type RunningKey = RequestId | RunningExchange

export interface RunningRequests {
  readonly size: number
  has(key: RunningKey): boolean
  add(key: RunningKey, exchange: RunningExchange): void
  /** It has been dealt with. */
  delete(key: RunningKey): void
  /** Aborts one request. False when it is not running. */
  abort(id: RequestId, reason: unknown): boolean
  abortAll(reason: unknown): void
  /** Aborts what would never end by itself. */
  abortStreams(reason: unknown): void
  /** Has what would never end by itself end with its answer. */
  finishStreams(reason: unknown): void
  /** Resolves once nothing runs. */
  idle(): Promise<void>
}

/** An id is free again when its request has been dealt with, not when it was cancelled. */
export function createRunningRequests(): RunningRequests {
  const running = new NewestMap<RunningKey, RunningExchange>()
  let onIdle: (() => void)[] = []

  return {
    get size() {
      return running.size
    },
    has: (key) => running.get(key) !== undefined,
    add: (key, exchange) => running.add(key, exchange),
    delete(key) {
      running.delete(key)
      if (onIdle.length === 0 || running.size > 0) return
      for (const resolve of onIdle) resolve()
      onIdle = []
    },
    abort(id, reason) {
      const exchange = running.get(id)
      exchange?.abort(reason)
      return exchange !== undefined
    },
    abortAll(reason) {
      for (const [, exchange] of running.entries()) exchange.abort(reason)
    },
    abortStreams(reason) {
      for (const [, exchange] of running.entries()) if (exchange.isStream) exchange.abort(reason)
    },
    finishStreams(reason) {
      for (const [, exchange] of running.entries()) if (exchange.isStream) exchange.finish(reason)
    },
    idle: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => void onIdle.push(resolve))),
  }
}
