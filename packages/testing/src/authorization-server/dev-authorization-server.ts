/** An authorization server within the process, so that examples and tests need no other. Not for production. */

import type { JSONWebKeySet } from 'jose'
import { errorAnswer, jsonAnswer, OAuthError, preflight, readForm, readLimited, required } from './answers.ts'
import { authorize } from './authorization.ts'
import { authenticateClient, invalidClient } from './client-authentication.ts'
import { type Core, createCore, endpoint, type Grant } from './core.ts'
import { PROOF_ALGORITHMS } from './dpop-proof.ts'
import { type DevAuthorizationServerOptions, GRANTS, ID_JAG } from './options.ts'
import { secureUrl } from './secure-url.ts'
import { token } from './token-endpoint.ts'
import { claimsOf, issueAccessToken } from './token-response.ts'

export interface DevAuthorizationServer {
  /** Answers below the issuer, and at the well-known paths of its origin; 404 for anything else. */
  fetch(request: Request): Promise<Response>
  readonly issuer: string
  readonly metadata: Readonly<Record<string, unknown>>
  jwks(): Promise<JSONWebKeySet>
  /** Signs with a new key from now on. `drop`: the old ones are no longer published. */
  rotateKeys(options?: { readonly drop?: boolean }): Promise<void>
  /** An access token as a user's consent would have led to. */
  issue(grant: Partial<Pick<Grant, 'subject' | 'clientId' | 'scopes' | 'resources' | 'jkt'>>): Promise<string>
  /** Any JWT, signed as an access token is: for tests of those who check them. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    options?: { readonly typ?: string; readonly ttl?: number },
  ): Promise<string>
  /** Ends a token before its time. Those who do not ask by introspection cannot know. */
  revoke(accessToken: string): void
  /** From now on proofs need another nonce; only where nonces are asked for. */
  rotateNonce(): void
}

/**
 * An authorization server for development and tests: authorization code with PKCE, dynamic registration, clients named by
 * a URL, refresh with rotation, client credentials, assertions (ID-JAG, workloads), DPoP, introspection, revocation.
 *
 * **Not for production**: nobody is asked who they are, every consent is given, and everything is forgotten when
 * the process ends.
 *
 * ```ts
 * const authorizationServer = devAuthorizationServer({ issuer: 'http://localhost:9000' })
 * serve({ fetch: authorizationServer.fetch, port: 9000 })
 * ```
 */
export function devAuthorizationServer(options: DevAuthorizationServerOptions): DevAuthorizationServer {
  const url = secureUrl(options.issuer, 'issuer')
  if (url.search !== '') throw new RangeError('issuer: expected a URL without a query')
  const core = createCore(options, url)
  const metadata = metadataOf(core)
  const routes = routesOf(core, url, metadata)
  return {
    issuer: core.issuer,
    metadata,
    fetch: (request) => answer(routes, request),
    jwks: () => core.keys.jwks(),
    rotateKeys: ({ drop = false } = {}) => core.keys.rotate(drop),
    issue: ({ subject = options.subject ?? 'dev-user', clientId = 'dev-client', scopes = [], resources = [], jkt }) =>
      issueAccessToken(core, { subject, clientId, scopes, resources, jkt, family: crypto.randomUUID() }),
    sign: (claims, { typ = 'at+jwt', ttl = 3_600 } = {}) => core.keys.sign(claims, typ, ttl),
    revoke: (accessToken) => void core.accessTokens.delete(accessToken),
    rotateNonce() {
      core.nonce = undefined
    },
  }
}

type Route = (request: Request) => Promise<Response>

