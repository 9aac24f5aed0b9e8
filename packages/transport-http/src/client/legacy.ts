/** The legacy era. The handshake determines the transport, and the server can send requests to the client. */

import {
  ConnectionError,
  createMessageProcessor,
  createRunningRequests,
  DUPLEX_LIMITS,
  isRequestId,
  type Message,
  type MessageProcessor,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type Revision,
  relatedRequest,
} from '@mcpx/protocol'
import type { ClientEra, EraHost } from './era.ts'
import { Backoff, isTemporary, LegacySession } from './legacy-session.ts'
import { type LegacySse, openLegacySse } from './legacy-sse.ts'

/** Maximum number of requests and notifications of the server that are handled at once. */
const MAX_RUNNING = 10_000

/** The statuses of a handshake after which the transport of 2024-11-05 is tried. */
const noEndpointStatuses = new Set([400, 404, 405])

export class LegacyEra implements ClientEra {
  readonly #host: EraHost
  readonly #running = createRunningRequests()
  readonly #processor: MessageProcessor
  readonly #session: LegacySession
  #sse: LegacySse | undefined

  constructor(host: EraHost) {
    this.#host = host
    const { responder, signal, report } = host
    this.#processor = createMessageProcessor({
      responder,
      running: this.#running,
      host: {
        auth: undefined,
        requestInfo: undefined,
        session: undefined,
        notify: (method, params) => host.notify(method, params),
        hold: (id) => host.hold(id),
        optionsOf: (id) => host.optionsOf(id),
      },
      limit: MAX_RUNNING,
      maxBytes: DUPLEX_LIMITS.receivedBytes,
      onNotificationHandled() {},
      report,
    })
    signal.addEventListener('abort', () => this.#running.abortAll(signal.reason))
    this.#session = new LegacySession(host, (message, owner) => this.#handle(message, owner))
  }

  get usesOneStream(): boolean {
    return this.#sse !== undefined
  }

  get sessionId(): string | undefined {
    return this.#session.id
  }

  get #transport(): LegacySession | LegacySse {
    return this.#sse ?? this.#session
  }

  request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    const isFirst = message.method === 'initialize' && this.#sse === undefined
    return isFirst ? this.#initialize(message, signal) : this.#transport.request(message, signal)
  }

  send(message: NotificationMessage | ResponseMessage, signal: AbortSignal): Promise<void> {
    return this.#transport.send(message, signal)
  }

  cancelled(requestId: RequestId, reason: string): void {
    const { signal, report } = this.#host
    this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }, signal).catch(
      (error: Error) => signal.aborted || report(error),
    )
  }

  negotiated(_revision: Revision, onMissed?: () => void): void {
    if (this.#sse === undefined) this.#session.openServerStream(onMissed)
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  /** Sends the handshake. If the server has no endpoint for the newer transport, uses the transport of 2024-11-05. */
  async #initialize(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    try {
      return await this.#session.request(message, signal)
    } catch (error) {
      if (!(error instanceof ConnectionError) || !noEndpointStatuses.has(error.status ?? 0)) throw error
      this.#sse = await openLegacySse(this.#host, signal, (other) => this.#handle(other)).catch((problem: Error) => {
        // Every server of 2024-11-05 refuses the first request, so the refusal does not explain the failure.
        if (problem instanceof ConnectionError && problem.retryable) throw problem
        this.#host.report(problem)
        return undefined
      })
      if (this.#sse === undefined) throw error
      return this.#sse.request(message, signal)
    }
  }

  /**
   * Handles a message that is not the response to the request of its stream.
   * @param owner the request on whose stream it arrived. Default: none, it arrived on the GET stream
   */
  #handle(message: Message, owner?: RequestId): void {
    if (!('method' in message)) this.#host.handleResponse(message)
    else if ('id' in message) void this.#answer(message, owner)
    else if (message.method === 'notifications/cancelled') this.#cancel(message)
    else this.#handleNotification(message, owner)
  }

  /** Responds to a request of the server. Aborts it when the client's request on whose stream it arrived is aborted. */
  async #answer(message: RequestMessage, owner: RequestId | undefined): Promise<void> {
    const { signal, report } = this.#host
    const ownerSignal = owner === undefined ? undefined : this.#host.signalOf(owner)
    const abortRequest = () => {
      const reason = new ConnectionError('cancelled', "The call that the server's request belongs to was cancelled")
      this.#running.abort(message.id, reason)
    }
    ownerSignal?.addEventListener('abort', abortRequest)
    try {
      const response = await this.#processor.processRequest(message, owner)
      // The call on whose stream the request arrived may have ended.
      const isWanted = () => owner === undefined || this.#host.signalOf(owner) !== undefined
      if (response === undefined) return
      const respond = () => this.#respond(response, signal, isWanted)
      await (this.#host.settings.unsent?.send(respond) ?? respond())
    } catch (error) {
      if (!signal.aborted) report(error as Error)
    } finally {
      ownerSignal?.removeEventListener('abort', abortRequest)
    }
  }

  /**
   * Sends a response to a request of the server. If the server cannot be reached, sends it again, because the server
   * waits for it. A server ignores a response that it has already received.
   *
   * @param isWanted whether the server still waits for the response
   */
  async #respond(message: ResponseMessage, signal: AbortSignal, isWanted: () => boolean): Promise<void> {
    const backoff = new Backoff(this.#host.settings)
    for (;;) {
      try {
        return await this.#transport.send(message, signal)
      } catch (error) {
        if (!isTemporary(error) || !backoff.countFailure() || !isWanted()) throw error
      }
      await backoff.wait(undefined, signal)
    }
  }

  /** Handles a cancellation: the server cancels one of its requests. */
  #cancel({ params = {} }: NotificationMessage): void {
    const { requestId, reason } = params
    const detail = typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : ''
    const error = new ConnectionError('cancelled', `The server cancelled its request${detail}`)
    if (isRequestId(requestId)) this.#running.abort(requestId, error)
  }

  #handleNotification(message: NotificationMessage, owner: RequestId | undefined): void {
    // Log messages do not name a request. They belong to the request on whose stream they arrived.
    const id = message.method === 'notifications/message' ? owner : relatedRequest(message)
    if (id !== undefined && this.#host.handleNotification(id, message)) return
    if (message.method === 'notifications/progress') {
      this.#host.report(new ConnectionError('unmatched', 'Progress was ignored: no request waits for it'))
    } else {
      this.#processor.processNotification(message)
    }
  }
}
