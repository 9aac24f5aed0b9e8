/** The exchange of one message that was received over HTTP. */

import type {
  AuthInfo,
  Envelope,
  Exchange,
  JsonObject,
  Message,
  NetworkInfo,
  NotificationMessage,
  RequestInfo,
  Session,
} from '@mcpx/protocol'
import type { Admission } from './admission.ts'
import type { HttpRequest, WaitUntil } from './http-request.ts'

/** Sends messages before the response. */
export interface MessageSink {
  /**
   * Sends a message, or a keep-alive comment if `message` is undefined. Returns a promise if the sender has to wait before
   * it sends more.
   */
  send(message: Message | undefined): Promise<void> | undefined
  /** Ends the HTTP response; the client reconnects to resume the stream. */
  closeStream?(): void
  /** Whether a stream is open. If so, the stream handles a disconnect of the client, and the exchange does not. */
  readonly hasStream?: boolean
}

export interface ExchangeFacts {
  readonly request: HttpRequest
  /** Counts the message. Default: the admission of the request. */
  readonly admission?: Admission | undefined
  /** The caller. Default: the caller of the request. */
  readonly auth?: AuthInfo | undefined
  readonly session?: Session | undefined
  readonly envelope?: Envelope | undefined
  /** Whether the exchange is aborted when the client disconnects. */
  readonly endsWithClient: boolean
  /** Sends messages before the response. Undefined if that is not possible. */
  readonly sink?: MessageSink | undefined
}

export class HttpExchange implements Exchange {
  readonly auth: AuthInfo | undefined
  readonly session: Session | undefined
  /**
   * Keeps the work running after the client disconnects. Undefined on runtimes that keep it running without this
   * function.
   */
  readonly waitUntil: WaitUntil
  /** The envelope of a modern request. */
  readonly envelope: Envelope | undefined
  /** Counts the request of the exchange and its bytes. */
  readonly admission: Admission
  /** The number of keep-alive checks of the endpoint since the exchange started. */
  keepAliveChecks = 0
  /** The index in `RunningExchanges` of the endpoint. */
  place = -1
  readonly #request: HttpRequest
  readonly #endsWithClient: boolean
  /** The reason of `abort`. Undefined while the exchange is not aborted. */
  abortReason: Error | undefined
  /** Sends messages before the response. The reply sets it after construction, because a reply is created from its exchange. */
  sink: MessageSink | undefined
  #requestInfo: RequestInfo | undefined
  #controller: AbortController | undefined
  #hasEnded = false
  #isClosing = false
  #unfollow: (() => void) | undefined
  #onClose: ((graceful: boolean) => void) | undefined

  constructor({ request, admission, auth, session, envelope, endsWithClient, sink }: ExchangeFacts) {
    this.#request = request
    this.admission = admission ?? request.admission
    this.#endsWithClient = endsWithClient
    this.auth = auth ?? request.auth
    this.waitUntil = request.waitUntil
    this.session = session
    this.envelope = envelope
    this.sink = sink
  }

  get caller(): string | undefined {
    return this.admission.caller
  }

  get network(): NetworkInfo {
    return this.#request.network
  }

  /** Whether the client has closed the connection of the request. */
  get isGone(): boolean {
    return this.#request.isGone
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

  /** Ends a request that lasts until one side ends it, such as a subscription. Its response is sent. */
  finish(): void {
    this.#isClosing = true
    this.#callOnClose(true)
  }

  /** Aborts the exchange: its response is not sent. */
  abort(reason: Error): void {
    if (this.#hasEnded) return
    this.abortReason = reason
    this.end()
    this.#callOnClose(false)
    this.#controller?.abort(reason)
  }

  /** Ends the exchange. Later messages are ignored. */
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

/** Headers that are hidden from handlers, because they contain credentials. Handlers use `ctx.auth` instead. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'dpop']

function toRequestInfo({ url, headers }: Request): RequestInfo {
  const visible = new Headers(headers)
  for (const name of CREDENTIALS) visible.delete(name)
  return { url, headers: visible }
}
