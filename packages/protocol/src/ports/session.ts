/** A legacy session: a plain record, and a way to ask the peer. It is loaded for a message, never kept. */

import type { ClientCapabilities, Implementation } from '../schema/lifecycle.ts'
import type { LoggingLevel } from '../schema/logging.ts'
import type { Revision } from '../versions.ts'
import type { Awaitable } from './awaitable.ts'
import type { RequestOptions } from './requester.ts'

/** All that a session remembers; JSON, so that any process can carry it on. */
export interface SessionState {
  /** The negotiated revision; absent before the handshake. */
  revision?: Revision
  /** The client said that it is ready. */
  initialized?: boolean
  clientInfo?: Implementation
  clientCapabilities?: ClientCapabilities
  /** Log messages below this level are not sent. */
  logLevel?: LoggingLevel
  /** URIs of the resources whose updates the client wants. */
  subscriptions?: string[]
  /** The principal the session was opened by; another one may not use it. */
  subject?: string
}

export interface Session {
  readonly id: string
  readonly state: Readonly<SessionState>
  /**
   * Changes the record where it is stored and refreshes `state`. The function gets the newest record, may run
   * more than once, and changes it in place.
   */
  update(change: (state: SessionState) => void): Awaitable<void>
  /** Asks the peer. Rejects with `RpcError` for its refusal, with `ConnectionError` when it cannot be reached. */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
}
