/** The way back for one message that came by HTTP. */

import type {
  AuthInfo,
  Envelope,
  Exchange,
  JsonObject,
  Message,
  NotificationMessage,
  RequestInfo,
  Session,
} from '@mcpx/protocol'
import type { HttpRequest, WaitUntil } from './http-request.ts'

/** Carries messages before the answer. */
export interface MessageSink {
  /**
   * The promise, if there is one, resolves when there is room for more. Without a message, it only shows that an answer
   * will come.
   */
  send(message: Message | undefined): Promise<void> | undefined
  /** Ends the response; the client reconnects to resume. */
  closeStream?(): void
  /** Whether a stream is open, whose owner is told when the client disconnects. */
  readonly hasStream?: boolean
}

export interface ExchangeFacts {
  readonly request: HttpRequest
  readonly session?: Session | undefined
  readonly envelope?: Envelope | undefined
  /** Whether the exchange is aborted when the client disconnects. */
  readonly endsWithClient: boolean
  /** Absent where nothing can be sent before the answer. */
  readonly sink?: MessageSink | undefined
}

export class HttpExchange implements Exchange {
  readonly auth: AuthInfo | undefined
  readonly session: Session | undefined
  /** Keeps the work alive when the client disconnects. Absent where the runtime does not end it. */
  readonly waitUntil: WaitUntil
  /** The envelope of a modern request. */
  readonly envelope: Envelope | undefined
  /** The number of times that the endpoint has looked at it while it was running. */
  looks = 0
  /** Its place among the running exchanges of the endpoint. */
  place = -1
  readonly #request: HttpRequest
  readonly #endsWithClient: boolean
  /** The reason why the answer is no longer wanted; absent while it is. */
  abortReason: Error | undefined
  /** Set by a reply, which needs its exchange first. */
  sink: MessageSink | undefined
  #requestInfo: RequestInfo | undefined
  #controller: AbortController | undefined
  #hasEnded = false
  #isClosing = false
  #unfollow: (() => void) | undefined
  #onClose: ((graceful: boolean) => void) | undefined

  constructor({ request, session, envelope, endsWithClient, sink }: ExchangeFacts) {
    this.#request = request
    this.#endsWithClient = endsWithClient
    this.auth = request.auth
    this.waitUntil = request.waitUntil
    this.session = session
    this.envelope = envelope
    this.sink = sink
  }

  get requestInfo(): RequestInfo {
    this.#requestInfo ??= toRequestInfo(this.#request.raw)
    return this.#requestInfo
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.#followClient()
      if (this.abortReason !== undefined) this.#controller.abort(this.abortReason)
    }
    return this.#controller.signal
  }

  onClose(listener: (graceful: boolean) => void): void {
    this.#followClient()
    if (this.abortReason !== undefined || this.#isClosing) listener(this.abortReason === undefined)
    else if (!this.#hasEnded) this.#onClose = listener
  }

  notify(method: string, params?: JsonObject): Promise<void> | undefined {
    if (this.#hasEnded) return undefined
    const message: NotificationMessage =
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params }
    return this.sink?.send(message)
  }

  closeStream(): void {
    if (!this.#hasEnded) this.sink?.closeStream?.()
  }

  /** Sends a comment, so that proxies do not close a silent connection. */
  sendKeepAlive(): void {
    if (!this.#hasEnded) void this.sink?.send(undefined)
  }

  /** Asks a request that runs until somebody ends it to end with its answer. */
  finish(): void {
    this.#isClosing = true
    this.#callOnClose(true)
  }

  /** The answer is no longer wanted. */
  abort(reason: Error): void {
    if (this.#hasEnded) return
    this.abortReason = reason
    this.end()
    this.#callOnClose(false)
    this.#controller?.abort(reason)
  }

  /** Nothing is sent from now on. */
  end(): void {
    this.#hasEnded = true
    this.#unfollow?.()
    this.#unfollow = undefined
  }

  #callOnClose(graceful: boolean): void {
    const listener = this.#onClose
    this.#onClose = undefined
    listener?.(graceful)
  }

  #followClient(): void {
    if (!this.#endsWithClient || this.#hasEnded || this.#unfollow !== undefined || this.sink?.hasStream) return
    const unfollow = this.#request.onGone((reason) => this.abort(reason))
    if (this.abortReason === undefined) this.#unfollow = unfollow
  }
}

/** Credentials are not for handlers: `ctx.auth` has what they need. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'dpop']

function toRequestInfo({ url, headers }: Request): RequestInfo {
  const visible = new Headers(headers)
  for (const name of CREDENTIALS) visible.delete(name)
  return { url, headers: visible }
}
