/** What asks: the same for a pipe and for HTTP, so that a client cannot tell them apart. */

import type { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { NotificationMessage } from '../jsonrpc/message.ts'
import type { Awaitable } from './awaitable.ts'

export interface RequestOptions {
  /** Cancels the request; the peer is told. The promise rejects with `ConnectionError` `cancelled`. */
  signal?: AbortSignal | undefined
  /**
   * How long to wait for the answer, in ms; each progress notification starts it again. Default: 60,000. `Infinity`:
   * for ever. While this side answers a question of the peer, the time stands still (`Exchange.hold`).
   */
  timeout?: number | undefined
  /**
   * How long to wait whatever progress is made, in ms, not counting the time in which this side answers questions of the
   * peer. Default: 600,000, or the timeout if that is longer.
   */
  maxTimeout?: number | undefined
  /** What the peer says about this request before it answers. Giving it asks the peer for progress. */
  onNotification?: ((notification: NotificationMessage) => void) | undefined
  /** Tell the peer when the request is given up. Default: true; false for the handshake, which must not be cancelled. */
  announceCancel?: boolean | undefined
}

export interface Requester {
  /** Resolves to the result. Rejects with `RpcError` if the peer said no, with `ConnectionError` if it did not answer. */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
  /** Resolves when the carrier can take more. */
  notify(method: string, params?: object): Awaitable<void>
  /** Ends the connection; what waits is rejected. Calling it again does nothing. */
  close(reason?: ConnectionError): Promise<void>
  /** Settles when the connection has ended: with the reason, or with nothing if it ended as asked. Never rejects. */
  readonly closed: Promise<ConnectionError | undefined>
}
