/** Sends tokens that cannot be verified here to the authorization server, to check them (RFC 7662). */

import { refuseUnknownOption } from '@mcpx/protocol'
import { basicAuthorization } from '../bounded-fetch.ts'
import { secureUrl } from '../urls.ts'
import { type Claims, CredentialsError } from './credentials.ts'
import { sha256 } from './dpop.ts'
import { ExpiringMap } from './expiring-map.ts'
import { type CachedDocument, checkNumber, type FetchSettings, fetchJson, type IssuerMetadata } from './issuers.ts'

/** Options of token introspection. */
export interface IntrospectionOptions {
  /** The URL of the endpoint. Default: `introspection_endpoint` in the metadata of the first issuer. */
  readonly endpoint?: string | undefined
  /** The client id of this server. */
  readonly clientId: string
  /** The secret of this server. */
  readonly clientSecret: string
  /** How the secret is sent: in the header or in the form. Default: `basic`. */
  readonly method?: 'basic' | 'post' | undefined
  /**
   * How long a response is cached, in ms. A revoked token is accepted until its cached response expires. With 0, each
   * request is sent, even for concurrent requests with the same token. Default: 10,000.
   */
  readonly maxAge?: number | undefined
  /** How many responses are cached. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** Which tokens are sent: `opaque`: tokens that are not JWTs of a known issuer; `all`: all tokens. Default: `opaque`. */
  readonly tokens?: 'opaque' | 'all' | undefined
}

const NAMES = ['endpoint', 'clientId', 'clientSecret', 'method', 'maxAge', 'maxEntries', 'tokens']

export interface IntrospectionRules {
  readonly audiences: readonly string[]
  /** The issuer of the tokens. */
  readonly issuer: string | undefined
  readonly metadata: CachedDocument<IssuerMetadata> | undefined
  /** How far clocks may differ, in ms. */
  readonly clockTolerance: number
}

/**
 * Returns a function that returns the claims of a token. The function rejects if the token is inactive or for another
 * server.
 */
export function createIntrospection(
  options: IntrospectionOptions,
  rules: IntrospectionRules,
  settings: FetchSettings,
): (token: string) => Promise<Claims> {
  refuseUnknownOption('introspection', options, NAMES)
  const { endpoint, maxAge = 10_000, maxEntries = 10_000 } = options
  checkNumber('introspection.maxAge', 'a number of ms', maxAge)
  checkNumber('introspection.maxEntries', 'a number', maxEntries)
  if (endpoint !== undefined) secureUrl(endpoint, 'introspection.endpoint')
  if (endpoint === undefined && rules.metadata === undefined) {
    throw new RangeError('introspection.endpoint: expected a URL, because there is no issuer whose metadata names it')
  }
  const cache = new ExpiringMap<Claims>(maxEntries)

  async function request(token: string): Promise<Claims> {
    const url = endpoint ?? (await endpointOf(rules.metadata))
    const { status, body } = await fetchJson(url, settings, requestOf(token, options))
    if (status !== 200) throw new Error(`The introspection endpoint ${url} responded with status ${status}`)
    if (body === undefined) throw new Error(`The introspection endpoint ${url} did not respond with JSON`)
    return typeof body === 'object' && body !== null ? (body as Claims) : {}
  }

  async function load(token: string): Promise<Claims> {
    try {
      return await request(token)
    } catch (problem) {
      settings.onWarning(problem as Error)
      throw new CredentialsError('unavailable', 'the token cannot be checked at the moment')
    }
  }

  async function claimsOf(token: string): Promise<Claims> {
    if (!(maxAge > 0)) return load(token)
    // The cache contains only digests, from which no token can be recovered.
    return cache.load(
      await sha256(token),
      () => load(token),
      () => maxAge,
    )
  }

  return async (token) => {
    const claims = withTimes(await claimsOf(token))
    checkClaims(claims, rules)
    return claims.iss === undefined && rules.issuer !== undefined ? { ...claims, iss: rules.issuer } : claims
  }
}

async function endpointOf(metadata: CachedDocument<IssuerMetadata> | undefined): Promise<string> {
  const uri = (await metadata?.get())?.introspection_endpoint
  if (typeof uri !== 'string') throw new Error('The metadata of the issuer names no introspection_endpoint')
  return secureUrl(uri, 'introspection_endpoint').href
}

function requestOf(token: string, { clientId, clientSecret, method = 'basic' }: IntrospectionOptions) {
  const form = new URLSearchParams({ token, token_type_hint: 'access_token' })
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (method === 'post') {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  } else {
    headers.authorization = basicAuthorization(clientId, clientSecret)
  }
  return { method: 'POST', headers, body: form.toString() }
}

/** Returns the claims with times as numbers. */
function withTimes(claims: Claims): Claims {
  return { ...claims, exp: readTime(claims, 'exp'), nbf: readTime(claims, 'nbf') }
}

/** Reads a time. Some servers send it as a string of digits. */
function readTime(claims: Claims, name: 'exp' | 'nbf'): number | undefined {
  const value = claims[name] ?? undefined
  const time = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (time === undefined || (typeof time === 'number' && Number.isFinite(time))) return time
  throw new CredentialsError('claims', `the claim ${name} is not a time`)
}

function checkClaims(claims: Claims, { audiences, issuer, clockTolerance }: IntrospectionRules): void {
  const { active, nbf, iss, aud } = claims
  if (active !== true) throw new CredentialsError('inactive', 'the token is not active')
  if (typeof nbf === 'number' && nbf * 1_000 - clockTolerance > Date.now()) {
    throw new CredentialsError('not_yet_valid', 'the token is not valid yet')
  }
  if (iss !== undefined && issuer !== undefined && iss !== issuer) {
    throw new CredentialsError('unknown_issuer', 'the token is from another issuer')
  }
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (!named.some((each) => typeof each === 'string' && audiences.includes(each))) {
    throw new CredentialsError('audience', 'the token is for another server')
  }
}
