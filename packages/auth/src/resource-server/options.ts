/** What can be set on a guard that takes tokens. */

import type { AuthInfo, Awaitable } from '@mcpx/protocol'
import type { Fetch } from '../json-document.ts'
import type { TrustedIssuer } from './authorization-server.ts'
import type { Claims } from './claims.ts'
import type { IntrospectionOptions } from './introspection.ts'
import type { ResourceMetadata } from './metadata.ts'
import type { DpopOptions } from './possession.ts'
import type { RefusalReason } from './refusal.ts'
import type { Implies } from './scopes.ts'

/** A request that was refused, to be logged or counted. It holds nothing of its credentials. */
export interface RefusedRequest {
  readonly reason: RefusalReason
  /** What was wrong, in words. */
  readonly description: string
  readonly status: number
}

export interface BearerOptions {
  /**
   * The URL of this server, as its clients know it: tokens must be for it. Others may be named besides, such as the
   * names that an authorization server knows this server by.
   */
  readonly audience: string | readonly [string, ...string[]]
  /** The authorization server whose tokens are taken: its metadata leads to its keys. */
  readonly issuer?: string | TrustedIssuer | undefined
  /** Several of them. */
  readonly issuers?: readonly (string | TrustedIssuer)[] | undefined
  /** Asks the authorization server about tokens that are no JWTs of a known issuer. */
  readonly introspection?: IntrospectionOptions | undefined
  /**
   * Checks tokens that none of the others knows; nothing for one that is not good. It has to see that the token is for
   * this server.
   */
  readonly verify?: ((token: string, request: Request) => Awaitable<AuthInfo | undefined>) | undefined
  /** The scopes that any request needs. They are announced in metadata and challenges. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** Scopes that hold others, such as `{ admin: ['read', 'write'] }`, over any number of steps. Default: none do. */
  readonly implies?: Implies | undefined
  /** Finds the scopes of a token. Default: `scope`, else `scp`, as a text or a list. */
  readonly scopesIn?: ((claims: Claims) => readonly string[]) | undefined
  /** The algorithms of tokens; never one with a shared secret. Default: all that need no secret here. */
  readonly algorithms?: readonly string[] | undefined
  /** How far clocks may be apart, in seconds. Default: 30. */
  readonly clockTolerance?: number | undefined
  /** How proofs of possession are checked; `required`: there must be one; `false`: bound tokens are refused. Default: `optional`. */
  readonly dpop?: DpopOptions | 'optional' | 'required' | false | undefined
  /** More for the metadata of this server. Its issuers default to those above. */
  readonly metadata?: Partial<Omit<ResourceMetadata, 'resource'>> | undefined
  /** Fetches metadata and keys, and asks about tokens. Default: the global one. */
  readonly fetch?: Fetch | undefined
  /** How long each answer of an authorization server may take, in ms. Default: 5,000. */
  readonly timeout?: number | undefined
  /** How long keys and metadata are taken for new, in ms. Default: 600,000. */
  readonly maxAge?: number | undefined
  /**
   * How long a JWT that was found good is taken for good without another look at its signature, in ms; never beyond its
   * end, nor longer than `maxAge`. Up to 1,000 tokens are remembered, by their digests. 0: none. Default: 60,000.
   */
  readonly keepVerified?: number | undefined
  /** How long to wait before keys are fetched again for a token whose key is not known, or after a failure, in ms. Default: 30,000. */
  readonly cooldown?: number | undefined
  /** Called with each refused request. Default: none. */
  readonly onRefused?: ((refused: RefusedRequest, request: Request) => void) | undefined
  /** Called with problems on this side, such as keys that cannot be fetched. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}
