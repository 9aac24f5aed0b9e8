/** A way to obtain tokens, such as the authorization code flow, and what it works with. */

import type { Discovery } from './discovery.ts'
import type { DpopKey } from './dpop.ts'
import type { Connection } from './requests.ts'
import type { AuthStore } from './store.ts'
import type { Client, TokenResponse } from './token-endpoint.ts'

/** One login or refresh. */
export interface FlowContext {
  /** The URL of the MCP server. */
  readonly serverUrl: URL
  readonly connection: Connection
  readonly discovery: Discovery
  readonly store: AuthStore
  readonly dpop: DpopKey | undefined
  /** The id of the client that the stored tokens were issued to. */
  readonly clientId: string | undefined
  /** Fires when no caller waits any more. */
  readonly signal: AbortSignal
}

export interface FlowResult {
  readonly client: Client
  readonly response: TokenResponse
}

export interface Flow {
  /** A user is asked to log in, who must not be asked again and again. */
  readonly interactive: boolean
  /** Distinguishes the tokens of clients that share a store. */
  readonly kind: string
  /** The client works with the authorization server of its first login only. */
  readonly bound: boolean
  /** Returns the client if it is known without a registration. */
  client(context: FlowContext): Promise<Client | undefined>
  /** Obtains tokens from the beginning. */
  start(context: FlowContext, scope: readonly string[]): Promise<FlowResult>
  /** Called when the authorization server no longer knows the client. */
  forgetClient?(context: FlowContext): Promise<void>
}