function routesOf(core: Core, issuer: URL, metadata: object): Readonly<Record<string, Route>> {
  const base = issuer.pathname.replace(/\/$/, '')
  const describe = async () => jsonAnswer(metadata)
  return {
    [`GET /.well-known/oauth-authorization-server${base}`]: describe,
    [`GET /.well-known/openid-configuration${base}`]: describe,
    [`GET ${base}/.well-known/openid-configuration`]: describe,
    [`GET ${base}/jwks`]: async () => jsonAnswer(await core.keys.jwks()),
    [`GET ${base}/authorize`]: (request) => authorize(core, request),
    [`POST ${base}/token`]: (request) => token(core, request),
    [`POST ${base}/register`]: (request) => register(core, request),
    [`POST ${base}/introspect`]: (request) => introspect(core, request),
    [`POST ${base}/revoke`]: (request) => revoke(core, request),
  }
}

async function answer(routes: Readonly<Record<string, Route>>, request: Request): Promise<Response> {
  if (request.method === 'OPTIONS') return preflight()
  const key = `${request.method} ${new URL(request.url).pathname}`
  const route = Object.hasOwn(routes, key) ? routes[key] : undefined
  if (route === undefined) return jsonAnswer({ error: 'not_found' }, 404)
  try {
    return await route(request)
  } catch (error) {
    if (error instanceof OAuthError) return errorAnswer(error)
    throw error
  }
}

/** RFC 7591: https://www.rfc-editor.org/rfc/rfc7591#section-3 */
async function register(core: Core, request: Request): Promise<Response> {
  let metadata: unknown
  try {
    metadata = JSON.parse(await readLimited(request))
  } catch (error) {
    throw error instanceof OAuthError ? error : new OAuthError('invalid_client_metadata', 'Expected JSON')
  }
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw new OAuthError('invalid_client_metadata', 'Expected an object')
  }
  return jsonAnswer(core.clients.register(metadata as Record<string, unknown>), 201)
}

/** RFC 7662, for any client that authenticates: https://www.rfc-editor.org/rfc/rfc7662#section-2 */
async function introspect(core: Core, request: Request): Promise<Response> {
  const form = await readForm(request)
  const client = await authenticateClient(core, request, form)
  if (client === undefined || client.method === 'none') throw invalidClient('The client must authenticate')
  const issued = core.accessTokens.get(required(form, 'token'))
  if (issued === undefined || core.revokedFamilies.get(issued.family)) return jsonAnswer({ active: false })
  const token_type = issued.jkt === undefined ? 'Bearer' : 'DPoP'
  const { issuedAt: iat, expiresAt: exp } = issued
  return jsonAnswer({ active: true, iss: core.issuer, token_type, iat, exp, ...claimsOf(core, issued) })
}

/** RFC 7009: https://www.rfc-editor.org/rfc/rfc7009#section-2 */
async function revoke(core: Core, request: Request): Promise<Response> {
  const form = await readForm(request)
  const client = await authenticateClient(core, request, form)
  if (client === undefined) throw invalidClient('client_id is missing')
  const key = required(form, 'token')
  const issued = core.accessTokens.get(key) ?? core.refreshTokens.get(key)
  if (issued !== undefined && issued.clientId === client.clientId) {
    core.accessTokens.delete(key)
    if (core.refreshTokens.delete(key)) core.revokedFamilies.set(issued.family, true, 30 * 24 * 3_600_000)
  }
  return new Response(null, { status: 200 })
}

function metadataOf(core: Core): Readonly<Record<string, unknown>> {
  const { options, issuer } = core
  return {
    issuer,
    authorization_endpoint: endpoint(core, 'authorize'),
    token_endpoint: endpoint(core, 'token'),
    jwks_uri: endpoint(core, 'jwks'),
    introspection_endpoint: endpoint(core, 'introspect'),
    revocation_endpoint: endpoint(core, 'revoke'),
    ...(options.registration === false ? {} : { registration_endpoint: endpoint(core, 'register') }),
    ...(options.scopes === undefined ? {} : { scopes_supported: options.scopes }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.values(GRANTS),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: options.clientMetadata !== false,
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    identity_chaining_requested_token_types_supported: [ID_JAG],
    dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
  }
}
