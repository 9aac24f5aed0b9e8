/** What the eras share of a server: what it is, what it can do, and how a request is run. */

import type {
  Awaitable,
  Context,
  Exchange,
  Handler,
  Implementation,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  Revision,
  Schema,
  ServerCapabilities,
  Session,
} from '@mcpx/protocol'
import type { Audience } from './audience.ts'
import type { Faults } from './faults.ts'
import type { ServerRequest } from './middleware.ts'
import type { RequestState } from './request-state.ts'

export interface ServerLimits {
  /** How many `subscriptions/listen` streams may be open at once. Default: 1,000. */
  readonly listens: number
  /** How many URIs one session or stream may watch. Default: 1,000. */
  readonly subscriptions: number
  /** How often one call may come back with questions. Default: 16. */
  readonly rounds: number
}

export const SERVER_LIMITS: ServerLimits = { listens: 1_000, subscriptions: 1_000, rounds: 16 }

export interface Core<Ways = unknown> {
  readonly wire: Wire<Ways>
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly handler: Handler
  readonly capabilities: ServerCapabilities
  /** Whether log messages are declared: what is not declared must not be sent. */
  readonly isLogging: boolean
  readonly requestState: RequestState
  readonly limits: ServerLimits
  readonly faults: Faults
  /** Fires when the server is being shut down; its reason is nothing that clients see. */
  readonly closing: () => AbortSignal
  /** Whether peers of the legacy era are served. */
  readonly servesLegacy: boolean
  /** Runs a request through the middleware and the handler. */
  run(request: ServerRequest, ctx: Context): Awaitable<object>
  /** Those who are told of changes. */
  readonly audience: Audience
}

/** What is known of the parameters of a method that a revision has. */
export type ParamsOf = (revision: Revision, method: string) => Schema<unknown> | undefined

/**
 * What a server does for the peers of the eras that it serves. `Ways` is how each of these asks clients; an era knows its
 * own.
 */
export interface Wire<Ways = unknown> {
  readonly ways: Ways
  /** The shapes of the parameters of requests, as far as they are to be checked. */
  readonly paramsOf: ParamsOf
  answer(message: RequestMessage, exchange: Exchange, core: Core<Ways>): Awaitable<ResponseMessage | undefined>
  /** Takes a notification. Absent where none means anything. */
  hear?(message: NotificationMessage, exchange: Exchange, core: Core<Ways>): Awaitable<undefined>
  /** What a session is told unasked. Absent in an era without sessions, as is the next. */
  changes?(session: Session, tell: (message: NotificationMessage) => Awaitable<void>, core: Core): () => void
  /** Undoes what a session has had the handler do. */
  ended?(session: Session, core: Core): Awaitable<void>
}
