/** Verifies a token and returns its caller: with the keys of its issuer, with introspection, or with a function of the user. */

import { type AuthInfo, refuseUnknownOption } from '@mcpx/protocol'
import { secureUrl } from '../urls.ts'
import type { BearerOptions } from './bearer.ts'
import { type Claims, CredentialsError } from './credentials.ts'
import { sha256 } from './dpop.ts'
import { ExpiringMap } from './expiring-map.ts'
import { createIntrospection } from './introspection.ts'
import {
  type CachedDocument,
  checkNumber,
  createIssuerKeys,
  createIssuerMetadata,
  type FetchSettings,
  type IssuerMetadata,
  type TrustedIssuer,
} from './issuers.ts'
import { ALGORITHMS, claimedIssuer, type JwtRules, verifyJwt } from './jwt.ts'
import { type ScopeHierarchy, scopesOf } from './scopes.ts'

/** The prefix of the subject for tokens that name a client but no subject. */
const MACHINE_PREFIX = 'client:'

/** Returns the caller. Rejects with `CredentialsError` for a token that is not accepted. */
export type VerifyToken = (token: string, request: Request) => Promise<AuthInfo>

export function trustedIssuers({ issuer, issuers = [] }: BearerOptions): readonly TrustedIssuer[] {
  const all = issuer === undefined ? issuers : [issuer, ...issuers]
  return all.map((each) => (typeof each === 'string' ? { issuer: each } : each))
}

/** @throws RangeError for options that cannot work */
export function createVerification(
  options: BearerOptions,
  audiences: readonly string[],
  hierarchy: ScopeHierarchy,
): VerifyToken {
  const { introspection, verify, clockTolerance = 30_000, readScopes = scopesOf } = options
  const { maxAge = 600_000, verifiedMaxAge = 60_000 } = options
  const trusted = trustedIssuers(options)
  if (trusted.length === 0 && introspection === undefined && verify === undefined) {
    throw new RangeError('bearer: expected an issuer, introspection, or verify; nothing else can check tokens')
  }
  // Comparisons with NaN are false. With NaN, expired tokens would be accepted.
  if (!(clockTolerance >= 0 && clockTolerance < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`clockTolerance: expected a number of ms from 0, got ${clockTolerance}`)
  }
  const { timeout = 5_000, cooldown = 30_000 } = options
  for (const [name, value] of Object.entries({ maxAge, verifiedMaxAge, timeout, cooldown })) {
    checkNumber(name, 'a number of ms', value)
  }
  const settings: FetchSettings = {
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout,
    maxAge,
    cooldown,
    onWarning: options.onWarning ?? (() => {}),
  }
  const issuers = new Map(trusted.map((each) => [each.issuer, prepareIssuer(each)]))
  if (issuers.size < trusted.length) throw new RangeError('issuers: expected different issuers, got one twice')
  const [first] = issuers.values()
  const rules = { audiences, clockTolerance, issuer: first?.issuer, metadata: first?.metadata }
  const introspect: ((token: string) => Promise<Claims>) | undefined =
    introspection === undefined ? undefined : createIntrospection(introspection, rules, settings)
  const verifyIssued = cacheVerified(
    async (token, rules) => toAuthInfo(await verifyJwt(token, rules)),
    Math.min(verifiedMaxAge, maxAge),
  )

  function prepareIssuer(each: TrustedIssuer): JwtRules & { readonly metadata: CachedDocument<IssuerMetadata> } {
    refuseUnknownOption('issuers', each, ['issuer', 'jwks', 'jwksUri', 'algorithms'])
    const { issuer, jwksUri, algorithms = options.algorithms ?? ALGORITHMS } = each
    secureUrl(issuer, 'issuer')
    if (jwksUri !== undefined) secureUrl(jwksUri, 'issuer.jwksUri')
    const unusable = algorithms.find((algorithm) => !ALGORITHMS.includes(algorithm))
    if (unusable !== undefined) {
      throw new RangeError(`algorithms: expected algorithms without a shared secret, got ${JSON.stringify(unusable)}`)
    }
    const metadata = createIssuerMetadata(issuer, settings)
    const keys = createIssuerKeys(each, metadata, settings)
    return { issuer, keys, audiences, algorithms, clockTolerance, metadata }
  }

  function toAuthInfo(claims: Claims): AuthInfo {
    const clientId = nonEmpty(claims.client_id) ?? nonEmpty(claims.azp) ?? nonEmpty(claims.cid)
    const subject = subjectOf(claims, clientId)
    // An expired token is accepted within `clockTolerance`.
    const expiresAt = typeof claims.exp === 'number' ? claims.exp + clockTolerance / 1_000 : undefined
    const scopes = Object.freeze([...hierarchy.expand(readScopes(claims))])
    // Frozen, because one token may serve several requests.
    return Object.freeze({ subject, issuer: nonEmpty(claims.iss), clientId, scopes, expiresAt, claims: freeze(claims) })
  }

  /**
   * Returns the claims of a token from introspection. Returns undefined if introspection is not configured, or if the
   * token is inactive and there is a `verify` function, which may accept it.
   */
  async function introspectedClaims(token: string): Promise<Claims | undefined> {
    try {
      return await introspect?.(token)
    } catch (error) {
      const isInactive = error instanceof CredentialsError && error.reason === 'inactive'
      if (verify === undefined || !isInactive) throw error
      return undefined
    }
  }

  return async (token, request) => {
    const claimed = claimedIssuer(token)
    const rules = issuers.get(claimed ?? '')
    // A token of a known issuer is verified only with the keys of this issuer.
    if (rules !== undefined && introspection?.tokens !== 'all') return verifyIssued(token, rules)
    const claims = await introspectedClaims(token)
    if (claims !== undefined) return toAuthInfo(claims)
    if (verify === undefined) throw unknownToken(claimed)
    const auth = await verify(token, request)
    if (auth === undefined) throw new CredentialsError('unknown', 'the token is unknown')
    return { ...auth, scopes: hierarchy.expand(auth.scopes) }
  }
}

