/** Creates a `Login` from a flow, with one token cache per server. Defines the options that all flows share. */

import { type Awaitable, refuseUnknownOption } from '@mcpx/protocol'
import type { Fetch } from '../bounded-fetch.ts'
import { createAuthorizedFetch } from './authorized-fetch.ts'
import { scopesOf } from './challenge.ts'
import { DpopKey, type DpopOptions } from './dpop.ts'
import type { Flow } from './flow.ts'
import { createConnectionFactory, positiveInteger } from './requests.ts'
import { type AuthStore, memoryStore } from './store.ts'
import { TokenCache } from './token-cache.ts'
import { recordKey } from './token-records.ts'

/** The server of a wrapped `fetch`. */
export interface AuthTarget {
  /** The URL of the MCP server. */
  readonly url: URL
  /**
   * Pauses the timeout of the request with this signal, for example during a login. The returned function ends the
   * pause.
   */
  readonly hold?: ((signal: AbortSignal) => () => void) | undefined
}

/**
 * Wraps `fetch` so that it authorizes its requests. Without `target`, the URL of the first request is used as the URL
 * of the MCP server.
 *
 * It is the `auth` option of `http()`, and can wrap any other `fetch`.
 */
export type Auth = (fetch: Fetch, target?: AuthTarget) => Fetch

/** An `Auth` that stores tokens and can delete them. */
export interface Login extends Auth {
  /**
   * Deletes the tokens of a server, and revokes them if its authorization server supports that. The client stays
   * registered. Waits for a login or a refresh that is in progress. Rejects with `AuthError` if the revocation failed; even
   * then, the tokens are deleted.
   *
   * @param server the URL of the MCP server
   * @param fetch sends the requests to the authorization server. Default: the global `fetch`
   */
  signOut(server: string | URL, fetch?: Fetch): Promise<void>
}

/** The options that `oauth`, `clientCredentials`, `workload` and `enterprise` share. */
export interface CommonOptions {
  /** Stores credentials and tokens of one user. Default: `memoryStore()`. */
  readonly store?: AuthStore | undefined
  /**
   * Scopes to request in addition to the scopes in the server's challenge. Default: none; if the challenge has none
   * either, all scopes in the server's metadata are requested.
   */
  readonly scope?: string | readonly string[] | undefined
  /**
   * The only permitted authorization server. Default: the first authorization server in the metadata of the MCP server.
   */
  readonly issuer?: string | undefined
  /**
   * The parameter `resource` of requests to the authorization server (RFC 8707). `false` omits the parameter, for
   * authorization servers that refuse it, such as Microsoft Entra. Default: the identifier in the metadata of the MCP
   * server.
   */
  readonly resource?: string | false | undefined
  /**
   * Whether to request tokens that are bound to a key of this client (DPoP). Each request then contains a proof that
   * the client has the key. Default: false.
   */
  readonly dpop?: boolean | DpopOptions | undefined
  /**
   * How many unsuccessful requests for more scopes are allowed, per request to the MCP server and per set of scopes.
   * Default: 2.
   */
  readonly maxStepUps?: number | undefined
  /**
   * How long a response of an authorization server may take, in ms. After this time, the request rejects with
   * `AuthError`. Default: 10,000.
   */
  readonly timeout?: number | undefined
  /**
   * The largest response of an authorization server, in bytes. A larger response causes an `AuthError`. Default: 131,072
   * (128 Ki).
   */
  readonly maxResponseSize?: number | undefined
  /**
   * Origins that are accepted in metadata even if they are in a private network, do not use `https:`, or differ from
   * the origin of the server. Default: none. The metadata of a server in a private network may always name private
   * origins, and the metadata of a server on this machine may name any origin.
   */
  readonly trustedOrigins?: readonly string[] | undefined
  /**
   * Resolves host names, so that public names of private addresses can be refused; for clients that run on servers.
   * Default: names are not resolved.
   */
  readonly resolve?: ((hostname: string) => Awaitable<readonly string[]>) | undefined
}

// biome-ignore format: a list of names reads best as a paragraph
const COMMON_OPTIONS: Readonly<Record<keyof CommonOptions, true>> = {
  store: true, scope: true, issuer: true, resource: true, dpop: true, maxStepUps: true, timeout: true,
  maxResponseSize: true, trustedOrigins: true, resolve: true,
}

/** The names that other libraries use for options. */
const OTHER_NAMES = { scopes: 'scope', audience: 'resource', client_id: 'clientId', client_secret: 'clientSecret' }

/**
 * Throws a `TypeError` for an option that does not exist.
 *
 * @param own the options that the other flows do not have
 */
export function checkLoginOptions<Options extends CommonOptions>(
  place: string,
  options: Options,
  own: Readonly<Record<Exclude<keyof Options, keyof CommonOptions>, true>>,
): void {
  refuseUnknownOption(place, options, Object.keys({ ...COMMON_OPTIONS, ...own }), OTHER_NAMES)
  if (typeof options.dpop === 'object') refuseUnknownOption(`${place}: dpop`, options.dpop, ['algorithm'])
}

/** How many token caches one login keeps. */
const MAX_CACHES = 1_000

/** @throws TypeError or RangeError for invalid options */
export function createLogin(options: CommonOptions, flow: Flow): Login {
  const { store = memoryStore(), dpop = false, issuer, resource } = options
  const connect = createConnectionFactory(options)
  const scope = scopesOf(options.scope)
  const maxStepUps = positiveInteger('maxStepUps', options.maxStepUps ?? 2)
  if (issuer !== undefined && !URL.canParse(issuer)) throw new TypeError(`issuer: expected a URL, got ${issuer}`)
  if (typeof resource === 'string' && (!URL.canParse(resource) || new URL(resource).hash !== '')) {
    throw new TypeError(`resource: expected false or an absolute URI without a fragment, got ${resource}`)
  }
  const caches = new Map<string, TokenCache>()

  function cacheOf(given: URL): TokenCache {
    const serverUrl = new URL(given)
    serverUrl.hash = ''
    const known = caches.get(serverUrl.href)
    if (known !== undefined) return known
    const keyName = recordKey('dpop', serverUrl.href, flow.kind)
    const dpopKey = dpop === false ? undefined : new DpopKey(dpop === true ? {} : dpop, store, keyName)
    const cache = new TokenCache({ serverUrl, store, connect, flow, dpop: dpopKey, scope, issuer, resource })
    if (caches.size < MAX_CACHES) caches.set(serverUrl.href, cache)
    return cache
  }

  const login: Login = (fetch, target) => {
    let authorized: Fetch | undefined
    const wrap = (url: URL) => {
      const cache = cacheOf(url)
      cache.resume()
      return createAuthorizedFetch(fetch, cache, { url, hold: target?.hold }, maxStepUps)
    }
    if (target !== undefined) return wrap(target.url)
    return (input, init) => {
      authorized ??= wrap(new URL(input instanceof Request ? input.url : input))
      return authorized(input, init)
    }
  }
  login.signOut = (server, fetch = (input, init) => globalThis.fetch(input, init)) =>
    cacheOf(new URL(server)).signOut(fetch)
  return login
}
