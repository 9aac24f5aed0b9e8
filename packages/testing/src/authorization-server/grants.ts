/** The token endpoint and its grants: https://www.rfc-editor.org/rfc/rfc6749#section-3.2 */

import { base64url, calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose'
import { exchangeIdToken, redeemAssertion } from './assertions.ts'
import { checkResources, checkScopes } from './authorize.ts'
import { authenticateClient, type Client } from './clients.ts'
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
import { endpointUrl, type Grant, revokeFamily, type ServerState, useOnce } from './state.ts'
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

export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256']

/** The longest proof, in characters. */
const MAX_PROOF = 8_192

/** How far the time of a proof may differ from now, in seconds. */
const MAX_SKEW = 300

/**
 * Checks a DPoP proof: https://www.rfc-editor.org/rfc/rfc9449#section-4.3
 * Returns the thumbprint of its key, or undefined without a proof.
 */
async function proveKey(state: ServerState, request: Request): Promise<string | undefined> {
  const { dpop = 'optional' } = state.options
  const proof = request.headers.get('dpop')
  if (proof === null && dpop === 'optional') return undefined
  if (proof === null) throw invalidProof('expected a DPoP header, got none')
  if (proof.length > MAX_PROOF) throw invalidProof(`expected at most ${MAX_PROOF} characters, got ${proof.length}`)
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: [...PROOF_ALGORITHMS],
    requiredClaims: ['jti', 'iat'],
  }).catch((error: Error) => {
    throw invalidProof(error.message)
  })
  const { htm, htu, iat = 0, jti, nonce } = payload
  const url = endpointUrl(state, 'token')
  if (htm !== 'POST' || withoutQuery(htu) !== withoutQuery(url)) throw invalidProof(`expected htm POST and htu ${url}`)
  if (Math.abs(Date.now() / 1000 - iat) > MAX_SKEW) throw invalidProof(`expected iat within ${MAX_SKEW} s of now`)
  state.nonce ??= crypto.randomUUID()
  if (dpop === 'nonce' && nonce !== state.nonce) {
    const headers = { 'dpop-nonce': state.nonce }
    throw new OAuthError('use_dpop_nonce', 'The proof must contain the nonce of the DPoP-Nonce header', 400, headers)
  }
  useOnce(state, `proof ${jti}`, () => invalidProof('the proof was used before'))
  return calculateJwkThumbprint(protectedHeader.jwk as JWK)
}

function invalidProof(problem: string): OAuthError {
  return new OAuthError('invalid_dpop_proof', `DPoP: ${problem}`)
}

function withoutQuery(htu: unknown): string | undefined {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return undefined
  const { origin, pathname } = new URL(htu)
  return origin + pathname
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
    throw invalidGrant('redirect_uri: expected the value in the authorization request, got another')
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

/** Redeems a refresh token. Each one may be used once. A second use means that the token may be stolen, so the login ends. */
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
