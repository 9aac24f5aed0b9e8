/** Logs the user in at the provider, where this server is the OAuth client, and reads the identity of the user. */

import { isObject } from '@mcpx/protocol'
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  validateAuthResponse,
} from 'oauth4webapi'
import { AuthError, printable } from '../auth-error.ts'
import { type Connection, createConnectionFactory } from '../client/requests.ts'
import { type TokenRequest, type TokenResponse, tryTokenRequest } from '../client/token-endpoint.ts'
import {
  type CachedDocument,
  createIssuerKeys,
  createIssuerMetadata,
  type FetchSettings,
  fetchJson,
  type IssuerMetadata,
} from '../resource-server/issuers.ts'
import { ALGORITHMS, verifyJwt } from '../resource-server/jwt.ts'
import { secureUrl } from '../urls.ts'
import type { FrontUser } from './grants.ts'
import type { CheckedOptions } from './options.ts'
import type { Provider } from './providers.ts'
import { randomId } from './seals.ts'

/** The data of a login that is kept while the user is at the provider. */
export interface LoginSecrets {
  readonly state: string
  /** The PKCE verifier. */
  readonly verifier: string
  readonly nonce: string
}

/** The tokens of the provider. Times are in ms since 1970. */
export interface UpstreamTokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  /** When the access token should be refreshed. Undefined if it does not expire. */
  readonly refreshAt?: number | undefined
  readonly expiresAt?: number | undefined
}

/** How long metadata and keys are cached, and how long to wait after a failed request for them, in ms. */
const MAX_AGE = 600_000
const COOLDOWN = 5_000
const MAX_RESPONSE_SIZE = 262_144
/** The maximum size of the claims of a user, in characters of JSON. They are limited because they are stored with each login. */
const MAX_CLAIMS = 32_768
/** How far clocks may differ, in ms. */
const CLOCK_TOLERANCE = 60_000
/**
 * A token is refreshed this long before it expires, in ms. A token with a short lifetime is refreshed when a tenth of
 * its lifetime is left.
 */
const MARGIN = 60_000

/** Claims about the ID token, not about the user. */
const TOKEN_CLAIMS = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'nonce', 'jti', 'at_hash', 'c_hash', 's_hash', 'azp'])

export class Upstream {
  readonly #provider: Provider
  readonly #callbackUrl: string
  readonly #settings: FetchSettings
  readonly #connection: Connection
  readonly #metadata: CachedDocument<IssuerMetadata> | undefined
  readonly #keys: ReturnType<typeof createIssuerKeys> | undefined

  constructor({ provider, fetch, timeout, onWarning }: CheckedOptions, callbackUrl: string) {
    const { issuer } = provider
    this.#provider = provider
    this.#callbackUrl = callbackUrl
    this.#settings = { fetch, timeout, onWarning, maxAge: MAX_AGE, cooldown: COOLDOWN }
    const connect = createConnectionFactory({ timeout, maxResponseSize: MAX_RESPONSE_SIZE })
    this.#connection = connect((url, init) => fetch(String(url), init ?? {}))
    this.#metadata = issuer === undefined ? undefined : createIssuerMetadata(issuer, this.#settings)
    this.#keys = this.#metadata && createIssuerKeys({ issuer: issuer ?? '' }, this.#metadata, this.#settings)
  }

