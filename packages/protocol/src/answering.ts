/** Answers messages of the peer: calls the responder, and makes sure that each request gets at most one response. */

import type { Awaitable } from './async.ts'
import { ConnectionError, internalError, invalidRequest, methodNotFound, type RpcError } from './errors.ts'
import type { AuthInfo, Exchange, RequestInfo, RequestOptions, Responder, Session } from './exchange.ts'
import {
  errorMessage,
  type JsonObject,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from './messages.ts'

/** The part that all exchanges of one connection share. */
export interface ExchangeHost {
  /** The caller of the connection. */
  readonly auth: AuthInfo | undefined
  /** The HTTP request that opened the connection. */
  readonly requestInfo: RequestInfo | undefined
  /** The session of the connection. */
  readonly session: Session | undefined
  /** Sends a notification to the peer. */
  notify(method: string, params: JsonObject | undefined): Awaitable<void>
  /** Stops the clock of a request of this side, or of all that wait. */
  hold(id: RequestId | undefined): () => void
  /** The options of a request of this side. Default: unknown. */
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

  /** Whether the request runs until one side ends it. */
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

  /** Whether the peer still wants the response. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  notify(method: string, params?: JsonObject): Awaitable<void> {
    return this.#state === 'open' ? this.#host.notify(method, params) : undefined
  }

  /** The message was handled: further notifications have no effect. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
  }

  /** Lets the listener of `onClose` end the request with a response. Without a listener the request is aborted. */
  finish(reason: unknown): void {
    if (this.#onClose === undefined) this.abort(reason)
    else this.#callListener(true)
  }

  /** The response is no longer wanted. */
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

/** The id of a request of the peer; a notification has none and is identified by its exchange. */
export type RunningKey = RequestId | RunningExchange

export interface RunningRequests {
  /** How many messages are being handled. */
  readonly size: number
  /** Whether a message with this key is being handled. */
  has(key: RunningKey): boolean
  /** Records that a message is being handled. */
  add(key: RunningKey, exchange: RunningExchange): void
  /** The message was handled. */
  delete(key: RunningKey): void
  /** Aborts one request. Returns false when it is not running. */
  abort(id: RequestId, reason: unknown): boolean
  /** Aborts every request that is being handled. */
  abortAll(reason: unknown): void
  /** Aborts the requests that never end by themselves. */
  abortStreams(reason: unknown): void
  /** Ends the requests that never end by themselves with a response, where they support it. */
  finishStreams(reason: unknown): void
  /** Resolves once no message is being handled. */
  idle(): Promise<void>
}

/** An id is free again when its request was handled, not when it was cancelled. */
export function createRunningRequests(): RunningRequests {
  const running = new Map<RunningKey, RunningExchange>()
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

export interface AnsweringOptions {
  readonly responder: Responder | undefined
  readonly running: RunningRequests
  readonly host: ExchangeHost
  /** How many requests and notifications may run at once. */
  readonly limit: number
  /** Called when a notification was handled. */
  readonly onHeard: () => void
  readonly report: (error: Error) => void
}

export interface Answering {
  /**
   * Resolves to the response to a request, or to undefined when it is no longer wanted. Never rejects.
   * @param during the request of this side on whose stream it came, where the transport knows it.
   */
  answer(message: RequestMessage, during?: RequestId): Promise<ResponseMessage | undefined>
  /** Passes a notification to the responder. */
  hear(message: NotificationMessage): void
  /** From now on requests are refused. */
  stop(): void
}

/** The method of a request that is answered when its subscription ends. */
export const LISTEN = 'subscriptions/listen'

export function createAnswering({ responder, running, host, limit, onHeard, report }: AnsweringOptions): Answering {
  let isStopped = false

  function refusalOf({ id, method }: RequestMessage): RpcError | undefined {
    if (responder === undefined) return methodNotFound(method)
    if (running.has(id)) return invalidRequest('Invalid message: id: a request with this id is still in flight')
    if (isStopped) return internalError('Shutting down: no new requests are taken')
    if (running.size >= limit) return internalError(`Too many requests at once: at most ${limit} (limits.running)`)
    return undefined
  }

  /** Calls the responder. Anything thrown is reported, and counts as no response. */
  async function run(
    key: RunningKey,
    exchange: RunningExchange,
    message: RequestMessage | NotificationMessage,
  ): Promise<ResponseMessage | undefined> {
    running.add(key, exchange)
    try {
      return await responder?.respond(message, exchange)
    } catch (error) {
      report(error instanceof Error ? error : new Error(`Thrown: ${typeof error}`, { cause: error }))
      return undefined
    } finally {
      running.delete(key)
    }
  }

  return {
    async answer(message, during) {
      const refusal = refusalOf(message)
      if (refusal !== undefined) return errorMessage(message.id, refusal)
      const exchange = new RunningExchange(host, during, message.method === LISTEN)
      const response = await run(message.id, exchange, message)
      const isWanted = exchange.isOpen
      exchange.end()
      return isWanted ? (response ?? errorMessage(message.id, internalError())) : undefined
    },
    hear(message) {
      if (responder === undefined) return
      if (running.size >= limit) {
        report(new ConnectionError('limit', `${message.method} was dropped: ${limit} run already (limits.running)`))
        return
      }
      const exchange = new RunningExchange(host)
      void run(exchange, exchange, message).then(() => {
        exchange.end()
        onHeard()
      })
    },
    stop() {
      isStopped = true
    },
  }
}
