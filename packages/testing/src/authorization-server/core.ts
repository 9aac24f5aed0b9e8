/** What the endpoints of a development server share: its clients, its keys, and what it has issued. */

import { type Clients, createClients, type KnownClient } from './clients.ts'
import { createExpiringMap, type ExpiringMap } from './expiring-map.ts'
import { createSigningKeys, type SigningKeys } from './keys.ts'
import type { DevAuthorizationServerOptions } from './options.ts'

/** What somebody was granted. */
export interface Grant {
  readonly subject: string
  readonly clientId: string | undefined
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
  /** The key that the tokens are bound to. */
  readonly jkt?: string | undefined
  /** All tokens that come of one consent: they are revoked together. */
  readonly family: string
}

export interface Code extends Grant {
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string | undefined
}

export interface IssuedToken extends Grant {
  readonly token: string
  readonly issuedAt: number
  readonly expiresAt: number
}

export interface Core {
  readonly options: DevAuthorizationServerOptions
  readonly issuer: string
  readonly keys: SigningKeys
  readonly clients: Clients
  /** Those that were used up stay until they would have ended, as refresh tokens do. */
  readonly codes: ExpiringMap<Code & { used: boolean }>
  readonly accessTokens: ExpiringMap<IssuedToken>
  /** Those that were used up stay for as long as they were valid: one that comes again was stolen. */
  readonly refreshTokens: ExpiringMap<Grant & { used: boolean }>
  readonly revokedFamilies: ExpiringMap<true>
  /** The ids of assertions and proofs: each is good for one use. */
  readonly seen: ExpiringMap<true>
  /** Drawn when it is first needed: some runtimes have no randomness while they load modules. */
  nonce: string | undefined
}

/** What a grant is asked by. */
export interface TokenRequest {
  readonly core: Core
  readonly form: URLSearchParams
  readonly client: KnownClient | undefined
  /** The key that the tokens are to be bound to. */
  readonly jkt: string | undefined
}

const MANY = 10_000

export function createCore(options: DevAuthorizationServerOptions, issuer: URL): Core {
  return {
    options,
    issuer: options.issuer,
    keys: createSigningKeys(options.issuer),
    clients: createClients(options, issuer),
    codes: createExpiringMap(MANY, 'forget-oldest'),
    accessTokens: createExpiringMap(MANY, 'forget-oldest'),
    refreshTokens: createExpiringMap(MANY, 'forget-oldest'),
    revokedFamilies: createExpiringMap(MANY, 'forget-oldest'),
    seen: createExpiringMap(MANY, 'refuse'),
    nonce: undefined,
  }
}

/** Below the issuer, whether or not it ends with a slash. */
export function endpoint({ issuer }: Core, name: string): string {
  return `${issuer.replace(/\/$/, '')}/${name}`
}
