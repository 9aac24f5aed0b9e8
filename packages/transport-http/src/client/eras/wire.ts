/** What an era does with a message, and what it may use for it. */

import type {
  ConnectionError,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  RequestOptions,
  Responder,
  ResponseMessage,
  Revision,
} from '@mcpx/protocol'
import type { Carrier } from '../carrier.ts'
import type { Settings } from '../options.ts'

/** What a connection gives to its eras. */
export interface Host {
  readonly settings: Settings
  readonly carry: Carrier
  /** Fires when the connection ends. */
  readonly closing: AbortSignal
  /** An id that no request has had. */
  nextId(): RequestId
  /** Gives a notification to the request with this id. False when it does not listen. */
  hear(id: RequestId, notification: NotificationMessage): boolean
  /** Gives an answer to the request it is for, or reports it. */
  settle(response: ResponseMessage): void
  /** What answers the server, if anything does. */
  readonly responder: Responder | undefined
  /** Gives a notification of the server to the responder. */
  pass(message: NotificationMessage): void
  notify(method: string, params?: object): Promise<void>
  /** Stops the clock of one request, or of all that wait, until the returned function is called. */
  hold(id: RequestId | undefined): () => void
  /** How a request that waits was made. */
  optionsOf(id: RequestId): RequestOptions | undefined
  /** Fires when a request that is under way has ended, however that was. */
  endOf(id: RequestId): AbortSignal | undefined
  report(problem: Error): void
  /**
   * Ends the connection: the server does not know it any more.
   * @param grace how long requests that are under way may still learn what became of them, in ms. Default: 0.
   */
  end(reason: ConnectionError, grace?: number): void
}

export interface Wire {
  /** Resolves to the answer; rejects with `ConnectionError` when there is none. */
  ask(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage>
  /** Resolves when the server has taken it. */
  tell(message: Exclude<Message, RequestMessage>, signal: AbortSignal): Promise<void>
  /** A request was given up, and its stream is closed. */
  givenUp?(id: RequestId, reason: string): void
  /** @param onMissed called when what was said unasked may have been lost. */
  negotiated?(revision: Revision, onMissed?: () => void): void
  /** All that is said comes on one stream. */
  readonly hasOneStream?: boolean
  /** Leaves. Never rejects. */
  close?(): Promise<void>
}
