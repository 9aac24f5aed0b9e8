/** What is known of an authorization server: its metadata and its keys, found out when first needed. */

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from 'jose'
import { type Fetch, fetchObject } from '../json-document.ts'
import { secureUrl } from '../secure-url.ts'
import { KeptDocument } from './kept-document.ts'
import { CredentialsError } from './refusal.ts'

/** An authorization server whose tokens are taken. */
export interface TrustedIssuer {
  /** Its identifier, exactly as its tokens and its metadata spell it. */
  readonly issuer: string
  /** Its public keys, where they are not to be fetched. */
  readonly jwks?: JSONWebKeySet | undefined
  /** Where its keys are. Default: where its metadata says. */
  readonly jwksUri?: string | undefined
  /** The algorithms that its tokens may be signed with. Default: those of the guard. */
  readonly algorithms?: readonly string[] | undefined
}

export interface Fetching {
  readonly fetch: Fetch | undefined
  /** How long one answer may take, in ms. */
  readonly timeout: number
  /** How long keys and metadata are taken for new, in ms. */
  readonly maxAge: number
  /** How long to wait before keys are fetched again for a token whose key is not known, in ms. */
  readonly cooldown: number
  readonly report: (problem: Error) => void
}

export type Metadata = Readonly<Record<string, unknown>>

/** How long old keys and metadata stand in while the server cannot be reached, in ms. */
const MAX_STALE = 60 * 60_000

export function createMetadata(issuer: string, fetching: Fetching): KeptDocument<Metadata> {
  const { maxAge, cooldown, report } = fetching
  return new KeptDocument(() => discover(issuer, fetching), { maxAge, cooldown, maxStale: MAX_STALE, report })
}

/** The places where metadata may be, in the order to look there: RFC 8414 and OpenID Connect Discovery. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  return [...new Set(urls)]
}

async function discover(issuer: string, { fetch, timeout }: Fetching): Promise<Metadata> {
  const problems: string[] = []
  for (const url of metadataUrls(issuer)) {
    try {
      const metadata = await fetchObject(url, { fetch, timeout })
      if (metadata.issuer === issuer) return metadata
      problems.push(`${url}: it is that of another issuer`)
    } catch (error) {
      problems.push(`${url}: ${(error as Error).message}`)
    }
  }
  throw new Error(`The metadata of the authorization server ${issuer} cannot be had: ${problems.join('; ')}`)
}

/** Finds the key of a token. Keys are fetched again when a token names one that is not among them. */
export function createKeys(
  trusted: TrustedIssuer,
  metadata: KeptDocument<Metadata>,
  fetching: Fetching,
): JWTVerifyGetKey {
  if (trusted.jwks !== undefined) return createLocalJWKSet(trusted.jwks)
  const { maxAge, cooldown, report } = fetching
  const load = () => fetchKeys(trusted, metadata, fetching)
  const kept = new KeptDocument(load, { maxAge, cooldown, maxStale: MAX_STALE, report })
  const orUnavailable = (problem: unknown) => {
    report(problem as Error)
    throw new CredentialsError('unavailable', 'the keys to check the token with cannot be had just now')
  }
  return async (header, token) => {
    const keys = await kept.get().catch(orUnavailable)
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await kept.renew().catch(orUnavailable)
      if (newer === keys) throw error
      return newer(header, token)
    }
  }
}

async function fetchKeys(
  { issuer, jwksUri }: TrustedIssuer,
  metadata: KeptDocument<Metadata>,
  { fetch, timeout }: Fetching,
): Promise<LocalJWKSet> {
  const uri = jwksUri ?? (await metadata.get()).jwks_uri
  if (typeof uri !== 'string') throw new Error(`The metadata of ${issuer} names no jwks_uri`)
  const { href } = secureUrl(uri, 'jwks_uri')
  const keys = await fetchObject(href, { fetch, timeout }).catch((cause: Error) => {
    throw new Error(`The keys of ${issuer} cannot be had from ${href}: ${cause.message}`, { cause })
  })
  return createLocalJWKSet(keys as unknown as JSONWebKeySet)
}