/**
 * Returns the subject. If a token names only a client, returns the client id with a prefix. No user can have this
 * prefix.
 */
function subjectOf(claims: Claims, clientId: string | undefined): string {
  const subject = nonEmpty(claims.sub)
  const machine = clientId === undefined ? undefined : `${MACHINE_PREFIX}${clientId}`
  if (subject?.startsWith(MACHINE_PREFIX) && subject !== machine) {
    throw new CredentialsError('claims', `the subject of the token begins with ${MACHINE_PREFIX} but is not its client`)
  }
  if (subject !== undefined) return subject
  if (machine === undefined) throw new CredentialsError('claims', 'the token names neither a subject nor a client')
  return machine
}

function unknownToken(issuer: string | undefined): CredentialsError {
  return issuer === undefined
    ? new CredentialsError('not_a_token', 'the token is not a JWT of a known issuer')
    : new CredentialsError('unknown_issuer', 'the token is from another issuer')
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function freeze<T>(json: T): T {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return json
  for (const member of Object.values(json)) freeze(member)
  return Object.freeze(json)
}

/** How many verified tokens are cached. Above this number, the oldest token is dropped. */
const MAX_VERIFIED = 1_000

/**
 * Caches the callers of verified tokens, because computing a digest takes less time than verifying a signature. Refused
 * tokens are not cached.
 *
 * @param maxAge how long a token is cached, in ms; at most until its expiry
 */
function cacheVerified(
  verify: (token: string, rules: JwtRules) => Promise<AuthInfo>,
  maxAge: number,
): (token: string, rules: JwtRules) => Promise<AuthInfo> {
  if (maxAge <= 0) return verify
  const cache = new ExpiringMap<AuthInfo>(MAX_VERIFIED)
  const ageOf = ({ expiresAt }: AuthInfo) =>
    expiresAt === undefined ? maxAge : Math.min(expiresAt * 1_000 - Date.now(), maxAge)
  // The cache contains only digests, from which no token can be recovered.
  return async (token, rules) => cache.load(await sha256(token), () => verify(token, rules), ageOf)
}
