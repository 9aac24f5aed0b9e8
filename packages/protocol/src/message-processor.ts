/** Handles messages of the peer: calls the responder, and sends at most one response per request. */

import type { Awaitable } from './async.ts'
import { sizeOf } from './codec.ts'
import { ConnectionError, internalError, invalidRequest, methodNotFound, type RpcError } from './errors.ts'
import type { AuthInfo, Exchange, RequestInfo, RequestOptions, Responder, Session } from './exchange.ts'
import {
  errorMessage,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from './messages.ts'
import { ShortLivedMap } from './short-lived-map.ts'
import type { NetworkInfo } from './telemetry.ts'

/** The members of a connection that its exchanges use. */
export interface ExchangeHost {
  /** The caller of the connection. */
  readonly auth: AuthInfo | undefined
  /** The HTTP request that opened the connection. */
  readonly requestInfo: RequestInfo | undefined
  /** The network connection, for telemetry. Default: unknown. */
  readonly network?: NetworkInfo | undefined
  /** The session of the connection. */
  readonly session: Session | undefined
  /** Sends a notification to the peer. */
  notify(method: string, params: JsonObject | undefined): Awaitable<void>
  /** Pauses the timeout of one of our requests, or of all pending requests, until the returned function is called. */
  hold(id: RequestId | undefined): () => void
  /** Returns the options of one of our requests. Default: unknown. */
  optionsOf?(id: RequestId): RequestOptions | undefined
}

/** The exchange of one message of a connection. */
export class RunningExchange implements Exchange {
  readonly #host: ExchangeHost
  readonly #during: RequestId | undefined
  #controller: AbortController | undefined
  #reason: unknown
  #onClose: ((graceful: boolean) => void) | undefined
  #state: 'open' | 'aborted' | 'ended' = 'open'

  /** Whether the request lasts until one side ends it. */
  readonly isStream: boolean

  /** @param during the id of the related request, whose response stream contained the message */
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

  get network(): NetworkInfo | undefined {
    return this.#host.network
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

  /** Whether the response can still be sent. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  notify(method: string, params?: JsonObject): Awaitable<void> {
    return this.#state === 'open' ? this.#host.notify(method, params) : undefined
  }

  /** Called when the message was handled. Later notifications have no effect. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
  }

  /** Calls the listener of `onClose`, which can end the request with a response. Without a listener, aborts the request. */
  finish(reason: unknown): void {
    if (this.#onClose === undefined) this.abort(reason)
    else this.#callListener(true)
  }

  /** Aborts the exchange: its response is not sent. */
  abort(reason: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'aborted'
    this.#reason = reason
    this.#callListener(false)
    this.#controller?.abort(reason)
  }

  #callListener(graceful: boolean): void {
    const listener = this.#onClose
    this.#onClose = undefined
    listener?.(graceful)
  }
}

/** The key of a running message: the id of a request, or the exchange of a notification, which has no id. */
export type RunningKey = RequestId | RunningExchange

/** The messages of one connection whose handlers are running. */
export interface RunningRequests {
  /** The number of messages that are being handled. */
  readonly size: number
  /** Whether a message with this key is being handled. */
  has(key: RunningKey): boolean
  /** Records that a message is being handled. */
  add(key: RunningKey, exchange: RunningExchange): void
  /** Removes a message that was handled. */
  delete(key: RunningKey): void
  /** Aborts one request. Returns false if it is not running. */
  abort(id: RequestId, reason: unknown): boolean
  /** Aborts every request that is being handled. */
  abortAll(reason: unknown): void
  /** Aborts the requests that last until one side ends them, such as subscriptions. */
  abortStreams(reason: unknown): void
  /** Ends such requests with a response if they support it, and aborts the others. */
  finishStreams(reason: unknown): void
  /** Resolves when no message is being handled. */
  idle(): Promise<void>
}

/**
 * Creates the record of running messages. An id can be used again after its request was handled, even if the request
 * was cancelled.
 */
export function createRunningRequests(): RunningRequests {
  const running = new ShortLivedMap<RunningKey, RunningExchange>()
  let onIdle: (() => void)[] = []
  const all = () => [...running.values()]
  const streams = () => all().filter(({ isStream }) => isStream)

  return {
    get size() {
      return running.size
    },
    has: (key) => running.has(key),
    add: (key, exchange) => void running.set(key, exchange),
    delete(key) {
      running.delete(key)
      if (running.size > 0) return
      for (const resolve of onIdle) resolve()
      onIdle = []
    },
    abort(id, reason) {
      const exchange = running.get(id)
      exchange?.abort(reason)
      return exchange !== undefined
    },
    abortAll(reason) {
      for (const exchange of all()) exchange.abort(reason)
    },
    abortStreams(reason) {
      for (const exchange of streams()) exchange.abort(reason)
    },
    finishStreams(reason) {
      for (const exchange of streams()) exchange.finish(reason)
    },
    idle: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => void onIdle.push(resolve))),
  }
}

