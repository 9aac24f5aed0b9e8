/** The token endpoint and its grants: https://www.rfc-editor.org/rfc/rfc6749#section-3.2 */

import { base64url } from 'jose'
import { exchangeIdToken, redeemAssertion } from './assertions.ts'
import { checkResources, checkScopes } from './authorize.ts'
import { authenticateClient, type Client } from './clients.ts'
import { proveKey } from './dpop.ts'
import {
  invalidClient,
  invalidGrant,
  jsonResponse,
  OAuthError,
  parseScopes,
  readForm,
  requireParameter,
} from './http.ts'
import { GRANTS } from './options.ts'
import { type Grant, revokeFamily, type ServerState } from './state.ts'
import { issueRefreshToken, issueTokens, narrowGrant, type TokenResponse } from './tokens.ts'

/** An authenticated request to the token endpoint. */
export interface TokenRequest {
  readonly state: ServerState
  readonly form: URLSearchParams
  readonly client: Client | undefined
  /** The thumbprint of the key that the tokens will be bound to. */
  readonly jkt: string | undefined
}

const grants: ReadonlyMap<string, (request: TokenRequest) => Promise<TokenResponse>> = new Map([
  [GRANTS.code, redeemCode],
  [GRANTS.refresh, refresh],
  [GRANTS.client, grantClient],
  [GRANTS.assertion, redeemAssertion],
  [GRANTS.exchange, exchangeIdToken],
])

/** Assertions are trusted because of their issuer, so clients need no registration for these grants. */
const grantsOfIssuers: readonly string[] = [GRANTS.assertion, GRANTS.exchange]

export async function handleTokenRequest(state: ServerState, request: Request): Promise<Response> {
  const form = await readForm(request)
  const type = requireParameter(form, 'grant_type')
  const grant = grants.get(type)
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'grant_type: not supported')
  const jkt = await proveKey(state, request)
  const client = await authenticateClient(state, request, form)
  if (client !== undefined && !client.grantTypes.includes(type) && !grantsOfIssuers.includes(type)) {
    throw new OAuthError('unauthorized_client', `This client is not registered for ${type}`)
  }
  return jsonResponse(await grant({ state, form, client, jkt }))
}

async function redeemCode({ state, form, client, jkt }: TokenRequest): Promise<TokenResponse> {
  if (client === undefined) throw invalidClient('client_id: expected a value, got none')
  const code = state.codes.get(requireParameter(form, 'code'))
  if (code === undefined || code.clientId !== client.clientId) throw invalidGrant('code: unknown or expired')
  if (code.used) {
    revokeFamily(state, code)
    throw invalidGrant('code: it was used before, so all tokens of this login are revoked')
  }
  code.used = true
  if (form.get('redirect_uri') !== code.redirectUri) {
    throw invalidGrant('redirect_uri: expected the one of the authorization request')
  }
  if ((await hash(requireParameter(form, 'code_verifier'))) !== code.challenge) {
    throw invalidGrant('code_verifier: it does not match the code_challenge')
  }
  if (code.jkt !== undefined && code.jkt !== jkt) throw invalidGrant('code: it is bound to another key')
  if (form.has('resource') && code.resources.length === 0) checkResources(state, form.getAll('resource'))
  const { subject, clientId, scopes, resources, family, nonce } = code
  const grant = narrowGrant({ subject, clientId, scopes, resources, family, jkt }, form)
  return issueTokens(state, grant, { withRefreshToken: client.grantTypes.includes(GRANTS.refresh), nonce })
}

async function hash(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url.encode(new Uint8Array(digest))
}

/** Each refresh token may be used once. A second use means that it was stolen, so its login ends. */
async function refresh({ state, form, client, jkt }: TokenRequest): Promise<TokenResponse> {
  if (client === undefined) throw invalidClient('client_id: expected a value, got none')
  const stored = state.refreshTokens.get(requireParameter(form, 'refresh_token'))
  if (stored === undefined || stored.clientId !== client.clientId || state.revokedFamilies.get(stored.family)) {
    throw invalidGrant('refresh_token: unknown, expired or revoked')
  }
  if (stored.used) {
    revokeFamily(state, stored)
    throw invalidGrant('refresh_token: it was used before, so all tokens of this login are revoked')
  }
  if (client.method === 'none' && stored.jkt !== undefined && stored.jkt !== jkt) {
    throw invalidGrant('refresh_token: it is bound to another key')
  }
  const { used, ...granted } = stored
  const grant: Grant = { ...granted, jkt: jkt ?? granted.jkt }
  const narrowed = narrowGrant(grant, form)
  stored.used = true
  const response = await issueTokens(state, narrowed, { withRefreshToken: false })
  return { ...response, refresh_token: issueRefreshToken(state, grant) }
}

async function grantClient({ state, form, client, jkt }: TokenRequest): Promise<TokenResponse> {
  if (client === undefined || client.method === 'none') throw invalidClient('The client must authenticate')
  const grant: Grant = {
    subject: client.clientId,
    clientId: client.clientId,
    scopes: checkScopes(state, parseScopes(form.get('scope'))),
    resources: checkResources(state, form.getAll('resource')),
    jkt,
    family: crypto.randomUUID(),
  }
  return issueTokens(state, grant, { withRefreshToken: false })
}
