/** The way back for one inbound message, and who it came from. */

import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../jsonrpc/message.ts'
import type { AuthInfo } from './auth-info.ts'
import type { Awaitable } from './awaitable.ts'
import type { JsonSchema } from './json-schema.ts'
import type { RequestOptions } from './requester.ts'
import type { Session } from './session.ts'

/** What the carrier knows of the request below the protocol. Absent where there is no HTTP. */
export interface RequestInfo {
  readonly headers: Headers
  readonly url: string
}

/** One inbound message: everything its answering needs, and nothing that outlives it. */
export interface Exchange {
  /** Fires when the answer is no longer wanted. Created when it is first read. */
  readonly signal: AbortSignal
  /**
   * Registers the one listener that is called once when the exchange ends before its response was sent: with `true` when
   * the transport shuts down and can still deliver the response, with `false` when the response is no longer wanted. It is
   * called at once if that has happened already. Cheaper than `signal` for thousands of open streams. Optional: a
   * transport may support `signal` alone.
   */
  onClose?(listener: (graceful: boolean) => void): void
  /** Who is asking, as established by the carrier; never taken from the message. */
  readonly auth: AuthInfo | undefined
  /** The session this message belongs to; legacy era only. */
  readonly session: Session | undefined
  readonly requestInfo: RequestInfo | undefined
  /**
   * Says something before the answer. Resolves when the carrier can take more: await it to go no faster than
   * the peer reads. Does nothing once the exchange has ended.
   */
  notify(method: string, params?: JsonObject): Awaitable<void>
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Does nothing when the client could
   * not resume. Optional: only transports with resumable streams have it.
   */
  closeStream?(): void
  /**
   * The options of the request of this side on whose stream the message came. Absent where it came on no such stream,
   * and where the carrier has one stream for all, as pipes have.
   */
  readonly during?: RequestOptions | undefined
  /**
   * Stops the clocks of the requests of this side that the message may be about, until the returned function is called:
   * of the one that it came with, else of all that wait. For what a peer asks of people, who take their time.
   */
  hold?(): () => void
}

/** What answers messages. One object serves any number of connections at once; a server is one. */
export interface Responder {
  /**
   * Whether the peer must get no response of any kind now, be it to a request or to what is malformed: the servers of the
   * modern era must not ask, and their clients must not answer. Default: false.
   */
  readonly silent?: boolean | undefined
  /**
   * Whether peers of the revisions that have sessions are answered. A carrier offers no sessions where it is false, and
   * says so to whoever asks for one. Default: true.
   */
  readonly legacy?: boolean | undefined
  /**
   * Answers one message: a response for a request, nothing for a notification. A request that was cancelled
   * may be answered; the carrier drops the answer. A throw is a fault: it is masked and reported.
   */
  respond(message: RequestMessage | NotificationMessage, exchange: Exchange): Awaitable<ResponseMessage | undefined>
  /**
   * Tells a session unasked what there is to tell, until the returned function is called: list changes, resource updates,
   * logs. A carrier calls it once the session is ready, and takes what is told in its own way. A promise from `tell` means
   * that there is no room for more until it resolves; it never rejects. Nothing is told before `watchChanges` has returned.
   */
  watchChanges?(session: Session, tell: (message: NotificationMessage) => Awaitable<void>): () => void
  /**
   * A session has ended: with its connection, or because its client said so. One that is only forgotten, when its
   * time to live is over, is not told of.
   */
  sessionEnded?(session: Session): Awaitable<void>
  /**
   * The input schema of a tool, for carriers that mirror arguments in headers: they learn from its `x-mcp-header` which
   * headers must say the same as the body. Nothing for a name that is not in the lists of this caller; it may be
   * nothing for a tool of which nothing travels in headers. It is asked before each call, so it has to be cheap; a
   * schema that has not changed is the same object. Never throws.
   */
  inputSchemaOf?(name: string, exchange: Exchange): Awaitable<JsonSchema | undefined>
}
