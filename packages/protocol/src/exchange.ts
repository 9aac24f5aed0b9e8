/** The interfaces of one received message: its exchange, caller and session, and the responder that handles it. */

import type { Awaitable } from './async.ts'
import type { Envelope } from './envelope.ts'
import type { JsonObject, NotificationMessage, RequestId, RequestMessage, ResponseMessage } from './messages.ts'
import type { Revision } from './methods.ts'
import type { LoggingLevel } from './schemas/server-features.ts'
import type { ClientCapabilities, Implementation } from './schemas/shared.ts'
import type { JsonSchema } from './standard-schema.ts'
import type { Store } from './stores.ts'
import type { NetworkInfo, Telemetry } from './telemetry.ts'

/** A caller with verified credentials. */
export interface AuthInfo {
  /** The name of the caller at its issuer. */
  readonly subject: string
  /** The issuer of the credentials, because two issuers may use the same subject. Undefined if there is only one issuer. */
  readonly issuer?: string | undefined
  /** The id of the OAuth client. Undefined without OAuth. */
  readonly clientId?: string | undefined
  /** All scopes that the credentials grant, including scopes that are implied by others. */
  readonly scopes: readonly string[]
  /** The expiry of the credentials, in seconds since 1970. */
  readonly expiresAt?: number | undefined
  /** The other claims of the credentials. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Returns a name for the caller that is unique over all issuers. Sessions and encrypted state are bound to it. Returns
 * undefined without a caller.
 */
export function principalOf(auth: AuthInfo | undefined): string | undefined {
  if (auth === undefined) return undefined
  const { issuer, subject } = auth
  // A pair is a JSON array, which begins with "[". Therefore a subject that begins with "[" is also written as a pair.
  return issuer === undefined && !subject.startsWith('[') ? subject : JSON.stringify([issuer ?? null, subject])
}

/** A request that was refused because the caller lacks a scope. */
export interface ScopeRefusal {
  /** All scopes that the operation needs, including scopes that the caller already has. */
  readonly requiredScopes: readonly string[]
  /** The caller. Undefined if the caller is not authenticated. */
  readonly auth: AuthInfo | undefined
}

/**
 * Authenticates HTTP requests before the server handles them. A guard is a function with optional members.
 */
export interface Guard {
  /**
   * Returns the caller, or a response that is sent instead of the server's (such as 401), or undefined to accept an
   * anonymous caller.
   */
  (request: Request): Awaitable<AuthInfo | Response | undefined>
  /** Answers public requests, such as requests for OAuth metadata. Returns undefined for other requests. */
  metadata?(request: Request): Response | undefined
  /** Returns the challenge for a caller who lacks scopes. Its status and headers are used; the transport writes the body. */
  refuse?(request: Request, refusal: ScopeRefusal): Response
  /** Returns the guard that is used for a server with this store. Default: the same guard. */
  withStore?(store: Store): Guard
}

/** Options of one request. */
export interface RequestOptions {
  /** The name of the request in error messages, such as `tools/call "add"`. Default: its method. */
  label?: string | undefined
  /** Cancels the request and notifies the peer. The promise rejects with `ConnectionError` (reason `cancelled`). */
  signal?: AbortSignal | undefined
  /**
   * How long to wait for the response, in ms. Each progress notification restarts this timeout. It is paused while a
   * request from the peer is handled (`Exchange.hold`). `Infinity` disables it. Default: 60,000.
   */
  timeout?: number | undefined
  /**
   * The longest total time, in ms. Progress does not extend it. The time in which requests from the peer are handled
   * does not count. Default: 600,000, or `timeout` if that is longer.
   */
  maxTimeout?: number | undefined
  /**
   * Called with the notifications of this request. If set, the request also asks for progress notifications. Default: none.
   */
  onNotification?: ((notification: NotificationMessage) => void) | undefined
  /**
   * Whether the peer is notified if the request is cancelled. Default: true. Use false for the handshake, which must not be
   * cancelled.
   */
  announceCancel?: boolean | undefined
  /** Called with the id of the request before it is sent. Default: none. */
  onId?: ((id: RequestId) => void) | undefined
}

/** The record of a legacy session. */
export interface SessionState {
  /** The negotiated revision. Undefined before the handshake. */
  revision?: Revision
  /** Whether the client has sent `notifications/initialized`. */
  initialized?: boolean
  /** Name and version of the client. */
  clientInfo?: Implementation
  /** The capabilities that the client declared in `initialize`. */
  clientCapabilities?: ClientCapabilities
  /** The lowest level of log messages that are sent. */
  logLevel?: LoggingLevel
  /** URIs of the resources that the client has subscribed to. */
  subscriptions?: string[]
  /** The principal that opened the session. Other principals may not use it. */
  subject?: string
  /**
   * The network address that opened the session, if the caller is not authenticated. Shared limits are applied to it.
   */
  openedFrom?: string
  /** When the handshake took place, in ms since 1970. */
  openedAt?: number
  /**
   * The process that sends the GET stream of the session over HTTP, or that sent it last. This process is notified of
   * changes.
   */
  streamProcess?: string
  /** How often the record was changed. Of two copies in different processes, the one with the higher number is newer. */
  version?: number
}

/**
 * A legacy session: its record, and a method that sends requests to the peer. Over HTTP, it is loaded for each request.
 * On a connection, it exists as long as the connection.
 */
export interface Session {
  /** The id of the session. */
  readonly id: string
  /** The record, as it was last loaded or updated. */
  readonly state: Readonly<SessionState>
  /**
   * Changes the stored record and refreshes `state`. The callback receives the newest record and changes it in place.
   * It may be called more than once.
   */
  update(change: (state: SessionState) => void): Awaitable<void>
  /**
   * Sends a request to the peer. Rejects with `RpcError` for an error response, and with `ConnectionError` without a
   * response.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
}

/** The HTTP request that carried a message. */
export interface RequestInfo {
  /** The headers, without headers that contain credentials. */
  readonly headers: Headers
  /** The complete URL. */
  readonly url: string
}

/** One received message: its caller, its signal, and the functions that send to its sender before the response. */
export interface Exchange {
  /** Aborted when the request is cancelled. Created on first access. */
  readonly signal: AbortSignal
  /**
   * Registers the only listener, which is called once if the exchange ends before its response was sent. `graceful` is
   * true if the transport shuts down and can still send the response, and false if the request was cancelled. The
   * listener is called immediately if the exchange has already ended. It uses less memory than `signal` for thousands
   * of open streams. Optional for transports.
   */
  onClose?(listener: (graceful: boolean) => void): void
  /** The caller, as authenticated by the transport. It never comes from the message. */
  readonly auth: AuthInfo | undefined
  /** The session of this message. Legacy era only. */
  readonly session: Session | undefined
  /**
   * The caller to whom shared limits apply: a subject, a network address or a session id. Undefined if the transport
   * has only one peer.
   */
  readonly caller?: string | undefined
  /** The HTTP request that carried the message. Undefined without HTTP. */
  readonly requestInfo: RequestInfo | undefined
  /** The connection that carried the message, for telemetry. Undefined within a process. Optional for transports. */
  readonly network?: NetworkInfo | undefined
  /**
   * The envelope of a modern request, if the transport has already parsed it; otherwise the server parses the message. A
   * responder that changes the `_meta` of a message must pass on an exchange without it.
   */
  readonly envelope?: Envelope | undefined
  /**
   * Sends a notification before the response. Resolves when the transport can accept more, so await it to send no faster
   * than the peer reads. Has no effect after the exchange has ended.
   */
  notify(method: string, params?: JsonObject): Awaitable<void>
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Has no effect if the client cannot
   * resume. Only transports with resumable streams have it.
   */
  closeStream?(): void
  /**
   * The options of the related request. This is the request that this side sent and whose response stream contained the
   * message. Undefined if there is no such stream, for example because the transport has one stream for all messages.
   */
  readonly during?: RequestOptions | undefined
  /**
   * Pauses the timeout of the related request until the returned function is called. If the related request is unknown,
   * pauses the timeouts of all pending requests. Use it while a user answers a request.
   */
  hold?(): () => void
}

/** Handles messages, as a server does. One responder can be used by any number of connections. */
export interface Responder {
  /**
   * If true, no responses are sent, neither to requests nor to malformed messages. Modern clients set it, because in
   * the modern era servers must not send requests. Default: false.
   */
  readonly silent?: boolean | undefined
  /**
   * Whether legacy revisions are supported. If false, transports refuse to open sessions. Default: true.
   */
  readonly legacy?: boolean | undefined
  /** The store that the processes of the server share. Transports use its parts. Default: the memory of this process. */
  readonly store?: Store | undefined
  /** Observes the messages of the server. Transports call its `onServe`. Default: none. */
  readonly telemetry?: Telemetry | undefined
  /**
   * Handles one message. Returns the response to a request, and undefined for a notification. The transport drops the
   * response to a cancelled request. Errors are masked and reported.
   */
  respond(message: RequestMessage | NotificationMessage, exchange: Exchange): Awaitable<ResponseMessage | undefined>
  /**
   * Sends list changes, resource updates and logs to a session until the returned function is called. The transport
   * calls it after the session is initialized. If `send` returns a promise, wait for it before you send more; it never
   * rejects. The method must not call `send` before it returns. If it returns a promise, the promise resolves when
   * changes of other processes are also received.
   *
   * @param hasGap whether the client may have missed changes, so that everything it has subscribed to counts as changed
   */
  watchChanges?(
    session: Session,
    send: (message: NotificationMessage) => Awaitable<void>,
    hasGap?: boolean,
  ): Awaitable<() => void>
  /**
   * Called when a session ends, because its connection ended or its client deleted it. Not called when a session
   * expires. `network` is the connection of the session, if it is known.
   */
  sessionEnded?(session: Session, network?: NetworkInfo): Awaitable<void>
  /**
   * Returns the input schema of a tool, for transports that repeat arguments in headers. Its `x-mcp-header` annotations
   * name the headers that must equal the arguments. Returns undefined for a tool that this caller cannot see; may
   * return undefined for a tool without annotations. Called before each call, so it must be fast. Returns the same
   * object while the schema is unchanged. Never throws.
   */
  inputSchemaOf?(name: string, exchange: Exchange): Awaitable<JsonSchema | undefined>
}
