/** How a client reaches a server: what a transport's factory, such as `http(url)`, gives. */

import type { Revision } from '../versions.ts'
import type { Awaitable } from './awaitable.ts'
import type { Responder } from './exchange.ts'
import type { Requester } from './requester.ts'

export interface ConnectOptions {
  /** Answers what the server asks, and hears what it says unasked. */
  readonly responder: Responder
  /** Hears of everything that was ignored, dropped or masked. */
  readonly report: (problem: Error) => void
  /** Fires when the connection is no longer wanted: what takes its time to make one, such as a pause before it, ends. */
  readonly signal?: AbortSignal | undefined
}

export interface Connection extends Requester {
  /**
   * A handshake is done: from now on this revision is spoken, and the server may speak unasked. Legacy era only.
   *
   * @param onMissed called when what the server said unasked may have been lost, though the connection goes on
   */
  negotiated?(revision: Revision, onMissed?: () => void): Awaitable<void>
  /**
   * Whether what the server says comes on the stream of the request that it is about, so that several requests at once
   * can be told apart. Default: false, as with one pipe for everything.
   */
  readonly tellsApart?: boolean | undefined
}

export interface Connector {
  /**
   * Makes a new connection, each time it is called: a server that did not survive a question from the newer era
   * is reached again for the older one.
   */
  connect(options: ConnectOptions): Awaitable<Connection>
  /** Names the server for what is remembered about it, such as its era: an origin, or a command. */
  readonly peer?: string | undefined
  /** How long the server may take to show its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /**
   * What it means when the server does not answer the question for its era: that it is `legacy`, as servers behind a
   * pipe are known to keep silent to what they do not know; or `nothing`, as where a network and its gateways lie
   * between. Then connecting fails with `ConnectionError` `timeout`. Default: `legacy`.
   */
  readonly silence?: 'legacy' | 'nothing' | undefined
}
