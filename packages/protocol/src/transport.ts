/**
 * The interfaces that a transport implements: a channel of messages, a connection for requests, and a connector that
 * makes one.
 */

import type { Awaitable } from './async.ts'
import type { Decoded } from './codec.ts'
import type { ConnectionError } from './errors.ts'
import type { RequestOptions, Responder } from './exchange.ts'
import type { Message } from './messages.ts'
import type { Revision } from './methods.ts'

/** Sends and receives messages in both directions, as a transport such as stdio does. */
export interface Channel {
  /**
   * Sends one message, or the responses to an array of them. Messages leave in the order of the calls. Returns undefined
   * when more can be sent at once, else a promise that resolves when there is room again: the message was accepted either
   * way. Throws, or rejects, with nothing written when the channel has ended or the message cannot be written.
   */
  send(message: Message | Message[]): Awaitable<void>
  /**
   * Calls the receiver with each message that arrives, in order, until the peer ends its side. Called once. While a
   * promise that the receiver returned is pending, nothing more is read. Rejects when the channel breaks.
   */
  receive(receiver: (item: Decoded) => Awaitable<void>): Promise<void>
  /**
   * Ends both directions once the sent messages are delivered. Senders that wait for room are released at once. Calling
   * it again has no effect.
   */
  close(): Promise<void>
}

/** Sends requests and notifications; the same for pipes and HTTP. */
export interface Requester {
  /**
   * Resolves to the result. Rejects with `RpcError` for an error response, with `ConnectionError` without a response.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
  /** Resolves when the transport can accept more. */
  notify(method: string, params?: object): Awaitable<void>
  /** Ends the connection and rejects all waiting requests. Calling it again has no effect. */
  close(reason?: ConnectionError): Promise<void>
  /**
   * Resolves when the connection has ended: with the reason, or with undefined if it was closed on purpose. Never
   * rejects.
   */
  readonly closed: Promise<ConnectionError | undefined>
}

/** Options of `Connector.connect`. */
export interface ConnectOptions {
  /** Answers the requests of the server, and is called with its notifications. */
  readonly responder: Responder
  /** Called with everything that was ignored, dropped or masked. */
  readonly onWarning: (warning: Error) => void
  /** Fires when the connection is no longer wanted; ends waiting before or while it is made. */
  readonly signal?: AbortSignal | undefined
}

export interface Connection extends Requester {
  /**
   * Called after a handshake with the negotiated revision: from now on the server may send messages unasked. Legacy era only.
   *
   * @param onMissed called when messages that the server sent unasked may have been lost while the connection continues
   */
  negotiated?(revision: Revision, onMissed?: () => void): Awaitable<void>
  /**
   * Whether messages of the server arrive on the stream of the request that they belong to, so that concurrent requests
   * can be told apart. Default: false, as with one pipe for everything.
   */
  readonly tellsApart?: boolean | undefined
}

/** Connects a client to a server; made by the factory of a transport, such as `http(url)`. */
export interface Connector {
  /**
   * Makes a new connection with each call: a server that closed when it was probed for the modern era is connected to
   * again.
   */
  connect(options: ConnectOptions): Awaitable<Connection>
  /** Names the server for what is remembered of it, such as its era: an origin, or a command. */
  readonly peer?: string | undefined
  /** How long the server may take to answer the probe for its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /**
   * The meaning of no answer to that probe: `legacy`, as servers behind a pipe are known to ignore unknown messages; or
   * `nothing`, as over a network, where connecting fails with `ConnectionError` `timeout`. Default: `legacy`.
   */
  readonly silence?: 'legacy' | 'nothing' | undefined
}
