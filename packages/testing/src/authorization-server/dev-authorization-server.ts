/** An OAuth authorization server inside the process, for development and tests. */

import type { JSONWebKeySet } from 'jose'
import { authorize } from './authorize.ts'
import { authenticateClient, completeClient, registerClient } from './clients.ts'
import { handleTokenRequest, PROOF_ALGORITHMS } from './grants.ts'
import {
  errorResponse,
  invalidClient,
  jsonResponse,
  OAuthError,
  preflightResponse,
  readBody,
  readForm,
  requireParameter,
} from './http.ts'
import { type DevAuthorizationServerOptions, GRANTS, ID_JAG } from './options.ts'
import { createState, endpointUrl, type Grant, revokeFamily, type ServerState } from './state.ts'
import { claimsOf, issueAccessToken } from './tokens.ts'
import { parseSecureUrl } from './urls.ts'

/** An authorization server that `devAuthorizationServer` has created. */
export interface DevAuthorizationServer {
  /** Handles a request to an endpoint or for the metadata. Responds with 404 to other requests. */
  fetch(request: Request): Promise<Response>
  /** The option `issuer`. */
  readonly issuer: string
  /** The authorization server metadata. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Returns the public keys. */
  jwks(): Promise<JSONWebKeySet>
  /** Replaces the signing key. With `drop`, also removes the old keys from `jwks`. Default: false. */
  rotateKeys(options?: { readonly drop?: boolean }): Promise<void>
  /** Issues an access token without a login. */
  issue(grant: Partial<Pick<Grant, 'subject' | 'clientId' | 'scopes' | 'resources' | 'jkt'>>): Promise<string>
  /**
   * Signs any JWT, for tests of token validation. A claim replaces the standard claim with the same name. A claim that
   * is undefined is left out. `typ` is the type in the header, by default `at+jwt`. `ttl` is the lifetime in ms, by
   * default 3,600,000; it may be negative.
   */
  sign(
    claims: Readonly<Record<string, unknown>>,
    options?: { readonly typ?: string; readonly ttl?: number },
  ): Promise<string>
  /** Revokes an access token. Only introspection reports the revocation. */
  revoke(accessToken: string): void
  /** Makes the current DPoP nonce invalid. */
  rotateNonce(): void
}

/**
 * Creates an authorization server for development and tests: authorization code with PKCE, dynamic registration, client
 * id metadata documents, refresh with rotation, client credentials, assertions (ID-JAG, workloads), DPoP, introspection,
 * revocation. Throws a `RangeError` for an issuer that is not secure.
 *
 * **Not for production**: it logs the user in without a password, grants every consent, and loses its state when the
 * process ends.
 *
 * ```ts
 * const authorizationServer = devAuthorizationServer({ issuer: 'http://localhost:9000' })
 * serve({ fetch: authorizationServer.fetch, port: 9000 })
 * ```
 */
export function devAuthorizationServer(options: DevAuthorizationServerOptions): DevAuthorizationServer {
  const url = parseSecureUrl(options.issuer, 'issuer')
  if (url.search !== '') throw new RangeError('issuer: expected a URL without a query')
  const clients = new Map((options.clients ?? []).map((client) => [client.clientId, completeClient(client)]))
  const state = createState(options, url, clients)
  const metadata = createMetadata(state)
  const routes = createRoutes(state, metadata)
  return {
    issuer: options.issuer,
    metadata,
    fetch: (request) => route(routes, request),
    jwks: () => state.keys.jwks(),
    rotateKeys: ({ drop = false } = {}) => state.keys.rotate(drop),
    issue: ({ subject = options.subject ?? 'dev-user', clientId = 'dev-client', scopes = [], resources = [], jkt }) =>
      issueAccessToken(state, { subject, clientId, scopes, resources, jkt, family: crypto.randomUUID() }),
    sign: (claims, { typ = 'at+jwt', ttl = 3_600_000 } = {}) => state.keys.sign(claims, typ, ttl),
    revoke: (accessToken) => void state.accessTokens.delete(accessToken),
    rotateNonce() {
      state.nonce = undefined
    },
  }
}

