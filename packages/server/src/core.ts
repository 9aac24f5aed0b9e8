/** What the eras share of a server: what it is, what it can do, and how a request is run. */

import type { Awaitable, Context, Handler, Implementation, ServerCapabilities } from '@mcpx/protocol'
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

export interface Core {
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