  /** Starts a login. Returns the URL for the browser, and the data that is needed to finish the login. */
  async start(): Promise<{ readonly url: string; readonly login: LoginSecrets }> {
    const { clientId, authorizationParams } = this.#provider
    const { authorization, server } = await this.#endpoints()
    const login = { state: randomId(), verifier: generateRandomCodeVerifier(), nonce: randomId() }
    const params = {
      ...authorizationParams,
      response_type: 'code',
      client_id: clientId,
      redirect_uri: this.#callbackUrl,
      scope: scopesOf(this.#provider, server),
      state: login.state,
      code_challenge: await calculatePKCECodeChallenge(login.verifier),
      code_challenge_method: 'S256',
      ...(this.#metadata !== undefined && { nonce: login.nonce }),
    }
    const url = new URL(authorization)
    for (const [name, value] of Object.entries(params)) if (value !== '') url.searchParams.set(name, value)
    return { url: url.href, login }
  }

  /**
   * Finishes a login with the query of the callback. Rejects with `AuthError`, whose cause is an
   * `AuthorizationResponseError` if the provider sent an error.
   */
  async finish(
    query: URLSearchParams,
    { state, verifier, nonce }: LoginSecrets,
  ): Promise<{ readonly user: FrontUser; readonly tokens: UpstreamTokens }> {
    const { server, token } = await this.#endpoints()
    const code = this.#codeOf(server, query, state)
    const params = { code, redirect_uri: this.#callbackUrl, code_verifier: verifier }
    const response = await this.#request('token', token, 'authorization_code', params)
    if ('error' in response) throw response.error
    const claims = await this.#identify(response, nonce)
    return { user: this.#userOf(claims), tokens: toTokens(response) }
  }

  #codeOf(server: AuthorizationServer, query: URLSearchParams, state: string): string {
    // Without metadata, the issuer is not known and need not be checked, because there is only one provider.
    const params = new URLSearchParams(query)
    if (this.#metadata === undefined) params.delete('iss')
    try {
      const code = validateAuthResponse(server, { client_id: this.#provider.clientId }, params, state).get('code')
      if (code) return code
    } catch (cause) {
      const description = cause instanceof AuthorizationResponseError ? cause.error : (cause as Error).message
      const message = `The response of the provider was refused: ${printable(description)}`
      throw new AuthError(message, { step: 'authorization', url: server.issuer, cause })
    }
    throw new AuthError('The response of the provider has no code', { step: 'authorization', url: server.issuer })
  }

  /** Returns the claims of the ID token, or the user information of a provider without ID tokens. */
  async #identify({ idToken, accessToken }: TokenResponse, nonce: string): Promise<Readonly<Record<string, unknown>>> {
    const { issuer, clientId } = this.#provider
    if (issuer === undefined || this.#keys === undefined) {
      const information = await this.#userInformation(accessToken)
      if (information !== undefined) return information
      throw this.#identityError('the provider does not accept its own token')
    }
    if (idToken === undefined)
      throw this.#identityError('the provider sent no ID token; the scope openid may be missing')
    const rules = { issuer, keys: this.#keys, audiences: [clientId], algorithms: ALGORITHMS }
    const claims = await verifyJwt(idToken, { ...rules, clockTolerance: CLOCK_TOLERANCE }).catch((cause: Error) => {
      throw this.#identityError(`the ID token is refused: ${cause.message}`, cause)
    })
    if (claims.nonce !== nonce) throw this.#identityError('the ID token belongs to another login')
    const isForOthers = Array.isArray(claims.aud) && claims.aud.length > 1
    if ((isForOthers || claims.azp !== undefined) && claims.azp !== clientId) {
      throw this.#identityError('the ID token was issued to another client')
    }
    return claims
  }

  #userOf(all: Readonly<Record<string, unknown>>): FrontUser {
    const { subject: member, check } = this.#provider
    const id = all[member]
    const subject = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id
    if (typeof subject !== 'string' || subject === '') throw this.#identityError(`the user has no ${member}`)
    const problem = check?.(all)
    if (problem !== undefined) throw this.#identityError(problem)
    const claims = Object.fromEntries(Object.entries(all).filter(([name]) => !TOKEN_CLAIMS.has(name)))
    if (JSON.stringify(claims).length > MAX_CLAIMS)
      throw this.#identityError(`the claims have more than ${MAX_CLAIMS} characters`)
    return { subject, claims }
  }

  /** Returns undefined if the provider does not accept the token. */
  async #userInformation(accessToken: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { endpoints } = this.#provider
    const headers = { authorization: `Bearer ${accessToken}`, 'user-agent': 'mcpx' }
    const userInfo = fetchJson(endpoints?.userInfo ?? '', this.#settings, { headers })
    const { status, body } = await userInfo.catch((cause: Error) => {
      throw this.#identityError(`the user information is unavailable: ${cause.message}`, cause)
    })
    if (status === 401) return undefined
    if (status === 200 && isObject(body)) return body
    throw this.#identityError(`the user information is unavailable: its status is ${status}`)
  }

  #identityError(problem: string, cause?: Error): AuthError {
    const { issuer, endpoints, name } = this.#provider
    const url = issuer ?? endpoints?.userInfo ?? name
    return new AuthError(`The user could not be identified: ${problem}`, { step: 'verification', url, cause })
  }

  /** Refreshes tokens. Returns undefined if the provider has ended the login. Rejects with `AuthError` for other failures. */
  async refresh(tokens: UpstreamTokens): Promise<UpstreamTokens | undefined> {
    if (tokens.refreshToken === undefined) return undefined
    const { token } = await this.#endpoints()
    const params = { refresh_token: tokens.refreshToken }
    const response = await this.#request('refresh', token, 'refresh_token', params)
    if (!('error' in response)) return toTokens(response, tokens.refreshToken)
    // GitHub sends `bad_refresh_token`.
    if (response.code === 'invalid_grant' || response.code === 'bad_refresh_token') return undefined
    throw response.error
  }

  /**
   * Returns whether the provider still accepts a token that does not expire. No request is sent to providers with ID
   * tokens, because their tokens expire.
   */
  async accepts({ accessToken }: UpstreamTokens): Promise<boolean> {
    return this.#metadata !== undefined || (await this.#userInformation(accessToken)) !== undefined
  }

  #request(step: TokenRequest['step'], url: string, grantType: string, params: TokenRequest['params']) {
    const { clientId: id, clientSecret: secret, clientAuthentication: method } = this.#provider
    const server = { issuer: this.#provider.issuer ?? new URL(url).origin, token_endpoint: url }
    return tryTokenRequest(this.#connection, { step, server, client: { id, secret, method }, grantType, params })
  }

  /** Returns the endpoints, and the members of the metadata that are needed to validate responses. */
  async #endpoints(): Promise<{ server: AuthorizationServer; authorization: string; token: string }> {
    const { endpoints } = this.#provider
    if (endpoints !== undefined) {
      const { authorization, token } = endpoints
      return { server: { issuer: new URL(authorization).origin }, authorization, token }
    }
    try {
      const metadata = (await this.#metadata?.get()) ?? {}
      const read = (name: string) => secureUrl(String(metadata[name]), name).href
      const server = metadata as unknown as AuthorizationServer
      return { server, authorization: read('authorization_endpoint'), token: read('token_endpoint') }
    } catch (cause) {
      const hint = 'Check the options of the provider, and that this server can reach it.'
      const message = `The metadata of the provider cannot be used: ${(cause as Error).message}`
      throw new AuthError(message, { step: 'discovery', hint, cause })
    }
  }
}

/**
 * Returns the scopes to request. `offline_access` is added if the provider lists it, because without it there are no
 * refresh tokens.
 */
function scopesOf({ scopes }: Provider, { scopes_supported: supported }: AuthorizationServer): string {
  const more = supported?.includes('offline_access') === true ? ['offline_access'] : []
  return [...new Set([...scopes, ...more])].join(' ')
}

function toTokens({ accessToken, refreshToken, lifetime }: TokenResponse, previous?: string): UpstreamTokens {
  const tokens = { accessToken, refreshToken: refreshToken ?? previous }
  if (lifetime === undefined) return tokens
  const expiresAt = Date.now() + lifetime
  return { ...tokens, expiresAt, refreshAt: expiresAt - Math.min(MARGIN, lifetime / 10) }
}
