/** The interface of the two eras, and the members of a connection that they use. */

import type {
  ConnectionError,
  NotificationMessage,
  RequestId,
  RequestMessage,
  RequestOptions,
  Responder,
  ResponseMessage,
  Revision,
} from '@mcpx/protocol'
import type { Settings } from './options.ts'

/** Sends messages in the form of one era, and handles the messages of the server. */
export interface ClientEra {
  /** Resolves to the response; rejects with `ConnectionError` when no response arrives. */
  request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage>
  /** Resolves when the server has accepted the message. */
  send(message: NotificationMessage | ResponseMessage, signal: AbortSignal): Promise<void>
  /** Called when a request is cancelled or times out and its HTTP request is aborted. */
  cancelled?(id: RequestId, reason: string): void
  /** @param onMissed called when notifications of the server may have been lost. */
  negotiated?(revision: Revision, onMissed?: () => void): void
  /** Whether all messages of the server arrive on one stream. */
  readonly usesOneStream?: boolean
  /** The id of the session. */
  readonly sessionId?: string | undefined
  /** Ends the session. Never rejects. */
  close?(): Promise<void>
}

/** The members of a connection that the eras use. */
export interface EraHost {
  /** The settings. Their `fetch` authenticates requests. */
  readonly settings: Settings
  /** Aborted when the connection ends. */
  readonly signal: AbortSignal
  readonly responder: Responder
  report(problem: Error): void
  /** Returns an unused request id. */
  nextId(): RequestId
  /** Passes a response to the request that waits for it, or reports it. */
  handleResponse(response: ResponseMessage): void
  /** Passes a notification to the request with this id. Returns false if the request has no listener. */
  handleNotification(id: RequestId, notification: NotificationMessage): boolean
  notify(method: string, params?: object): Promise<void>
  /** Pauses the timeout of one request, or of all requests, until the returned function is called. */
  hold(id: RequestId | undefined): () => void
  /** Returns the options of a request that waits for its response. */
  optionsOf(id: RequestId): RequestOptions | undefined
  /** Returns the signal of a pending request. It is aborted when the request is cancelled or times out. */
  signalOf(id: RequestId): AbortSignal | undefined
  /**
   * Ends the connection, because the server no longer knows it.
   * @param grace how long pending requests may still receive a response, in ms. Default: 0.
   */
  end(reason: ConnectionError, grace?: number): void
}
