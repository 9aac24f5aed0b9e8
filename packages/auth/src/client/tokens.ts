/** Makes of what a token endpoint gave what is kept and shown, if it is what was asked for. */

import { scopesOf } from './challenge.ts'
import { failure, quote } from './failure.ts'
import type { Tokens } from './records.ts'
import type { Grant } from './token-endpoint.ts'

export interface TokenTerms {
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
  readonly requested: readonly string[]
  /** A token was asked for that is bound to a key. */
  readonly bound: boolean
  readonly tokenEndpoint: URL
}

/** How long before its end a token is renewed, in ms, if it lives long enough. */
const AHEAD = 30_000

/** @throws AuthError for a kind of token that was not asked for */
export function toTokens(grant: Grant, terms: TokenTerms, before?: Tokens): Tokens {
  const { issuer, clientId, resource, requested } = terms
  const { accessToken, expiresAt, lifetime, refreshToken = before?.refreshToken } = grant
  return {
    issuer,
    clientId,
    resource,
    accessToken,
    tokenType: typeOf(grant, terms),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresAt !== undefined && { expiresAt, renewAt: expiresAt - Math.min(AHEAD, (lifetime ?? 0) / 10) }),
    scope: grant.scope === undefined ? (before?.scope ?? requested) : scopesOf(grant.scope),
    requested,
  }
}

function typeOf({ tokenType }: Grant, { bound, tokenEndpoint: url }: TokenTerms): Tokens['tokenType'] {
  const type = tokenType.toLowerCase()
  if (type === (bound ? 'dpop' : 'bearer')) return bound ? 'DPoP' : 'Bearer'
  if (bound && type === 'bearer') {
    const hint = 'It was not used, as whoever steals it can use it. Leave out the dpop option to do without.'
    throw failure('token', 'A token was given that is not bound to the DPoP key', { url, hint })
  }
  const hint = type === 'dpop' ? 'Pass dpop: true.' : 'Only Bearer and DPoP tokens can be used.'
  throw failure('token', `A token of type ${quote(tokenType)} was given`, { url, hint })
}

/** Whether it is time to get another one. */
export function isDue({ renewAt }: Tokens): boolean {
  return renewAt !== undefined && Date.now() >= renewAt
}

export function includes(scopes: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => scopes.includes(scope))
}
