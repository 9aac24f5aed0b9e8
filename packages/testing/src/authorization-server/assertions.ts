/** Grants that use assertions of other issuers: ID-JAG of identity providers, and tokens of workload platforms. */

import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { checkResources, checkScopes } from './authorize.ts'
import type { TokenRequest } from './grants.ts'
import { invalidClient, invalidGrant, OAuthError, parseScopes, requireParameter } from './http.ts'
import { ASSERTION_ALGORITHMS, ID_JAG, ID_JAG_TYPE, ID_TOKEN, type TrustedAssertions } from './options.ts'
import { endpointUrl, type ServerState, useOnce } from './state.ts'
import { issueTokens, type TokenResponse } from './tokens.ts'
import { fetchObject } from './urls.ts'

/** Lifetime of an ID-JAG, in ms. */
const ID_JAG_TTL = 300_000

/** Issues an access token for an assertion: https://www.rfc-editor.org/rfc/rfc7523#section-2.1 */
export async function redeemAssertion({ state, form, client, jkt }: TokenRequest): Promise<TokenResponse> {
  const assertion = requireParameter(form, 'assertion')
  const trusted = findTrusted(state, issuerOf(assertion))
  const isWorkload = trusted.workloads === true
  if (!isWorkload && client === undefined) throw invalidClient('client_id: expected a value, got none')
  const { issuer } = state.options
  const audience = isWorkload ? [issuer, endpointUrl(state, 'token')] : [issuer]
  const claims = await verify(state, assertion, trusted, audience, isWorkload ? undefined : ID_JAG_TYPE)
  if (!isWorkload && claims.client_id !== client?.clientId) throw invalidGrant('assertion: it is for another client')
  if (claims.jti !== undefined) {
    useOnce(state, `grant ${claims.iss} ${claims.jti}`, () => invalidGrant('assertion: it was used before'))
  }
  const allowed = typeof claims.scope === 'string' ? parseScopes(claims.scope) : undefined
  const requested = form.has('scope') ? parseScopes(form.get('scope')) : (allowed ?? [])
  const grant = {
    subject: claims.sub as string,
    clientId: client?.clientId,
    scopes: checkScopes(state, allowed ? requested.filter((scope) => allowed.includes(scope)) : requested),
    resources: checkResources(state, resourcesOf(claims, form)),
    jkt,
    family: crypto.randomUUID(),
  }
  return issueTokens(state, grant, { withRefreshToken: false })
}

/** Returns the requested resources. An assertion that names resources is valid only for these. */
function resourcesOf({ resource }: JWTPayload, form: URLSearchParams): string[] {
  const requested = form.getAll('resource')
  if (resource === undefined) return requested
  const allowed = [resource].flat().filter((each) => typeof each === 'string')
  if (!requested.every((each) => allowed.includes(each))) {
    throw new OAuthError('invalid_target', 'resource: the assertion is for another resource')
  }
  return requested.length > 0 ? requested : allowed
}

/** Exchanges an ID token for an ID-JAG, an assertion for another server: https://www.rfc-editor.org/rfc/rfc8693 */
export async function exchangeIdToken({ state, form, client }: TokenRequest): Promise<TokenResponse> {
  if (client === undefined) throw invalidClient('client_id: expected a value, got none')
  for (const [name, expected] of [
    ['requested_token_type', ID_JAG],
    ['subject_token_type', ID_TOKEN],
  ] as const) {
    if (form.get(name) !== expected) throw new OAuthError('invalid_request', `${name}: expected ${expected}`)
  }
  const audience = requireParameter(form, 'audience')
  const subjectToken = requireParameter(form, 'subject_token')
  const issuer = issuerOf(subjectToken)
  const isOwn = issuer === state.options.issuer
  const trusted = isOwn ? { issuer, jwks: await state.keys.jwks() } : findTrusted(state, issuer)
  const { sub } = await verify(state, subjectToken, trusted, [client.clientId])
  const scope = form.get('scope') ?? undefined
  const resource = form.get('resource') ?? undefined
  const claims = { sub, aud: audience, client_id: client.clientId, scope, resource }
  return {
    access_token: await state.keys.sign(claims, ID_JAG_TYPE, ID_JAG_TTL),
    issued_token_type: ID_JAG,
    token_type: 'N_A',
    expires_in: ID_JAG_TTL / 1000,
    scope,
  }
}

function issuerOf(jwt: string): string {
  try {
    return decodeJwt(jwt).iss ?? ''
  } catch {
    throw invalidGrant('assertion: expected a JWT')
  }
}

function findTrusted({ options: { trusted = [] } }: ServerState, issuer: string): TrustedAssertions {
  const found = trusted.find((each) => each.issuer === issuer)
  if (found === undefined) throw invalidGrant('assertion: its issuer is not trusted')
  return found
}

async function verify(
  { options }: ServerState,
  jwt: string,
  { issuer, jwks, jwksUri = '' }: TrustedAssertions,
  audience: string[],
  typ?: string,
): Promise<JWTPayload> {
  try {
    const keys: unknown = jwks ?? (await fetchObject(jwksUri, options.fetch))
    const { payload } = await jwtVerify(jwt, createLocalJWKSet(keys as JSONWebKeySet), {
      issuer,
      audience,
      algorithms: [...ASSERTION_ALGORITHMS],
      requiredClaims: ['sub', 'exp'],
      ...(typ !== undefined && { typ }),
    })
    return payload
  } catch (error) {
    throw invalidGrant(`assertion: ${(error as Error).message}`)
  }
}
