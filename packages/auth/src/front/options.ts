/** The options of `oauthFront`. */

import { type Awaitable, checkNumbers, refuseUnknownOption, type Store } from '@mcpx/protocol'
import { type Implies, isScope } from '../resource-server/scopes.ts'
import { secureUrl } from '../urls.ts'
import type { FrontClient, KnownClient } from './clients.ts'
import type { FrontUser } from './grants.ts'
import type { Provider } from './providers.ts'

/** Options of `oauthFront`. Durations are in ms. */
export interface OAuthFrontOptions {
  /** The URL of this authorization server: HTTPS, or HTTP on this machine. Its endpoints are below this URL. */
  readonly issuer: string
  /** The identity provider where users log in: `entra`, `google`, `github`, `okta`, `auth0` or `oidc`. */
  readonly provider: Provider
  /**
   * Random strings of at least 32 characters, the same in all processes. The first secret encrypts; all secrets
   * decrypt. To replace a secret, put the new secret first, and remove the old secret after `grantTtl`. Clients that
   * registered with a removed secret must register again.
   */
  readonly secrets: readonly [string, ...string[]]
  /**
   * The URLs of the MCP servers that tokens are issued for, as clients know them. Default: `/mcp` at the origin of
   * `issuer`.
   */
  readonly resource?: string | readonly [string, ...string[]] | undefined
  /** Stores logins and grants, which all processes must share. Default: the memory of this process. */
  readonly store?: Pick<Store, 'records' | 'counters'> | undefined
  /** The name of the server that pages show. Default: its host. */
  readonly name?: string | undefined
  /** The scopes of the server, each with a sentence for the consent page. Default: none. */
  readonly scopes?: Readonly<Record<string, string>> | undefined
  /**
   * The scopes that every request needs. A client that requests no scopes receives these scopes. Default: none; then a
   * client that requests no scopes receives all scopes.
   */
  readonly requiredScopes?: readonly string[] | undefined
  /** Scopes that imply others, such as `{ admin: ['read', 'write'] }`. Default: none. */
  readonly implies?: Implies | undefined
  /** Clients that are known in advance. Default: none. */
  readonly clients?: readonly KnownClient[] | undefined
  /** Whether clients may register themselves (RFC 7591). Default: true. */
  readonly registration?: boolean | undefined
  /**
   * Whether a client id may be the URL of a metadata document (CIMD). With `false`, refresh tokens of such clients are also
   * refused. Default: true.
   */
  readonly metadataDocuments?: boolean | undefined
  /** Decides for each login whether a client may use the server, for example by its redirect URIs. Default: allows all clients. */
  readonly allowClient?: ((client: FrontClient) => Awaitable<boolean>) | undefined
  /** Decides after each login whether a user may use the server. Default: allows all users of the provider. */
  readonly allowUser?: ((user: FrontUser) => Awaitable<boolean>) | undefined
  /**
   * How long a consent is remembered in the same browser for the same client, redirect URI, server and scopes. Applies
   * only to clients with HTTPS redirect URIs. Default: 0; then the user is asked at each login.
   */
  readonly rememberConsent?: number | undefined
  /** How long an access token is valid. Default: 3,600,000. */
  readonly accessTokenTtl?: number | undefined
  /**
   * How long a user stays logged in. After this time, the client starts a new login. Default: 7,776,000,000 (90 days).
   */
  readonly grantTtl?: number | undefined
  /** How long an authorization code is valid. Default: 60,000. */
  readonly codeTtl?: number | undefined
  /** How long the consent and the login at the provider may take. Default: 600,000. */
  readonly loginTtl?: number | undefined
  /**
   * How long a refresh token is accepted after it was replaced. If it is used after this time, the login ends. Default:
   * 60,000.
   */
  readonly refreshGrace?: number | undefined
  /** How many logins may begin within `loginTtl`. Further logins are refused with 503. Default: 10,000. */
  readonly maxLogins?: number | undefined
  /** Sends requests to the provider and for metadata documents. Default: the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** The time limit of each request to the provider or for a metadata document. Default: 10,000. */
  readonly timeout?: number | undefined
  /**
   * Resolves host names, so that URLs of metadata documents in private networks can be refused. On Node, pass
   * `resolveHost`. Default: names are not resolved.
   */
  readonly resolve?: ((hostname: string) => Awaitable<readonly string[]>) | undefined
  /** Origins whose metadata documents are read even if they are in a private network. Default: none. */
  readonly trustedOrigins?: readonly string[] | undefined
  /** Called with failed logins and problems of the provider. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** The options with defaults, after their checks. */
export type CheckedOptions = OAuthFrontOptions & ReturnType<typeof withDefaults>

const NAMES = [
  ...['issuer', 'provider', 'secrets', 'resource', 'store', 'name', 'scopes', 'requiredScopes', 'implies', 'clients'],
  ...['registration', 'metadataDocuments', 'allowClient', 'allowUser', 'rememberConsent', 'accessTokenTtl', 'grantTtl'],
  ...['codeTtl', 'loginTtl', 'refreshGrace', 'maxLogins', 'fetch', 'timeout', 'resolve', 'trustedOrigins', 'onWarning'],
]

/** @throws RangeError or TypeError that names an option that does not exist or cannot be used */
export function checkOptions(options: OAuthFrontOptions): CheckedOptions {
  refuseUnknownOption('oauthFront', options, NAMES)
  const issuer = secureUrl(options.issuer, 'issuer')
  if (issuer.search !== '' || issuer.pathname.startsWith('/.well-known')) {
    throw new RangeError('issuer: expected a URL without a query, outside of /.well-known')
  }
  if (typeof options.provider?.clientId !== 'string') {
    throw new TypeError('provider: expected the result of entra, google, github, okta, auth0 or oidc')
  }
  const { resource = new URL('/mcp', issuer).href, scopes = {}, requiredScopes = [] } = options
  const resources = typeof resource === 'string' ? ([resource] as const) : resource
  const hosts = resources.map((each) => secureUrl(each, 'resource').host)
  const invalid = Object.keys(scopes).find((scope) => !isScope(scope))
  if (invalid !== undefined)
    throw new RangeError(`scopes: expected names without spaces and quotes, got ${JSON.stringify(invalid)}`)
  const missing = requiredScopes.find((scope) => !Object.hasOwn(scopes, scope))
  if (missing !== undefined)
    throw new RangeError(`requiredScopes: expected names of scopes, got ${JSON.stringify(missing)}`)
  const checked = withDefaults(options, resources, hosts[0] as string)
  const { accessTokenTtl, grantTtl, codeTtl, loginTtl, refreshGrace, rememberConsent, maxLogins, timeout } = checked
  const numbers = { accessTokenTtl, grantTtl, codeTtl, loginTtl, refreshGrace, rememberConsent, maxLogins, timeout }
  checkNumbers('oauthFront: ', numbers)
  return { ...options, ...checked }
}

function withDefaults(options: OAuthFrontOptions, resources: readonly [string, ...string[]], host: string) {
  return {
    resources,
    name: options.name ?? host,
    scopes: options.scopes ?? {},
    requiredScopes: options.requiredScopes ?? [],
    accessTokenTtl: options.accessTokenTtl ?? 3_600_000,
    grantTtl: options.grantTtl ?? 7_776_000_000,
    codeTtl: options.codeTtl ?? 60_000,
    loginTtl: options.loginTtl ?? 600_000,
    refreshGrace: options.refreshGrace ?? 60_000,
    rememberConsent: options.rememberConsent ?? 0,
    maxLogins: options.maxLogins ?? 10_000,
    timeout: options.timeout ?? 10_000,
    fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    onWarning: options.onWarning ?? (() => {}),
  }
}
