/** Asks the authorization server what a token is good for: https://www.rfc-editor.org/rfc/rfc7662 */

import { tokenHash } from '../dpop-proof.ts'
import { createExpiringMap } from '../expiring-map.ts'
import { fetchJson } from '../json-document.ts'
import { secureUrl } from '../secure-url.ts'
import type { Fetching, Metadata } from './authorization-server.ts'
import { type Claims, isFor } from './claims.ts'
import type { KeptDocument } from './kept-document.ts'
import { CredentialsError } from './refusal.ts'

export interface IntrospectionOptions {
  /** Where to ask. Default: where the metadata of the first issuer says. */
  readonly endpoint?: string | undefined
  /** As whom this server asks. */
  readonly clientId: string
  readonly clientSecret: string
  /** How the secret is sent: as a header or in the form. Default: `basic`. */
  readonly method?: 'basic' | 'post' | undefined
  /** How long an answer is kept, in ms: a token that was revoked is taken for as long. 0: not at all. Default: 10,000. */
  readonly maxAge?: number | undefined
  /** How many answers are kept. Default: 10,000. */
  readonly maxKept?: number | undefined
  /** Which tokens are asked about: those that are no JWTs of a known issuer, or all. Default: `opaque`. */
  readonly tokens?: 'opaque' | 'all' | undefined
}

export interface IntrospectionRules {
  readonly audiences: readonly string[]
  /** The issuer whose tokens they are. */
  readonly issuer: string | undefined
  readonly metadata: KeptDocument<Metadata> | undefined
  readonly clockTolerance: number
}

/** The claims of a token. Throws for one that is not active, or not for this server. */
export type Introspect = (token: string) => Promise<Claims>

export function createIntrospection(
  options: IntrospectionOptions,
  rules: IntrospectionRules,
  fetching: Fetching,
): Introspect {
  const { endpoint, maxAge = 10_000, maxKept = 10_000 } = options
  if (endpoint !== undefined) secureUrl(endpoint, 'introspection.endpoint')
  if (endpoint === undefined && rules.metadata === undefined) {
    throw new RangeError('introspection.endpoint: expected where to ask, as there is no issuer whose metadata says it')
  }
  const kept = createExpiringMap<Claims>(maxKept, 'forget-oldest')
  const ask = async (token: string): Promise<Claims> => {
    const url = endpoint ?? (await endpointOf(rules.metadata))
    const { status, body } = await fetchJson(url, { ...fetching, init: requestOf(token, options) })
    if (status !== 200) throw new Error(`The introspection endpoint ${url} answered with status ${status}`)
    return typeof body === 'object' && body !== null ? (body as Claims) : {}
  }
  return async (token) => {
    // Tokens are kept as what they cannot be made from.
    const key = maxAge > 0 ? await tokenHash(token) : ''
    const known = maxAge > 0 ? kept.get(key) : undefined
    const claims =
      known ??
      (await ask(token).catch((problem: unknown) => {
        fetching.report(problem as Error)
        throw new CredentialsError('unavailable', 'the token cannot be checked just now')
      }))
    if (known === undefined && maxAge > 0) kept.set(key, claims, maxAge)
    check(claims, rules)
    return claims.iss === undefined && rules.issuer !== undefined ? { ...claims, iss: rules.issuer } : claims
  }
}

async function endpointOf(metadata: KeptDocument<Metadata> | undefined): Promise<string> {
  const uri = (await metadata?.get())?.introspection_endpoint
  if (typeof uri !== 'string')
    throw new Error('The metadata of the authorization server names no introspection_endpoint')
  return secureUrl(uri, 'introspection_endpoint').href
}

function requestOf(token: string, { clientId, clientSecret, method = 'basic' }: IntrospectionOptions): RequestInit {
  const form = new URLSearchParams({ token, token_type_hint: 'access_token' })
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (method === 'basic') headers.authorization = `Basic ${btoa(`${encode(clientId)}:${encode(clientSecret)}`)}`
  else {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  }
  return { method: 'POST', headers, body: form.toString() }
}

/** As in a form: https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function encode(part: string): string {
  return new URLSearchParams({ part }).toString().slice('part='.length)
}

function check(claims: Claims, { audiences, issuer, clockTolerance }: IntrospectionRules): void {
  const now = Date.now() / 1000
  const { active, nbf, iss, aud } = claims
  if (active !== true) throw new CredentialsError('inactive', 'the token is not active, or no longer')
  if (typeof nbf === 'number' && nbf - clockTolerance > now) {
    throw new CredentialsError('not_yet_valid', 'the token is not valid yet')
  }
  if (iss !== undefined && issuer !== undefined && iss !== issuer) {
    throw new CredentialsError('unknown_issuer', 'the token is of another issuer')
  }
  if (!isFor(aud, audiences)) throw new CredentialsError('audience', 'the token is for another server')
}
