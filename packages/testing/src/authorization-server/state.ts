/** The state of a server: its clients, its keys, and everything that it has issued. */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK, SignJWT } from 'jose'
import type { Client } from './clients.ts'
import type { OAuthError } from './http.ts'
import type { DevAuthorizationServerOptions } from './options.ts'

/** The rights that a client has received, from a user or for itself. */
export interface Grant {
  readonly subject: string
  readonly clientId: string | undefined
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
  /** The thumbprint of the key that the tokens are bound to. */
  readonly jkt?: string | undefined
  /** Identifies all tokens of one login, which are revoked together. */
  readonly family: string
}

export interface AuthorizationCode extends Grant {
  readonly redirectUri: string
  /** The PKCE challenge. */
  readonly challenge: string
  readonly nonce: string | undefined
  used: boolean
}

/** An access token. Times are in seconds since 1970. */
export interface AccessToken extends Grant {
  readonly issuedAt: number
  readonly expiresAt: number
}

export interface RefreshToken extends Grant {
  used: boolean
}

export interface ServerState {
  readonly options: DevAuthorizationServerOptions
  readonly issuer: URL
  readonly keys: SigningKeys
  /** Registered clients by id. */
  readonly clients: Map<string, Client>
  /**
   * Used codes and refresh tokens are kept, so that a second use is detected: until they expire, or until the map is
   * full.
   */
  readonly codes: ExpiringMap<AuthorizationCode>
  readonly accessTokens: ExpiringMap<AccessToken>
  readonly refreshTokens: ExpiringMap<RefreshToken>
  readonly revokedFamilies: ExpiringMap<true>
  /** Ids of assertions and proofs, each of which may be used once. */
  readonly usedIds: ExpiringMap<true>
  /**
   * The DPoP nonce. It is created when it is first needed, because workers allow no random numbers while modules are
   * loaded.
   */
  nonce: string | undefined
}

export function createState(
  options: DevAuthorizationServerOptions,
  issuer: URL,
  clients: Map<string, Client>,
): ServerState {
  return {
    options,
    issuer,
    keys: new SigningKeys(options.issuer),
    clients,
    codes: new ExpiringMap(),
    accessTokens: new ExpiringMap(),
    refreshTokens: new ExpiringMap(),
    revokedFamilies: new ExpiringMap(),
    usedIds: new ExpiringMap(),
    nonce: undefined,
  }
}

/** Returns the URL of an endpoint, which is below the issuer. */
export function endpointUrl({ options }: ServerState, name: string): string {
  return `${options.issuer.replace(/\/$/, '')}/${name}`
}

/** How long ids of assertions and proofs are stored, in ms. This is longer than they are valid. */
const USED_ID_TTL = 10 * 60_000

/** Throws if an id is used for the second time. */
export function useOnce({ usedIds }: ServerState, id: string, problem: () => OAuthError): void {
  if (usedIds.get(id) !== undefined) throw problem()
  usedIds.set(id, true, USED_ID_TTL)
}

/** How long refresh tokens are valid and revoked logins are remembered, in ms. */
export const REFRESH_TTL = 30 * 24 * 3_600_000

/** Revokes all tokens of one login. */
export function revokeFamily({ revokedFamilies }: ServerState, { family }: Grant): void {
  revokedFamilies.set(family, true, REFRESH_TTL)
}

const MAX_ENTRIES = 10_000

/** A map with expiring entries. With 10,000 entries, a new entry removes the oldest one. */
class ExpiringMap<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly expiresAt: number }>()

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.expiresAt > Date.now() ? entry.value : undefined
  }

  /** @param ttl Time to live, in ms. */
  set(key: string, value: V, ttl: number): void {
    const now = Date.now()
    this.#entries.delete(key)
    for (const [oldest, { expiresAt }] of this.#entries) {
      if (expiresAt > now && this.#entries.size < MAX_ENTRIES) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { value, expiresAt: now + ttl })
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }
}

const ALGORITHM = 'ES256'

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

export class SigningKeys {
  readonly #issuer: string
  /** The keys, the newest first. The first key is created when it is needed. */
  #keys: Promise<readonly SigningKey[]> | undefined

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  async jwks(): Promise<JSONWebKeySet> {
    return { keys: (await this.#load()).map(({ publicJwk }) => publicJwk) }
  }

  /** Replaces the signing key. With `drop`, also removes the old keys from `jwks`. */
  async rotate(drop: boolean): Promise<void> {
    const [key, old] = await Promise.all([createKey(), this.#load()])
    this.#keys = Promise.resolve(drop ? [key] : [key, ...old])
  }

  /**
   * Signs a JWT. A claim replaces the standard claim with the same name. A claim that is undefined is left out.
   *
   * @param ttl Lifetime, in ms.
   */
  async sign(claims: Readonly<Record<string, unknown>>, typ: string, ttl: number): Promise<string> {
    const [{ kid, privateKey }] = (await this.#load()) as [SigningKey]
    const issuedAt = Math.floor(Date.now() / 1000)
    const standard = { iss: this.#issuer, jti: crypto.randomUUID(), iat: issuedAt, exp: issuedAt + ttl / 1000 }
    return new SignJWT({ ...standard, ...claims }).setProtectedHeader({ alg: ALGORITHM, kid, typ }).sign(privateKey)
  }

  #load(): Promise<readonly SigningKey[]> {
    this.#keys ??= createKey().then((key) => [key])
    return this.#keys
  }
}

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return { kid, privateKey, publicJwk: { ...jwk, kid, alg: ALGORITHM, use: 'sig' } }
}
