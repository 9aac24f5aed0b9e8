/** One received message: its caller, its session, the way back, and the responder that answers it. */

import type { Awaitable } from './async.ts'
import type { Envelope } from './envelope.ts'
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from './messages.ts'
import type { Revision } from './methods.ts'
import type { LoggingLevel } from './schemas/server-features.ts'
import type { ClientCapabilities, Implementation } from './schemas/shared.ts'
import type { JsonSchema } from './standard-schema.ts'

/** The caller, after its credentials were verified. */
export interface AuthInfo {
  /** The name that the issuer has for the caller. */
  readonly subject: string
  /** Two issuers may give the same name to different people. Absent where there is only one issuer. */
  readonly issuer?: string | undefined
  /** The OAuth client, where there is one. */
  readonly clientId?: string | undefined
  /** All scopes that the credentials grant, including scopes that are implied by others. */
  readonly scopes: readonly string[]
  /** When the credentials expire, in seconds since 1970. */
  readonly expiresAt?: number | undefined
  /** The other claims of the credentials. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The name of a caller among those of all issuers: sessions and sealed state are bound to it. Undefined without a
 * caller.
 */
export function principalOf(auth: AuthInfo | undefined): string | undefined {
  if (auth === undefined) return undefined
  const { issuer, subject } = auth
  // The first character distinguishes a bare subject from a pair.
  return issuer === undefined && !subject.startsWith('[') ? subject : JSON.stringify([issuer ?? null, subject])
}

/** The scopes that a caller lacks. */
export interface ScopeRefusal {
  /** All scopes that the operation needs, including those that the caller holds. */
  readonly requiredScopes: readonly string[]
  /** Undefined where the caller is not known. */
  readonly auth: AuthInfo | undefined
}

/**
 * Authenticates HTTP requests before the server handles them. A plain function is a guard; the members are optional.
 */
export interface Guard {
  /**
   * Returns the caller, a response in place of the server's (such as 401), or undefined where the caller need not be
   * known.
   */
  (request: Request): Awaitable<AuthInfo | Response | undefined>
  /** Answers public requests, such as those for OAuth metadata. Undefined for any other request. */
  metadata?(request: Request): Response | undefined
  /** Challenges a caller that lacks scopes. The status and headers are used; the transport writes the body. */
  refuse?(request: Request, refusal: ScopeRefusal): Response
}

/** Options of one request. */
export interface RequestOptions {
  /** The name of the request in error messages, such as `tools/call "add"`. Default: its method. */
  label?: string | undefined
  /** Cancels the request and notifies the peer. The promise rejects with `ConnectionError` `cancelled`. */
  signal?: AbortSignal | undefined
  /**
   * How long to wait for the response, in ms; each progress notification restarts it. Default: 60,000. `Infinity`: no
   * timeout. The clock stops while this side answers a request of the peer (`Exchange.hold`).
   */
  timeout?: number | undefined
  /**
   * How long to wait in spite of progress, in ms, without the time in which this side answers requests of the peer.
   * Default: 600,000, or the timeout if that is longer.
   */
  maxTimeout?: number | undefined
  /**
   * Called with the notifications that belong to this request. If given, the request asks for progress notifications.
   */
  onNotification?: ((notification: NotificationMessage) => void) | undefined
  /**
   * Notifies the peer when the request is cancelled. Default: true; false for the handshake, which must not be
   * cancelled.
   */
  announceCancel?: boolean | undefined
}

/** The record of a legacy session. */
export interface SessionState {
  /** The negotiated revision; absent before the handshake. */
  revision?: Revision
  /** The client has sent `notifications/initialized`. */
  initialized?: boolean
  /** Name and version of the client. */
  clientInfo?: Implementation
  /** The capabilities that the client declared in `initialize`. */
  clientCapabilities?: ClientCapabilities
  /** Log messages below this level are not sent. */
  logLevel?: LoggingLevel
  /** URIs of the resources that the client has subscribed to. */
  subscriptions?: string[]
  /** The principal that opened the session; no other principal may use it. */
  subject?: string
}

/** A legacy session: its record, and a way to send requests to the peer. It is loaded for one message and not kept. */
export interface Session {
  /** The id of the session. */
  readonly id: string
  /** The record as it was when it was last loaded. */
  readonly state: Readonly<SessionState>
  /**
   * Changes the record where it is stored and refreshes `state`. The callback is called with the newest record, changes it
   * in place, and may be called more than once.
   */
  update(change: (state: SessionState) => void): Awaitable<void>
  /**
   * Sends a request to the peer. Rejects with `RpcError` for an error response, with `ConnectionError` without a
   * response.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
}

/** The HTTP request below the protocol. Absent without HTTP. */
export interface RequestInfo {
  /** The headers, without those that carry credentials. */
  readonly headers: Headers
  /** The complete URL. */
  readonly url: string
}

/** One received message: everything that is needed to answer it, and nothing that outlives it. */
export interface Exchange {
  /** Fires when the response is no longer wanted. Created when it is first read. */
  readonly signal: AbortSignal
  /**
   * Registers the one listener that is called once when the exchange ends before its response was sent: with `true` when
   * the transport shuts down and can still deliver the response, with `false` when the response is no longer wanted. It is
   * called at once if that has happened already. Cheaper than `signal` for thousands of open streams. Optional: a
   * transport may support `signal` alone.
   */
  onClose?(listener: (graceful: boolean) => void): void
  /** The caller, as established by the transport; never taken from the message. */
  readonly auth: AuthInfo | undefined
  /** The session of this message; legacy era only. */
  readonly session: Session | undefined
  /** The HTTP request that carried the message; undefined without HTTP. */
  readonly requestInfo: RequestInfo | undefined
  /**
   * The envelope of a modern request, parsed once by the transport that read the message; the server parses the message
   * when it is absent. A responder that changes the `_meta` of a message must pass an exchange without it.
   */
  readonly envelope?: Envelope | undefined
  /**
   * Sends a notification before the response. Resolves when the transport can accept more: await it to send no faster
   * than the peer reads. Has no effect once the exchange has ended.
   */
  notify(method: string, params?: JsonObject): Awaitable<void>
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Has no effect when the client
   * cannot resume. Optional: only transports with resumable streams have it.
   */
  closeStream?(): void
  /**
   * The options of the request of this side on whose stream the message came. Absent where it came on no such stream,
   * and where the transport has one stream for all requests, as pipes have.
   */
  readonly during?: RequestOptions | undefined
  /**
   * Stops the clocks of the requests of this side that the message may belong to, until the returned function is called:
   * of the request on whose stream it came, else of all that wait. For requests that people answer, who take their time.
   */
  hold?(): () => void
}

/** Answers messages. One object serves any number of connections at once; a server is one. */
export interface Responder {
  /**
   * Whether the peer must get no response now, neither to requests nor to malformed messages: servers of the modern era
   * must not send requests, and their clients must not answer them. Default: false.
   */
  readonly silent?: boolean | undefined
  /**
   * Whether legacy revisions are served. If false, a transport opens no sessions and refuses requests for one. Default: true.
   */
  readonly legacy?: boolean | undefined
  /**
   * Answers one message: returns a response to a request, undefined for a notification. A cancelled request may be
   * answered; the transport drops the response. Anything thrown is masked and reported.
   */
  respond(message: RequestMessage | NotificationMessage, exchange: Exchange): Awaitable<ResponseMessage | undefined>
  /**
   * Sends a session its notifications (list changes, resource updates, logs) until the returned function is called. The
   * transport calls it once the session is ready. A promise from `send` means that there is no room for more until it
   * resolves; it never rejects. Nothing is sent before `watchChanges` has returned.
   */
  watchChanges?(session: Session, send: (message: NotificationMessage) => Awaitable<void>): () => void
  /**
   * Called when a session has ended, with its connection or at the request of its client. Not called for a session that
   * only expired.
   */
  sessionEnded?(session: Session): Awaitable<void>
  /**
   * Returns the input schema of a tool, for transports that mirror arguments in headers: its `x-mcp-header` annotations
   * name the headers that must equal the body. Undefined for a tool that this caller cannot see, and possibly for a tool
   * without such annotations. Called before each call, so it has to be cheap; an unchanged schema is the same object.
   * Never throws.
   */
  inputSchemaOf?(name: string, exchange: Exchange): Awaitable<JsonSchema | undefined>
}
