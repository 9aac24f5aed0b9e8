/** The interface of a flow. A flow obtains tokens, for example with an authorization code. */

import type { Discovery } from './discovery.ts'
import type { DpopKey } from './dpop.ts'
import type { Connection } from './requests.ts'
import type { AuthStore } from './store.ts'
import type { Client, TokenResponse } from './token-endpoint.ts'

/** One login or refresh. */
export interface FlowContext {
  readonly connection: Connection
  readonly discovery: Discovery
  readonly store: AuthStore
  readonly dpop: DpopKey | undefined
  /** The id of the client that the stored tokens were issued to. */
  readonly clientId: string | undefined
  /** Aborted when no caller is waiting any more. */
  readonly signal: AbortSignal
}

export interface FlowResult {
  readonly client: Client
  readonly response: TokenResponse
}

export interface Flow {
  /** Whether a user has to log in. If so, a failed login is not repeated at once. */
  readonly interactive: boolean
  /** Distinguishes the tokens of clients that share a store. */
  readonly kind: string
  /** Whether the client only works with the authorization server of its first login. */
  readonly bound: boolean
  /** Returns the client if it is known without a registration. */
  client(context: FlowContext): Promise<Client | undefined>
  /** Obtains tokens with a new login, not with a refresh. */
  start(context: FlowContext, scope: readonly string[]): Promise<FlowResult>
  /** Called when the authorization server no longer knows the client. */
  forgetClient?(context: FlowContext): Promise<void>
}
