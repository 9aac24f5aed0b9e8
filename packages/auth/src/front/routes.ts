/** The routes of the server: its endpoints with their limits and errors, and its metadata. */

import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { AuthError } from '../auth-error.ts'
import type { BearerGuard } from '../resource-server/bearer.ts'
import { issuerMetadataUrls } from '../urls.ts'
import { SECRET_METHODS } from './clients.ts'
import { Logins } from './logins.ts'
import { errorResponse, invalidRequest, jsonResponse, OAuthError, requireType, unavailable } from './oauth-error.ts'
import type { FrontParts } from './oauth-front.ts'
import type { CheckedOptions } from './options.ts'
import { errorPage } from './pages.ts'
import { TokenEndpoint } from './token-requests.ts'

/** The largest bodies, in bytes. */
const MAX_BODY = 65_536

/** @param guards the guards of all resources, in their order */
export function createRoutes(parts: FrontParts, guards: readonly BearerGuard[]): Hono {
  const { options, clients } = parts
  const logins = new Logins(parts)
  const tokens = new TokenEndpoint(parts)
  const app = new Hono()
  const base = new URL(options.issuer).pathname.replace(/\/$/, '')
  type Handler = (request: Request) => Promise<Response>
  type Fail = (error: OAuthError) => Response | Promise<Response>

  function serve(method: 'GET' | 'POST', path: string, fail: Fail, handle: Handler): void {
    const refuse = async (error: unknown) => fail(toOAuthError(error, options))
    app.use(path, bodyLimit({ maxSize: MAX_BODY, onError: () => refuse(tooLarge()) }))
    app.on(method, path, async ({ req }, next) => {
      // Hono handles HEAD like GET. But HEAD must not start or finish a login: programs send it to look at a link.
      const isLogin = fail === errorPage
      return isLogin && req.raw.method !== method ? next() : handle(req.raw).catch(refuse)
    })
    app.all(path, async ({ req }) => {
      const problem = `${req.raw.method}: expected ${method}`
      const response = await refuse(new OAuthError('invalid_request', problem, { status: 405 }))
      response.headers.set('allow', method)
      return response
    })
  }

  /** Serves an endpoint for programs. Pages of any origin may send requests to it, because it uses no cookies. */
  function serveObject(method: 'GET' | 'POST', path: string, handle: Handler): void {
    app.use(path, cors({ origin: '*', allowHeaders: ['authorization', 'content-type', 'mcp-protocol-version'] }))
    serve(method, path, errorResponse, handle)
  }

  const metadata = metadataOf(options)
  const cached = { 'cache-control': 'public, max-age=300' }
  for (const path of metadataPaths(options)) {
    serveObject('GET', path, async () => jsonResponse(metadata, 200, cached))
  }
  app.use('/.well-known/oauth-protected-resource/*', async ({ req }, next) => {
    for (const guard of guards) {
      const response = guard.metadata(req.raw)
      if (response !== undefined) return response
    }
    return next()
  })
  serve('GET', `${base}/authorize`, errorPage, (request) => logins.authorize(request))
  serve('POST', `${base}/consent`, errorPage, (request) => logins.consent(request))
  serve('GET', `${base}/callback`, errorPage, (request) => logins.callback(request))
  serveObject('POST', `${base}/register`, async (request) =>
    jsonResponse(await clients.register(await readObject(request)), 201),
  )
  serveObject('POST', `${base}/token`, async (request) => jsonResponse(await tokens.issue(request)))
  serveObject('POST', `${base}/revoke`, async (request) => jsonResponse(await tokens.revoke(request)))
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

/**
 * Returns the paths of the metadata of this server. Clients of the first revision request it below the path of the MCP
 * server.
 */
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
