/** Finds out whom a token stands for: by the keys of its issuer, by asking, or by a function of the user's. */

import type { AuthInfo } from '@mcpx/protocol'
import { secureUrl } from '../secure-url.ts'
import { createKeys, createMetadata, type Fetching, type Metadata, type TrustedIssuer } from './authorization-server.ts'
import { type ClaimRules, toAuthInfo } from './claims.ts'
import { createIntrospection, type Introspect } from './introspection.ts'
import { ALGORITHMS, claimedIssuer, type JwtRules, verifyJwt } from './jwt.ts'
import type { KeptDocument } from './kept-document.ts'
import type { BearerOptions } from './options.ts'
import { CredentialsError } from './refusal.ts'
import type { Hierarchy } from './scopes.ts'
import { rememberVerified } from './verified-tokens.ts'

export type Verify = (token: string, request: Request) => Promise<AuthInfo>

export interface VerificationRules {
  readonly audiences: readonly string[]
  readonly hierarchy: Hierarchy
}

export function trustedIssuers({ issuer, issuers = [] }: BearerOptions): readonly TrustedIssuer[] {
  const all = issuer === undefined ? issuers : [issuer, ...issuers]
  return all.map((each) => (typeof each === 'string' ? { issuer: each } : each))
}

export function createVerification(options: BearerOptions, { audiences, hierarchy }: VerificationRules): Verify {
  const { introspection, verify, algorithms = ALGORITHMS, clockTolerance = 30, scopesIn } = options
  const trusted = trustedIssuers(options)
  if (trusted.length === 0 && introspection === undefined && verify === undefined) {
    throw new RangeError('bearer: expected an issuer, introspection, or verify; nothing else can check tokens')
  }
  const fetching = fetchingOf(options)
  const metadata = new Map(trusted.map(({ issuer }) => [issuer, createMetadata(issuer, fetching)]))
  if (metadata.size < trusted.length) throw new RangeError('issuers: one is there twice')
  const rules = new Map(trusted.map((each) => [each.issuer, jwtRules(each)]))
  const claimRules: ClaimRules = { hierarchy, clockTolerance, scopesIn }
  const first = trusted[0]?.issuer
  const introspect: Introspect | undefined =
    introspection &&
    createIntrospection(
      introspection,
      { audiences, clockTolerance, issuer: first, metadata: first === undefined ? undefined : metadata.get(first) },
      fetching,
    )
  const asksAboutAll = introspection?.tokens === 'all'
  const keep = Math.min(keepVerifiedOf(options), fetching.maxAge)
  const signed = rememberVerified(async (token) => {
    const own = rules.get(claimedIssuer(token) ?? '') as JwtRules
    return toAuthInfo(await verifyJwt(token, own), claimRules)
  }, keep)

  function jwtRules(each: TrustedIssuer): JwtRules {
    secureUrl(each.issuer, 'issuer')
    if (each.jwksUri !== undefined) secureUrl(each.jwksUri, 'issuer.jwksUri')
    const own = each.algorithms ?? algorithms
    const weak = own.find((algorithm) => !ALGORITHMS.includes(algorithm))
    if (weak !== undefined)
      throw new RangeError(`algorithms: ${JSON.stringify(weak)} is none that needs no secret here`)
    const keys = createKeys(each, metadata.get(each.issuer) as KeptDocument<Metadata>, fetching)
    return { issuer: each.issuer, keys, audiences, algorithms: own, clockTolerance }
  }

  return async (token, request) => {
    const issuer = claimedIssuer(token)
    // A token of a known issuer is checked by that issuer's keys and nothing else: what they refuse stays refused.
    if (issuer !== undefined && rules.has(issuer) && !asksAboutAll) return signed(token)
    if (introspect !== undefined) {
      const answer = await introspect(token).catch((error: unknown) => {
        if (verify === undefined || !isUnknown(error)) throw error
      })
      if (answer !== undefined) return toAuthInfo(answer, claimRules)
    }
    if (verify === undefined) throw unknownToken(issuer)
    const auth = await verify(token, request)
    if (auth === undefined) throw new CredentialsError('unknown', 'the token is not known here')
    return { ...auth, scopes: hierarchy.whole(auth.scopes) }
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof CredentialsError && error.reason === 'inactive'
}

function unknownToken(issuer: string | undefined): CredentialsError {
  if (issuer === undefined) return new CredentialsError('not_a_token', 'the token is no JWT of an issuer known here')
  return new CredentialsError('unknown_issuer', 'the token is of another issuer')
}

function keepVerifiedOf({ keepVerified = 60_000 }: BearerOptions): number {
  if (keepVerified >= 0) return keepVerified
  throw new RangeError(`keepVerified: expected a number of ms from 0, got ${keepVerified}`)
}

function fetchingOf(options: BearerOptions): Fetching {
  const { fetch, timeout = 5_000, maxAge = 600_000, cooldown = 30_000, onWarning: report = () => {} } = options
  return { fetch, timeout, maxAge, cooldown, report }
}
