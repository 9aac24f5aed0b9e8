/** Grants by what others say: an identity provider's ID-JAG, a platform's workload token, and the exchange for an ID-JAG. */

import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { OAuthError, required, scopesOf } from './answers.ts'
import { checkResources, checkScopes } from './authorization.ts'
import { invalidClient, useOnce } from './client-authentication.ts'
import { type Core, endpoint, type TokenRequest } from './core.ts'
import { fetchObject } from './json-document.ts'
import { ID_JAG, ID_JAG_TYPE, ID_TOKEN, type TrustedAssertions } from './options.ts'
import { issueTokens } from './token-response.ts'

const ALGORITHMS = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA', 'Ed25519']
const ID_JAG_TTL = 300

/** RFC 7523: https://www.rfc-editor.org/rfc/rfc7523#section-2.1 */
export async function assertionGrant({ core, form, client, jkt }: TokenRequest): Promise<Record<string, unknown>> {
  const assertion = required(form, 'assertion')
  const trusted = trustedIssuer(core, assertion)
  const isWorkload = trusted.workloads === true
  if (!isWorkload && client === undefined) throw invalidClient('The client must say who it is')
  const claims = await verify(core, assertion, trusted, {
    audience: isWorkload ? [core.issuer, endpoint(core, 'token')] : core.issuer,
    typ: isWorkload ? undefined : ID_JAG_TYPE,
  })
  if (!isWorkload && claims.client_id !== client?.clientId) throw invalidGrant('The assertion is for another client')
  if (claims.jti !== undefined) {
    useOnce(core, `grant ${claims.iss} ${claims.jti}`, () => invalidGrant('The assertion was used before'))
  }
  const allowed = typeof claims.scope === 'string' ? scopesOf(claims.scope) : undefined
  const asked = form.has('scope') ? scopesOf(form.get('scope')) : (allowed ?? [])
  const scopes = checkScopes(core, allowed === undefined ? asked : asked.filter((scope) => allowed.includes(scope)))
  const resources = checkResources(core, resourcesOf(claims, form))
  const grant = {
    subject: claims.sub as string,
    clientId: client?.clientId,
    scopes,
    resources,
    jkt,
    family: crypto.randomUUID(),
  }
  return issueTokens(core, grant, { withRefresh: false })
}

/** An assertion that names its resource is for no other. */
function resourcesOf({ resource }: JWTPayload, form: URLSearchParams): string[] {
  const asked = form.getAll('resource')
  if (resource === undefined) return asked
  const allowed = (Array.isArray(resource) ? resource : [resource]).filter((each) => typeof each === 'string')
  if (!asked.every((each) => allowed.includes(each))) {
    throw new OAuthError('invalid_target', 'The assertion is for another resource')
  }
  return asked.length > 0 ? asked : allowed
}

/** RFC 8693, for one thing only: an ID token becomes an assertion for another authorization server. */
export async function exchangeGrant({ core, form, client }: TokenRequest): Promise<Record<string, unknown>> {
  if (client === undefined) throw invalidClient('The client must say who it is')
  if (form.get('requested_token_type') !== ID_JAG) {
    throw new OAuthError('invalid_request', `requested_token_type must be ${ID_JAG}`)
  }
  if (form.get('subject_token_type') !== ID_TOKEN) {
    throw new OAuthError('invalid_request', `subject_token_type must be ${ID_TOKEN}`)
  }
  const audience = required(form, 'audience')
  const subjectToken = required(form, 'subject_token')
  const trusted = issuerOf(subjectToken) === core.issuer ? await itself(core) : trustedIssuer(core, subjectToken)
  const { sub } = await verify(core, subjectToken, trusted, { audience: client.clientId })
  const scope = form.get('scope')
  const resource = form.get('resource')
  const claims = {
    sub,
    aud: audience,
    client_id: client.clientId,
    ...(scope === null ? {} : { scope }),
    ...(resource === null ? {} : { resource }),
  }
  const token = await core.keys.sign(claims, ID_JAG_TYPE, ID_JAG_TTL)
  const shown = scope === null ? {} : { scope }
  return { access_token: token, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: ID_JAG_TTL, ...shown }
}

function invalidGrant(description: string): OAuthError {
  return new OAuthError('invalid_grant', description)
}

async function itself({ issuer, keys }: Core): Promise<TrustedAssertions> {
  return { issuer, jwks: await keys.jwks() }
}

function issuerOf(jwt: string): string | undefined {
  try {
    return decodeJwt(jwt).iss
  } catch {
    throw invalidGrant('The assertion is no JWT')
  }
}

function trustedIssuer({ options: { trusted = [] } }: Core, jwt: string): TrustedAssertions {
  const issuer = issuerOf(jwt)
  const found = trusted.find((each) => each.issuer === issuer)
  if (found === undefined) throw invalidGrant('The issuer of the assertion is not trusted')
  return found
}

interface Expected {
  readonly audience: string | string[]
  readonly typ?: string | undefined
}

async function verify(core: Core, jwt: string, trusted: TrustedAssertions, expected: Expected): Promise<JWTPayload> {
  const { issuer, jwksUri } = trusted
  const { fetch } = core.options
  const jwks = trusted.jwks ?? (await fetchObject(jwksUri ?? '', { fetch }).catch(() => ({ keys: [] })))
  const { audience, typ } = expected
  const { payload } = await jwtVerify(jwt, createLocalJWKSet(jwks as JSONWebKeySet), {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    requiredClaims: ['sub', 'exp'],
    ...(typ === undefined ? {} : { typ }),
  }).catch((error: Error) => {
    throw invalidGrant(`The assertion does not hold: ${error.message}`)
  })
  return payload
}