type Routes = ReadonlyMap<string, (request: Request) => Promise<Response>>

function createRoutes(state: ServerState, metadata: object): Routes {
  const base = state.issuer.pathname.replace(/\/$/, '')
  const describe = async () => jsonResponse(metadata)
  return new Map([
    [`GET /.well-known/oauth-authorization-server${base}`, describe],
    [`GET /.well-known/openid-configuration${base}`, describe],
    [`GET ${base}/.well-known/openid-configuration`, describe],
    [`GET ${base}/jwks`, async () => jsonResponse(await state.keys.jwks())],
    [`GET ${base}/authorize`, (request: Request) => authorize(state, request)],
    [`POST ${base}/token`, (request: Request) => handleTokenRequest(state, request)],
    [`POST ${base}/register`, (request: Request) => register(state, request)],
    [`POST ${base}/introspect`, (request: Request) => introspect(state, request)],
    [`POST ${base}/revoke`, (request: Request) => revoke(state, request)],
  ])
}

async function route(routes: Routes, request: Request): Promise<Response> {
  if (request.method === 'OPTIONS') return preflightResponse()
  const handle = routes.get(`${request.method} ${new URL(request.url).pathname}`)
  if (handle === undefined) return jsonResponse({ error: 'not_found' }, 404)
  try {
    return await handle(request)
  } catch (error) {
    if (error instanceof OAuthError) return errorResponse(error)
    throw error
  }
}

/** https://www.rfc-editor.org/rfc/rfc7591#section-3 */
async function register(state: ServerState, request: Request): Promise<Response> {
  const body = await readBody(request)
  let metadata: unknown
  try {
    metadata = JSON.parse(body)
  } catch {
    // `metadata` stays undefined and is refused below.
  }
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw new OAuthError('invalid_client_metadata', 'body: expected a JSON object')
  }
  return jsonResponse(registerClient(state, metadata as Record<string, unknown>), 201)
}

/** Answers any client that authenticates: https://www.rfc-editor.org/rfc/rfc7662#section-2 */
async function introspect(state: ServerState, request: Request): Promise<Response> {
  const form = await readForm(request)
  const client = await authenticateClient(state, request, form)
  if (client === undefined || client.method === 'none') throw invalidClient('The client must authenticate')
  const token = state.accessTokens.get(requireParameter(form, 'token'))
  if (token === undefined || state.revokedFamilies.get(token.family)) return jsonResponse({ active: false })
  return jsonResponse({
    active: true,
    iss: state.options.issuer,
    token_type: token.jkt === undefined ? 'Bearer' : 'DPoP',
    iat: token.issuedAt,
    exp: token.expiresAt,
    ...claimsOf(state, token),
  })
}

/** Revokes an access token, or a refresh token and its login: https://www.rfc-editor.org/rfc/rfc7009#section-2 */
async function revoke(state: ServerState, request: Request): Promise<Response> {
  const form = await readForm(request)
  const client = await authenticateClient(state, request, form)
  if (client === undefined) throw invalidClient('client_id: expected a value, got none')
  const token = requireParameter(form, 'token')
  const issued = state.accessTokens.get(token) ?? state.refreshTokens.get(token)
  if (issued?.clientId === client.clientId) {
    state.accessTokens.delete(token)
    if (state.refreshTokens.delete(token)) revokeFamily(state, issued)
  }
  return new Response(null, { status: 200 })
}

function createMetadata(state: ServerState): Readonly<Record<string, unknown>> {
  const { issuer, registration, scopes, clientMetadata } = state.options
  return {
    issuer,
    authorization_endpoint: endpointUrl(state, 'authorize'),
    token_endpoint: endpointUrl(state, 'token'),
    jwks_uri: endpointUrl(state, 'jwks'),
    introspection_endpoint: endpointUrl(state, 'introspect'),
    revocation_endpoint: endpointUrl(state, 'revoke'),
    ...(registration !== false && { registration_endpoint: endpointUrl(state, 'register') }),
    ...(scopes !== undefined && { scopes_supported: scopes }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.values(GRANTS),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: clientMetadata !== false,
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    identity_chaining_requested_token_types_supported: [ID_JAG],
    dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
  }
}
