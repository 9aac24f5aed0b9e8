/** What tells one way of getting tokens from another. */

import type { Client } from './client-authentication.ts'
import type { Discovery } from './discovery.ts'
import type { Prover } from './dpop.ts'
import type { Link } from './link.ts'
import type { AuthStore } from './store.ts'
import type { Grant } from './token-endpoint.ts'

/** All that a flow may know of one attempt. */
export interface Attempt {
  /** The server of the protocol. */
  readonly url: URL
  readonly link: Link
  readonly found: Discovery
  readonly store: AuthStore
  readonly prover: Prover | undefined
  /** Whom the tokens that are kept were given to. */
  readonly clientId: string | undefined
  /** Fires when nobody wants the tokens any more. */
  readonly signal: AbortSignal
}

export interface Obtained {
  readonly client: Client
  readonly grant: Grant
}

export interface Flow {
  /** A user is asked, who shall not be asked over and over. */
  readonly interactive: boolean
  /** Tells apart clients that share a store. */
  readonly kind: string
  /** The issuer of the last time is the only one that will do. */
  readonly bound: boolean
  /** Who the client is, where that is known without asking anybody. */
  client(attempt: Attempt): Promise<Client | undefined>
  /** Gets tokens anew. */
  obtain(attempt: Attempt, scope: readonly string[]): Promise<Obtained>
  /** The server no longer knows the client. */
  forget?(attempt: Attempt): Promise<void>
}