/** The parts of a connection that its message processor uses. */
export interface MessageProcessorOptions {
  readonly responder: Responder | undefined
  readonly running: RunningRequests
  readonly host: ExchangeHost
  /** The largest number of requests and notifications that run at the same time. */
  readonly limit: number
  /** The largest estimated memory of these messages together, in bytes. A single message may be larger. */
  readonly maxBytes: number
  /** Called after a notification was handled. */
  readonly onNotificationHandled: () => void
  readonly report: (error: Error) => void
}

/** Passes the messages of a peer to the responder, and sends its responses. */
export interface MessageProcessor {
  /**
   * Calls the responder with a request. Resolves to its response, or to undefined if it was cancelled. Never rejects.
   *
   * @param during the id of the related request, if the transport knows it
   */
  processRequest(message: RequestMessage, during?: RequestId): Promise<ResponseMessage | undefined>
  /** Passes a notification to the responder. */
  processNotification(message: NotificationMessage): void
  /** Refuses all later requests. */
  stop(): void
}

/** The method of subscription requests. Their response is sent when the subscription ends. */
export const LISTEN = 'subscriptions/listen'

/** Creates the message processor of a connection. */
export function createMessageProcessor({
  responder,
  running,
  host,
  limit,
  maxBytes,
  onNotificationHandled,
  report,
}: MessageProcessorOptions): MessageProcessor {
  let isStopped = false
  /** The estimated memory of the running messages. */
  let bytes = 0

  /** Returns whether the memory of the running messages allows another one. Small messages are limited by their number. */
  function hasRoom(message: Message): boolean {
    const size = sizeOf(message)
    return size === 0 || bytes === 0 || bytes + size <= maxBytes
  }

  function refusalOf(message: RequestMessage): RpcError | undefined {
    const { id, method } = message
    if (responder === undefined) return methodNotFound(method)
    if (running.has(id)) return invalidRequest('Invalid message: id: a request with this id is still in flight')
    if (isStopped) return internalError('Shutting down: no new requests are accepted')
    if (running.size >= limit) return internalError(`Too many requests at once: at most ${limit} (limits.running)`)
    if (!hasRoom(message)) return internalError(`Too many bytes at once: at most ${maxBytes} (limits.receivedBytes)`)
    return undefined
  }

  /** Calls the responder. Reports errors that it throws, and then returns undefined. */
  async function run(
    key: RunningKey,
    exchange: RunningExchange,
    message: RequestMessage | NotificationMessage,
  ): Promise<ResponseMessage | undefined> {
    const size = sizeOf(message)
    running.add(key, exchange)
    bytes += size
    try {
      return await responder?.respond(message, exchange)
    } catch (error) {
      report(error instanceof Error ? error : new Error(`Thrown: ${typeof error}`, { cause: error }))
      return undefined
    } finally {
      running.delete(key)
      bytes -= size
    }
  }

  return {
    async processRequest(message, during) {
      const refusal = refusalOf(message)
      if (refusal !== undefined) return errorMessage(message.id, refusal)
      const exchange = new RunningExchange(host, during, message.method === LISTEN)
      const response = await run(message.id, exchange, message)
      const isWanted = exchange.isOpen
      exchange.end()
      return isWanted ? (response ?? errorMessage(message.id, internalError())) : undefined
    },
    processNotification(message) {
      if (responder === undefined) return
      const drop = (already: string, limitName: string) => {
        const problem = `Dropped ${message.method}: ${already} are already being handled (${limitName})`
        report(new ConnectionError('limit', problem))
      }
      if (running.size >= limit) return drop(`${limit} messages`, 'limits.running')
      if (!hasRoom(message)) return drop(`messages of ${maxBytes} bytes`, 'limits.receivedBytes')
      const exchange = new RunningExchange(host)
      void run(exchange, exchange, message).then(() => {
        exchange.end()
        onNotificationHandled()
      })
    },
    stop() {
      isStopped = true
    },
  }
}
