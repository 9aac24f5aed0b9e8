/** Issues tokens for grants. */

import { OAuthError, parseScopes } from './http.ts'
import { type Grant, REFRESH_TTL, type ServerState } from './state.ts'

/** Default lifetime of access tokens, in ms. */
const ACCESS_TTL = 3_600_000

/** The members of a token response: https://www.rfc-editor.org/rfc/rfc6749#section-5.1 */
export type TokenResponse = Record<string, unknown>

export interface IssueOptions {
  readonly withRefreshToken: boolean
  /** The nonce of the authorization request, for the ID token. */
  readonly nonce?: string | undefined
}

export async function issueTokens(
  state: ServerState,
  grant: Grant,
  { withRefreshToken, nonce }: IssueOptions,
): Promise<TokenResponse> {
  const ttl = state.options.accessTokenTtl ?? ACCESS_TTL
  const response: TokenResponse = {
    access_token: await issueAccessToken(state, grant),
    token_type: grant.jkt === undefined ? 'Bearer' : 'DPoP',
    expires_in: ttl / 1000,
    scope: grant.scopes.join(' '),
  }
  if (withRefreshToken) response.refresh_token = issueRefreshToken(state, grant)
  if (grant.scopes.includes('openid')) {
    response.id_token = await state.keys.sign({ sub: grant.subject, aud: grant.clientId, nonce }, 'JWT', ttl)
  }
  return response
}

export async function issueAccessToken(state: ServerState, grant: Grant): Promise<string> {
  const { accessTokens = 'jwt', accessTokenTtl: ttl = ACCESS_TTL } = state.options
  const issuedAt = Math.floor(Date.now() / 1000)
  const isOpaque = accessTokens === 'opaque'
  const token = isOpaque ? crypto.randomUUID() : await state.keys.sign(claimsOf(state, grant), 'at+jwt', ttl)
  state.accessTokens.set(token, { ...grant, issuedAt, expiresAt: issuedAt + ttl / 1000 }, ttl)
  return token
}

export function issueRefreshToken(state: ServerState, grant: Grant): string {
  const token = crypto.randomUUID()
  state.refreshTokens.set(token, { ...grant, used: false }, REFRESH_TTL)
  return token
}

/** The claims of an access token, which introspection returns as well. */
export function claimsOf({ options }: ServerState, grant: Grant): Record<string, unknown> {
  const { subject, clientId, scopes, resources, jkt } = grant
  const [only = options.issuer] = resources
  return {
    sub: subject,
    aud: resources.length > 1 ? resources : only,
    scope: scopes.join(' '),
    client_id: clientId,
    cnf: jkt === undefined ? undefined : { jkt },
  }
}

/** Restricts a grant to the `scope` and `resource` of a token request. Throws if they exceed the grant. */
export function narrowGrant(grant: Grant, form: URLSearchParams): Grant {
  const scopes = form.has('scope') ? parseScopes(form.get('scope')) : grant.scopes
  const resources = form.has('resource') ? form.getAll('resource') : grant.resources
  if (!scopes.every((scope) => grant.scopes.includes(scope))) {
    throw new OAuthError('invalid_scope', 'scope: expected scopes of the grant, got other scopes')
  }
  if (grant.resources.length > 0 && !resources.every((resource) => grant.resources.includes(resource))) {
    throw new OAuthError('invalid_target', 'resource: expected a resource of the grant, got another')
  }
  return { ...grant, scopes, resources }
}
