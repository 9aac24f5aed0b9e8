/** The authorization server that MCP clients see, in front of a provider that they cannot use directly. */

import type { AuthInfo } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { AuthError } from '../auth-error.ts'
import { type BearerGuard, bearer } from '../resource-server/bearer.ts'
import { CredentialsError } from '../resource-server/credentials.ts'
import { issuerMetadataUrls } from '../urls.ts'
import { Browsers } from './browsers.ts'
import { Clients, SECRET_METHODS } from './clients.ts'
import { Grants } from './grants.ts'
import { Logins } from './logins.ts'
import { errorResponse, invalidRequest, jsonResponse, OAuthError, requireType, unavailable } from './oauth-error.ts'
import { type CheckedOptions, checkOptions, type OAuthFrontOptions } from './options.ts'
import { errorPage } from './pages.ts'
import { Seals } from './seals.ts'
import { TokenEndpoint } from './token-requests.ts'
import { Upstream } from './upstream.ts'
import { UpstreamTokenStore, upstreamRecord } from './upstream-tokens.ts'

/** An authorization server made by `oauthFront`. */
export interface OAuthFront {
  /** The endpoints and the metadata. Mount them at the root of the app: `app.route('/', front.routes)`. */
  readonly routes: Hono
  /** The guard of the first `resource`, for the option `authenticate` of `mcp`. */
  readonly authenticate: BearerGuard
  /** Returns the guard of another `resource`. Throws a `RangeError` for one that is not in the options. */
  authenticateFor(resource: string): BearerGuard
  /**
   * Returns an access token of the provider for the caller of a handler, refreshed if it is about to expire. Rejects with
   * `AuthError` if the login at the provider has ended; then the next request of the client is refused, and it logs in again.
   * Never return the token to the client.
   */
  upstreamToken(context: { readonly auth?: AuthInfo | undefined }): Promise<string>
}

/** The largest bodies, in bytes. */
const MAX_BODY = 65_536

/**
 * Creates an authorization server for MCP clients that logs users in at a provider which those clients cannot use: one
 * without dynamic registration, or one that refuses what MCP clients send. It asks the user for consent to each client, and issues
 * tokens of its own. The tokens of the provider stay here.
 *
 * ```ts
 * const front = oauthFront({ issuer: 'https://example.com', provider: github({ clientId, clientSecret }), secrets: [secret] })
 * app.route('/', front.routes)
 * app.route('/mcp', mcp(server, { authenticate: front.authenticate }))
 * ```
 *
 * @throws RangeError or TypeError for invalid options
 */
export function oauthFront(given: OAuthFrontOptions): OAuthFront {
  const options = checkOptions(given)
  const { issuer, resources, store = memoryStore(), provider, timeout, fetch, onWarning } = options
  const issuerUrl = new URL(issuer)
  const base = issuer.replace(/\/$/, '')
  const seals = new Seals(options.secrets, issuer)
  const upstream = new Upstream(provider, `${base}/callback`, { fetch, timeout, onWarning })
  const tokens = new UpstreamTokenStore(store.records, seals, upstream, timeout)
  const { codeTtl: code, accessTokenTtl: access, grantTtl: grant, refreshGrace } = options
  const grants = new Grants(store.records, seals, { code, access, grant, refreshGrace }, (id) => [upstreamRecord(id)])
  const clients = new Clients(options, { seals, issuer: issuerUrl, fetch, timeout })
  const browsers = new Browsers(issuerUrl, Math.max(options.loginTtl, options.rememberConsent))
  const parts = { options, store, seals, browsers, clients, grants, upstream, tokens, consentUrl: `${base}/consent` }
  const guards = new Map(resources.map((resource) => [resource, createGuard(options, resource, grants)]))

  function authenticateFor(resource: string): BearerGuard {
    const guard = guards.get(resource)
    if (guard !== undefined) return guard
    throw new RangeError(`authenticateFor: expected ${resources.join(' or ')}, got ${JSON.stringify(resource)}`)
  }

  async function upstreamToken({ auth }: { readonly auth?: AuthInfo | undefined }): Promise<string> {
    const id = auth?.issuer === issuer ? auth.claims?.sid : undefined
    if (typeof id !== 'string') {
      throw new TypeError(
        'upstreamToken: expected the context of a request that this front has authenticated, got another',
      )
    }
    const found = await tokens.fresh(id)
    if (found !== undefined) return found.accessToken
    await grants.end(id)
    const hint = 'The client logs in again with its next request.'
    throw new AuthError(`The login at ${provider.name} has ended`, { step: 'refresh', hint })
  }

  const tokenEndpoint = new TokenEndpoint(options, clients, grants, tokens)
  const routes = createRoutes(options, new Logins(parts), tokenEndpoint, clients, [...guards.values()])
  return { routes, authenticate: authenticateFor(resources[0]), authenticateFor, upstreamToken }
}

