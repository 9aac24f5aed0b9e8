/** The authorization server for MCP clients, which logs users in with a provider that the clients cannot use directly. */

import type { AuthInfo, RecordStore } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import type { Hono } from 'hono'
import { AuthError } from '../auth-error.ts'
import { type BearerGuard, bearer } from '../resource-server/bearer.ts'
import { CredentialsError } from '../resource-server/credentials.ts'
import { Browsers } from './browsers.ts'
import { Clients } from './clients.ts'
import { Grants } from './grants.ts'
import { type CheckedOptions, checkOptions, type OAuthFrontOptions } from './options.ts'
import { createRoutes } from './routes.ts'
import { Seals } from './seals.ts'
import { Upstream } from './upstream.ts'
import { UpstreamTokenStore, upstreamRecord } from './upstream-tokens.ts'

/** An authorization server made by `oauthFront`. */
export interface OAuthFront {
  /** The endpoints and the metadata. Mount them at the root of the app: `app.route('/', front.routes)`. */
  readonly routes: Hono
  /** The guard of the first `resource`, for the option `authenticate` of `mcp`. */
  readonly authenticate: BearerGuard
  /** Returns the guard of another `resource`. Throws a `RangeError` if it is not in the option `resource`. */
  authenticateFor(resource: string): BearerGuard
  /**
   * Returns an access token of the provider for the caller of a handler, refreshed if it is about to expire. Rejects
   * with `AuthError` if the login at the provider has ended; then the next request of the client is refused, and the
   * client logs in again. Never return the token to the client.
   */
  upstreamToken(context: { readonly auth?: AuthInfo | undefined }): Promise<string>
}

/**
 * Creates an authorization server for MCP clients. It logs users in with a provider that these clients cannot use
 * directly, because the provider does not support dynamic registration or refuses parameters that MCP clients send.
 * The authorization server asks the user for consent to each client, and issues its own tokens. The tokens of the
 * provider are not sent to clients.
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
  const parts = createParts(options)
  const { grants, tokens } = parts
  const { issuer, resources, provider } = options
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

  const routes = createRoutes(parts, [...guards.values()])
  return { routes, authenticate: authenticateFor(resources[0]), authenticateFor, upstreamToken }
}

/** The parts of the server that its endpoints share. */
export type FrontParts = ReturnType<typeof createParts>

function createParts(options: CheckedOptions) {
  const { issuer, store = memoryStore() } = options
  const records = withPrefix(store.records, `${issuer} `)
  const base = issuer.replace(/\/$/, '')
  const seals = new Seals(options.secrets, issuer)
  const upstream = new Upstream(options, `${base}/callback`)
  return {
    options,
    records,
    counters: store.counters,
    seals,
    upstream,
    tokens: new UpstreamTokenStore(records, seals, upstream, options.timeout),
    grants: new Grants(records, seals, options, (id) => [upstreamRecord(id)]),
    clients: new Clients(options, seals),
    browsers: new Browsers(new URL(issuer), Math.max(options.loginTtl, options.rememberConsent)),
    /** The URL that receives the form of the consent page. */
    consentUrl: `${base}/consent`,
  }
}

/** Adds a prefix to the ids of records, so that servers with the same store and the same cookies have separate records. */
function withPrefix(records: RecordStore, prefix: string): RecordStore {
  return {
    create: (id, record, ttl) => records.create(prefix + id, record, ttl),
    get: (id, ttl) => records.get(prefix + id, ttl),
    update: (id, change) => records.update(prefix + id, change),
    delete: (id) => records.delete(prefix + id),
  }
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
    // The claims may contain the id of the grant. It is not a credential, because tokens are encrypted.
    const claims = { ...grant.claims, iss: issuer, sub: subject, aud: resource, client_id: clientId, sid: id }
    return { subject, issuer, clientId, scopes, expiresAt, claims }
  }
  const metadata = { authorizationServers: [issuer], name }
  return bearer({ audience: resource, verify, scopes: requiredScopes, implies, dpop: false, metadata })
}
