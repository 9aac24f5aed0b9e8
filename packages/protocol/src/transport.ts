/**
 * The interfaces that transports implement: a channel for messages, a connection for requests, and a connector that opens
 * connections.
 */

import type { Awaitable } from './async.ts'
import type { Decoded } from './codec.ts'
import type { MessageObserver } from './debug.ts'
import type { ConnectionError } from './errors.ts'
import type { RequestOptions, Responder } from './exchange.ts'
import type { Message } from './messages.ts'
import type { Revision } from './methods.ts'
import type { NetworkInfo } from './telemetry.ts'

/** Sends and receives messages in both directions. Transports such as stdio implement it. */
export interface Channel {
  /**
   * Sends one message, or the responses to a batch, in the order of the calls. Returns undefined if more can be sent
   * immediately. Otherwise returns a promise that resolves when more can be sent. The message is accepted in both
   * cases. If the channel has ended or the message cannot be written as JSON, throws or rejects, and writes nothing.
   */
  send(message: Message | Message[]): Awaitable<void>
  /**
   * Calls the receiver with each message, in order. Resolves when the peer ends its output, and rejects if the channel
   * breaks. If the receiver returns a promise, reading pauses until it resolves. May be called only once.
   */
  receive(receiver: (item: Decoded) => Awaitable<void>): Promise<void>
  /**
   * Ends both directions after the sent messages are delivered. Promises that `send` has returned are resolved immediately.
   * Further calls have no effect.
   */
  close(): Promise<void>
}

/** Sends requests and notifications, over any transport. */
export interface Requester {
  /**
   * Sends a request and resolves to its result. Rejects with `RpcError` for an error response, and with `ConnectionError`
   * without a response.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
  /** Sends a notification. Resolves when the transport can accept more. */
  notify(method: string, params?: object): Awaitable<void>
  /** Ends the connection and rejects all pending requests. Further calls have no effect. */
  close(reason?: ConnectionError): Promise<void>
  /**
   * Resolves when the connection has ended: with the error, or with undefined if it was closed by `close()`. Never rejects.
   */
  readonly closed: Promise<ConnectionError | undefined>
}

/** Options of `Connector.connect`. */
export interface ConnectOptions {
  /** Handles the requests and notifications of the server. */
  readonly responder: Responder
  /** Called with each problem that was handled: ignored, dropped or masked. */
  readonly onWarning: (warning: Error) => void
  /** Called with each message, received or sent. Optional for transports. Default: none. */
  readonly onMessage?: MessageObserver | undefined
  /** Cancels the attempt to connect. Default: none. */
  readonly signal?: AbortSignal | undefined
}

export interface Connection extends Requester {
  /**
   * Called after a handshake with the negotiated revision. From then on, the server may send messages that belong to no
   * request. Legacy era only.
   *
   * @param onMissed called when such messages may have been lost although the connection continues
   */
  negotiated?(revision: Revision, onMissed?: () => void): Awaitable<void>
  /**
   * Whether messages of the server arrive on the stream of the related request, so that messages of concurrent requests can
   * be distinguished. Default: false, as for stdio, which has one stream for all messages.
   */
  readonly hasSeparateStreams?: boolean | undefined
  /** The id of the session, for telemetry. Legacy era over HTTP only. */
  readonly sessionId?: string | undefined
}

/** Connects a client to a server. Created by a function of a transport, such as `http(url)`. */
export interface Connector {
  /**
   * Opens a new connection. It is called again if a legacy server has closed the first connection because of the probe
   * for the modern era.
   */
  connect(options: ConnectOptions): Awaitable<Connection>
  /** The key under which facts about the server are remembered, such as its era: an origin or a command. Default: none. */
  readonly peer?: string | undefined
  /** How long to wait for the response to the probe for the era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /**
   * The meaning of a missing response to the probe. `legacy`: the server belongs to the legacy era, because some stdio
   * servers ignore unknown messages. `nothing`: connecting fails with `ConnectionError` (reason `timeout`), as over a
   * network. Default: `legacy`.
   */
  readonly silence?: 'legacy' | 'nothing' | undefined
  /** The connection to the server, for telemetry: its transport, and the address and port of the server. Default: unknown. */
  readonly network?: NetworkInfo | undefined
}