/** Accepts access tokens of this server for one resource. */
function createGuard(
  { issuer, requiredScopes, implies, name, onWarning }: CheckedOptions,
  resource: string,
  grants: Grants,
): BearerGuard {
  async function verify(token: string): Promise<AuthInfo> {
    const opened = await grants.openAccessToken(token).catch((cause: unknown) => {
      onWarning(cause as Error)
      throw new CredentialsError('unavailable', 'the token cannot be checked at the moment', { cause })
    })
    if (opened === undefined) throw new CredentialsError('unknown', 'the token is unknown, has expired, or was revoked')
    const { id, grant, scopes, expiresAt } = opened
    if (grant.resource !== resource) throw new CredentialsError('audience', 'the token is for another server')
    const { subject, clientId } = grant
    // The id of the grant is no credential: tokens are sealed.
    const claims = { ...grant.claims, iss: issuer, sub: subject, aud: resource, client_id: clientId, sid: id }
    return { subject, issuer, clientId, scopes, expiresAt, claims }
  }
  const metadata = { authorizationServers: [issuer], name }
  return bearer({ audience: resource, verify, scopes: requiredScopes, implies, dpop: false, metadata })
}

type Endpoint = (request: Request) => Promise<Response>

function createRoutes(
  options: CheckedOptions,
  logins: Logins,
  tokenEndpoint: TokenEndpoint,
  clients: Clients,
  guards: readonly BearerGuard[],
): Hono {
  const app = new Hono()
  const { pathname } = new URL(options.issuer)
  const base = pathname.replace(/\/$/, '')

  function serve(
    method: 'GET' | 'POST',
    path: string,
    endpoint: Endpoint,
    fail: (error: OAuthError) => Response | Promise<Response>,
  ) {
    const refuse = async (error: unknown) => fail(toOAuthError(error, options))
    app.use(path, bodyLimit({ maxSize: MAX_BODY, onError: () => refuse(tooLarge()) }))
    app.on(method, path, async ({ req }) => endpoint(req.raw).catch(refuse))
    app.all(path, async ({ req }) => {
      const response = await refuse(
        new OAuthError('invalid_request', `${req.method}: expected ${method}`, { status: 405 }),
      )
      response.headers.set('allow', method)
      return response
    })
  }

  const forPrograms = (method: 'GET' | 'POST', path: string, endpoint: Endpoint) => {
    app.use(path, cors({ origin: '*', allowHeaders: ['authorization', 'content-type', 'mcp-protocol-version'] }))
    serve(method, path, endpoint, errorResponse)
  }
  const forBrowsers = (method: 'GET' | 'POST', path: string, endpoint: Endpoint) =>
    serve(method, path, endpoint, errorPage)

  const metadata = async () => jsonResponse(metadataOf(options), 200, { 'cache-control': 'public, max-age=300' })
  for (const path of metadataPaths(options)) forPrograms('GET', path, metadata)
  forBrowsers('GET', `${base}/authorize`, (request) => logins.authorize(request))
  forBrowsers('POST', `${base}/consent`, (request) => logins.consent(request))
  forBrowsers('GET', `${base}/callback`, (request) => logins.callback(request))
  forPrograms('POST', `${base}/register`, async (request) =>
    jsonResponse(await clients.register(await readObject(request)), 201),
  )
  forPrograms('POST', `${base}/token`, async (request) => jsonResponse(await tokenEndpoint.issue(request)))
  forPrograms('POST', `${base}/revoke`, async (request) => jsonResponse(await tokenEndpoint.revoke(request)))
  // The first guard also responds at the path without that of a resource, so the others come first.
  for (const guard of [...guards].reverse()) {
    app.use(
      '/.well-known/oauth-protected-resource/*',
      async ({ req }, next) => guard.metadata(req.raw) ?? (await next()),
    )
  }
  const [first] = guards
  if (first !== undefined)
    app.use('/.well-known/oauth-protected-resource', async ({ req }, next) => first.metadata(req.raw) ?? (await next()))
  return app
}

function tooLarge(): OAuthError {
  return new OAuthError('invalid_request', `body: expected at most ${MAX_BODY} bytes, got more`, { status: 413 })
}

function toOAuthError(error: unknown, { onWarning }: CheckedOptions): OAuthError {
  if (error instanceof OAuthError) return error
  onWarning(error instanceof Error ? error : new Error(String(error)))
  const isTemporary =
    error instanceof AuthError || (error instanceof Error && 'retryable' in error && error.retryable === true)
  if (isTemporary) return unavailable('The login is unavailable at the moment')
  const remedy = 'Try again later. The operator of the server can see the reason.'
  return new OAuthError('server_error', 'The server failed', { status: 500, remedy })
}

async function readObject(request: Request): Promise<unknown> {
  requireType(request, 'application/json')
  try {
    return JSON.parse(await request.text())
  } catch {
    throw invalidRequest('body: expected JSON')
  }
}

/** The paths of the metadata of this server; clients of the first revision look below the path of the MCP server. */
function metadataPaths({ issuer, resources }: CheckedOptions): Set<string> {
  const { origin } = new URL(issuer)
  const own = [issuer, ...resources.filter((resource) => new URL(resource).origin === origin)]
  return new Set(own.flatMap(issuerMetadataUrls).map((url) => new URL(url).pathname))
}

/** https://www.rfc-editor.org/rfc/rfc8414#section-2 */
function metadataOf({ issuer, scopes, registration, metadataDocuments, resources }: CheckedOptions): object {
  const base = issuer.replace(/\/$/, '')
  const names = Object.keys(scopes)
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    revocation_endpoint: `${base}/revoke`,
    ...(registration !== false && { registration_endpoint: `${base}/register` }),
    ...(names.length > 0 && { scopes_supported: names }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: SECRET_METHODS,
    revocation_endpoint_auth_methods_supported: SECRET_METHODS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: metadataDocuments !== false,
    protected_resources: resources,
  }
}
