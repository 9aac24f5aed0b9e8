/**
 * The connection of a client to one server: stores the requests that wait for a response, and chooses the era of each
 * message.
 */

import {
  type Connection,
  ConnectionError,
  type ConnectOptions,
  cancelledError,
  claimsModern,
  createPendingRequests,
  type JsonObject,
  type NotificationMessage,
  type PendingRequests,
  type RequestId,
  type RequestMessage,
  type RequestOptions,
  type Responder,
  type ResponseMessage,
  type Revision,
  ShortLivedMap,
  withProgressToken,
} from '@mcpx/protocol'
import type { ClientEra, EraHost } from './era.ts'
import { LegacyEra } from './legacy.ts'
import { ModernEra } from './modern.ts'
import type { Settings } from './options.ts'
import { noResponseError } from './send.ts'
import { UnsentResponses } from './unsent-responses.ts'

/** Maximum number of requests that wait for their response. */
const MAX_PENDING = 10_000

/** A request without a response. */
interface Call {
  readonly era: ClientEra
  readonly controller: AbortController
}

export class HttpConnection implements Connection, EraHost {
  readonly settings: Settings
  readonly responder: Responder
  readonly report: (problem: Error) => void
  readonly closed: Promise<ConnectionError | undefined>
  readonly #closing = new AbortController()
  readonly #pending: PendingRequests
  readonly #calls = new ShortLivedMap<RequestId, Call>()
  readonly #modern: ClientEra
  readonly #legacy: ClientEra
  /** The era of the last request. */
  #era: ClientEra
  #lastId = 0
  #resolveClosed: (reason: ConnectionError | undefined) => void = () => {}
  #ending: Promise<void> | undefined
  /** The reason why the connection has ended. Undefined while it is open. */
  #error: ConnectionError | undefined
  #grace: ReturnType<typeof setTimeout> | undefined

  constructor(settings: Settings, { responder, onWarning: report, onMessage }: ConnectOptions) {
    const { auth, fetch, url } = settings
    const hold = (signal: AbortSignal) => this.#holdSentWith(signal)
    const unsent = new UnsentResponses()
    this.settings = { ...settings, onMessage, unsent, fetch: auth === undefined ? fetch : auth(fetch, { url, hold }) }
    this.responder = responder
    this.report = report
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    this.#pending = createPendingRequests({
      report,
      onCancel: (id, reason) => this.#calls.get(id)?.era.cancelled?.(id, reason),
    })
    this.#modern = new ModernEra(this)
    this.#legacy = new LegacyEra(this)
    this.#era = this.#modern
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Whether the messages of the server about one request arrive on a separate stream. */
  get hasSeparateStreams(): boolean {
    return this.#legacy.usesOneStream !== true
  }

  get sessionId(): string | undefined {
    return this.#legacy.sessionId
  }

  async request(method: string, params?: object, options: RequestOptions = {}): Promise<unknown> {
    this.#refuseIfNotPossible(options.label ?? method, options.signal)
    const id = this.nextId()
    const result = this.#pending.add(id, method, options)
    if (this.#pending.get(id) !== undefined) {
      const sent = options.onNotification === undefined ? params : withProgressToken(params, id)
      void this.#send({ jsonrpc: '2.0', id, method, ...(sent && { params: sent as JsonObject }) })
    }
    try {
      return await result
    } finally {
      this.#calls.get(id)?.controller.abort()
    }
  }

  async notify(method: string, params?: object): Promise<void> {
    if (this.signal.aborted) return
    const message = { jsonrpc: '2.0', method, ...(params && { params: params as JsonObject }) } as const
    await this.#era.send(message, this.signal)
  }

  negotiated(revision: Revision, onMissed?: () => void): void {
    this.#legacy.negotiated?.(revision, onMissed)
  }

  close(reason?: ConnectionError): Promise<void> {
    this.#ending ??= this.#end(reason, 0)
    return this.#ending
  }

  end(reason: ConnectionError, grace = 0): void {
    this.#ending ??= this.#end(reason, grace)
  }

  nextId(): RequestId {
    this.#lastId += 1
    return this.#lastId
  }

  handleResponse(response: ResponseMessage): void {
    if (this.#pending.settle(response)) return
    const kind = 'error' in response ? 'An error' : 'A response'
    this.report(new ConnectionError('unmatched', `${kind} was ignored: no request with its id is waiting`))
  }

  handleNotification(id: RequestId, notification: NotificationMessage): boolean {
    return this.#pending.handleNotification(id, notification)
  }

  hold(id: RequestId | undefined): () => void {
    return this.#pending.hold(id)
  }

  optionsOf(id: RequestId): RequestOptions | undefined {
    return this.#pending.get(id)?.options
  }

  signalOf(id: RequestId): AbortSignal | undefined {
    return this.#calls.get(id)?.controller.signal
  }

  #holdSentWith(signal: AbortSignal): () => void {
    const call = [...this.#calls].find(([, { controller }]) => controller.signal === signal)
    return call === undefined ? () => {} : this.#pending.hold(call[0])
  }

  #refuseIfNotPossible(label: string, signal: AbortSignal | undefined): void {
    if (this.#error !== undefined) throw this.#error
    if (signal?.aborted === true) throw cancelledError(label, signal)
    if (this.#pending.size < MAX_PENDING) return
    const hint = 'Await responses before you send more requests.'
    const message = `${label} was not sent: ${MAX_PENDING} requests wait already`
    throw new ConnectionError('limit', message, { retryable: true, hint })
  }

  async #send(message: RequestMessage): Promise<void> {
    const { id } = message
    this.#era = claimsModern(message) ? this.#modern : this.#legacy
    const call = { era: this.#era, controller: new AbortController() }
    this.#calls.set(id, call)
    try {
      const response = await call.era.request(message, call.controller.signal)
      this.#calls.delete(id)
      this.#pending.settle(response)
    } catch (error) {
      this.#calls.delete(id)
      this.#pending.fail(id, error as Error)
    }
    if (this.#calls.size === 0) clearTimeout(this.#grace)
  }

  /** Ends the connection. Only the first call has an effect. */
  async #end(reason: ConnectionError | undefined, grace: number): Promise<void> {
    this.#error = reason ?? new ConnectionError('closed', 'The connection was closed')
    const error = this.#error
    if (grace === 0 || this.#calls.size === 0) this.#failAll(error)
    else this.#grace = setTimeout(() => this.#failAll(error), grace)
    this.#closing.abort(error)
    await Promise.all([this.#modern.close?.(), this.#legacy.close?.()])
    this.#resolveClosed(reason)
  }

  /**
   * Rejects all pending requests. If the server ended the connection, the error of each request says whether it can be
   * repeated.
   */
  #failAll(error: ConnectionError): void {
    for (const id of this.#calls.keys()) {
      const pending = this.#pending.get(id)
      if (!error.retryable || pending === undefined) continue
      this.#pending.fail(id, noResponseError(error, pending.options.label ?? pending.method))
    }
    this.#pending.failAll(error)
  }
}
