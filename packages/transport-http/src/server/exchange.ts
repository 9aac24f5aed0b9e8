/** The way back for one message that came by HTTP. */

import type {
  AuthInfo,
  Awaitable,
  Exchange,
  JsonObject,
  Message,
  NotificationMessage,
  RequestInfo,
  Session,
} from '@mcpx/protocol'
import { goneError, type HttpRequest } from './http-request.ts'
import type { Watched } from './watch.ts'

/** What is said before the answer goes this way. */
export interface Speaker {
  /** Without a message it only shows that there is an answer to come. */
  say(message: Message | undefined): Awaitable<void>
  /** Ends the response while the work goes on. */
  closeStream?(): void
  /** Whether a stream is open, which aborts the exchange when its client goes. */
  readonly isOpen?: boolean | undefined
}

export interface ExchangeFacts {
  readonly request: HttpRequest
  readonly auth: AuthInfo | undefined
  readonly session?: Session | undefined
  /** Whether the exchange ends when the client goes away. */
  readonly endsWithClient: boolean
  /** Absent where nothing can be said. */
  readonly speaker?: Speaker | undefined
}

export class HttpExchange implements Exchange, Watched {
  readonly auth: AuthInfo | undefined
  readonly session: Session | undefined
  timer: Watched['timer']
  older: Watched['older']
  newer: Watched['newer']
  came: Watched['came']
  readonly #request: HttpRequest
  readonly #endsWithClient: boolean
  #speaker: Speaker | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined
  #ended = false
  #unfollow: (() => void) | undefined
  #onClose: ((graceful: boolean) => void) | undefined
  #isClosing = false

  constructor(facts: ExchangeFacts) {
    this.#request = facts.request
    this.#endsWithClient = facts.endsWithClient
    this.#speaker = facts.speaker
    this.auth = facts.auth
    this.session = facts.session
  }

  /** What is said from now on goes this way. */
  speakBy(speaker: Speaker): void {
    this.#speaker = speaker
  }

  get requestInfo(): RequestInfo {
    return this.#request.web
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  onClose(listener: (graceful: boolean) => void): void {
    if (this.isAborted || this.#isClosing) listener(!this.isAborted)
    else if (!this.#ended) {
      this.#onClose = listener
      // A signal hears of it anyway, and an open stream with less ado.
      if (this.#endsWithClient && this.#controller === undefined) this.#follow(this.#speaker?.isOpen === true)
    }
  }

  get isAborted(): boolean {
    return this.#reason !== undefined || this.#controller?.signal.aborted === true
  }

  notify(method: string, params?: JsonObject): Awaitable<void> {
    if (this.#ended) return undefined
    const message: NotificationMessage =
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params }
    return this.#speaker?.say(message)
  }

  closeStream(): void {
    if (!this.#ended) this.#speaker?.closeStream?.()
  }

  /** Lets work go on when the client has gone, on runtimes that would end it. */
  outlive(work: PromiseLike<unknown>): void {
    this.#request.outlive?.(work)
  }

  /** Shows that the work goes on, so that nothing on the way takes its client's connection for dead. */
  rouse(): void {
    if (!this.#ended) void this.#speaker?.say(undefined)
  }

  /** Whether timers that were made for another request may be gone before this one ends. */
  get isAlone(): boolean {
    return this.#request.isAlone
  }

  /** Has what goes on until somebody ends it end with its answer. */
  finish(): void {
    this.#isClosing = true
    this.#over(true)
  }

  /** Nobody waits for the answer any more. */
  abort(reason: Error): void {
    if (this.#ended) return
    this.#reason = reason
    this.end()
    this.#over(false)
    this.#controller?.abort(reason)
  }

  /** From now on nothing is said. */
  end(): void {
    this.#ended = true
    this.#unfollow?.()
    this.#unfollow = undefined
  }

  #over(graceful: boolean): void {
    const listener = this.#onClose
    this.#onClose = undefined
    listener?.(graceful)
  }

  #createController(): AbortController {
    const controller = new AbortController()
    if (this.#endsWithClient && !this.#ended) this.#follow(false)
    if (this.#reason !== undefined) controller.abort(this.#reason)
    return controller
  }

  /** @param isTold whether somebody else tells of a client that goes from now on. */
  #follow(isTold: boolean): void {
    if (this.#unfollow !== undefined) return
    if (isTold) {
      if (this.#request.hasGone) this.abort(goneError())
      return
    }
    const unfollow = this.#request.onGone((reason) => this.abort(reason))
    if (this.#reason === undefined) this.#unfollow = unfollow
  }
}
