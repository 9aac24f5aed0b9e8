/** Requests to the token and the revocation endpoint, with the authentication of the client (RFC 6749, 7009, 7523). */

import { isObject } from '@mcpx/protocol'
import { importJWK, importPKCS8 } from 'jose'
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  type CryptoKey,
  customFetch,
  genericTokenEndpointRequest,
  modifyAssertion,
  None,
  PrivateKeyJwt,
  revocationRequest,
} from 'oauth4webapi'
import { AuthError, type AuthStep, printable, redact } from '../auth-error.ts'
import { basicAuthorization, readJson } from '../bounded-fetch.ts'
import type { ServerMetadata } from './discovery.ts'
import { type DpopKey, nonceOf, withNonceOnly } from './dpop.ts'
import type { Connection } from './requests.ts'

/** How a client sends its secret. */
export type SecretMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A private key: a `CryptoKey`, a JWK, or PEM (PKCS #8). */
export type PrivateKey = CryptoKey | string | Readonly<Record<string, unknown>>

export interface AssertionKey {
  readonly privateKey: PrivateKey
  readonly algorithm?: string | undefined
  readonly audience?: 'issuer' | 'token_endpoint' | undefined
}

/** A client at one authorization server. */
export interface Client {
  readonly id: string
  readonly secret?: string | undefined
  /**
   * How the secret is sent. Default: `client_secret_basic` if the server supports it, otherwise `client_secret_post`.
   */
  readonly method?: SecretMethod | undefined
  readonly key?: AssertionKey | undefined
  /** Whether requests contain no client id. */
  readonly anonymous?: boolean | undefined
}

type TokenServer = Pick<ServerMetadata, 'issuer' | 'token_endpoint' | 'token_endpoint_auth_methods_supported'>

export interface TokenRequest {
  readonly step: 'token' | 'refresh'
  readonly server: TokenServer
  readonly client: Client
  readonly grantType: string
  /** The parameters of the grant. Undefined parameters are not sent. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly dpop?: DpopKey | undefined
}

export interface TokenResponse {
  readonly accessToken: string
  readonly tokenType: string
  /** The lifetime of the access token, in ms. Undefined if the response has none. */
  readonly lifetime: number | undefined
  readonly refreshToken: string | undefined
  /** The granted scopes. Undefined if they are the requested ones. */
  readonly scope: string | undefined
  readonly issuedTokenType: string | undefined
  readonly idToken: string | undefined
}

/** An error response. */
export interface TokenRefusal {
  /** The error code, such as `invalid_grant`. */
  readonly code: string
  readonly error: AuthError
}

export async function requestToken(connection: Connection, request: TokenRequest): Promise<TokenResponse> {
  const result = await tryTokenRequest(connection, request)
  if ('error' in result) throw result.error
  return result
}

/** How often one request is repeated with a new DPoP nonce. */
const MAX_NONCES = 2

/** Sends a token request. Returns an error response as a value. Rejects if there is no valid response. */
export async function tryTokenRequest(
  connection: Connection,
  { step, server, client, grantType, params, dpop }: TokenRequest,
): Promise<TokenResponse | TokenRefusal> {
  const send = connection.sender(step)
  const authentication = await clientAuthentication(client, server)
  const sent = Object.entries(params).filter((param): param is [string, string] => param[1] !== undefined)
  for (let attempt = 0; ; attempt++) {
    let secrets: string[] = []
    let response = new Response()
    const options = {
      ...(dpop && { DPoP: await dpop.handle() }),
      [allowInsecureRequests]: true,
      [customFetch]: async (url: string, init: { readonly body: URLSearchParams }) => {
        secrets = [...init.body.values(), client.secret ?? '']
        response = await send(url, init)
        return withNonceOnly(response)
      },
    }
    await genericTokenEndpointRequest(server, { client_id: client.id }, authentication, grantType, sent, options)
    const result = await readTokenResponse(step, server.token_endpoint, response, secrets)
    const wantsNonce = 'error' in result && result.code === 'use_dpop_nonce' && nonceOf(response) !== undefined
    if (!wantsNonce || attempt === MAX_NONCES) return result
  }
}

async function readTokenResponse(
  step: AuthStep,
  url: string,
  response: Response,
  secrets: readonly string[],
): Promise<TokenResponse | TokenRefusal> {
  const { status } = response
  const body = await readJson(response)
  // GitHub sends errors with the status 200.
  const isRefusal =
    isObject(body) && typeof body.error === 'string' && (status >= 400 || body.access_token === undefined)
  if (isRefusal) {
    const code = printable(body.error)
    return { code, error: refusal(step, url, { ...body, error: code }, secrets) }
  }
  if (status !== 200 && status !== 201) {
    const message = `The token request was refused with HTTP status ${status}, without an error code`
    const hint = 'Check that the authorization server runs, and read its logs.'
    throw new AuthError(message, { step, url, hint })
  }
  if (!isObject(body)) throw unreadable(step, url, 'is not a JSON object')
  return readTokens(step, url, body)
}

const hints: Readonly<Record<string, string>> = {
  access_denied: 'The user did not agree.',
  invalid_client: 'Check that the client id and its secret or key belong to this authorization server.',
  invalid_grant:
    'The code, token or assertion was used before, has expired, or was issued to another client: log in again.',
  invalid_request: 'If the description is about the resource parameter, pass resource: false.',
  invalid_scope: 'Request other scopes.',
  invalid_target:
    'The authorization server does not know the resource. If it supports no resource parameter, pass resource: false.',
  unauthorized_client: 'The client is not registered for this grant.',
  unsupported_grant_type: 'The authorization server does not support this grant.',
}

/** Creates the error for an error response of the token or the authorization endpoint. */
export function refusal(
  step: AuthStep,
  url: string,
  response: { readonly error: string; readonly error_description?: unknown },
  secrets: readonly string[] = [],
): AuthError {
  const { error: code, error_description: description } = response
  const details = typeof description === 'string' ? `: ${printable(redact(description, secrets))}` : ''
  const message = `The authorization server refused: ${redact(printable(code), secrets)}${details}`
  const hint = Object.hasOwn(hints, code) ? hints[code] : 'Read the logs of the authorization server.'
  return new AuthError(message, { step, url, hint })
}

/** The longest token, in characters. A token must fit into a header. */
const MAX_TOKEN_LENGTH = 65_536

function readTokens(step: AuthStep, url: string, body: Readonly<Record<string, unknown>>): TokenResponse {
  const { access_token: token, token_type: type, refresh_token: refresh, scope, issued_token_type: issued } = body
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(token)) {
    throw unreadable(step, url, 'has no access_token that fits into a header')
  }
  if (typeof type !== 'string') throw unreadable(step, url, 'has no token_type')
  if (refresh !== undefined && refresh !== null && typeof refresh !== 'string') {
    throw unreadable(step, url, 'has a refresh_token that is not a string')
  }
  return {
    accessToken: token,
    tokenType: type,
    lifetime: lifetimeOf(body.expires_in),
    refreshToken: refresh || undefined,
    scope: typeof scope === 'string' ? scope : undefined,
    issuedTokenType: typeof issued === 'string' ? issued : undefined,
    idToken: typeof body.id_token === 'string' ? body.id_token : undefined,
  }
}

/** The longest lifetime: ten years, in ms. Dates of much longer lifetimes cannot be represented. */
const MAX_LIFETIME = 315_360_000_000

/** Reads a lifetime in seconds. Some servers write it as a string. */
function lifetimeOf(expiresIn: unknown): number | undefined {
  const seconds = typeof expiresIn === 'string' && expiresIn !== '' ? Number(expiresIn) : expiresIn
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined
  return Math.min(seconds * 1_000, MAX_LIFETIME)
}

function unreadable(step: AuthStep, url: string, problem: string): AuthError {
  const hint = 'Check that the token endpoint implements OAuth 2.1.'
  return new AuthError(`The response of the token endpoint ${problem}`, { step, url, hint })
}

/** Revokes one token. Rejects with `AuthError` unless the server confirms it. */
export async function revokeToken(
  connection: Connection,
  server: ServerMetadata,
  client: Client,
  type: 'access_token' | 'refresh_token',
  token: string,
): Promise<void> {
  const authentication = await clientAuthentication(client, server)
  const { status } = await revocationRequest(server, { client_id: client.id }, authentication, token, {
    additionalParameters: { token_type_hint: type },
    [allowInsecureRequests]: true,
    [customFetch]: connection.sender('revocation'),
  })
  if (status === 200) return
  const message = `The tokens were deleted here, and not revoked: HTTP status ${status}`
  const hint = 'A copy of them works until they expire: end the session at the authorization server.'
  throw new AuthError(message, { step: 'revocation', url: server.revocation_endpoint, hint })
}

// Client authentication

async function clientAuthentication(client: Client, server: TokenServer): Promise<ClientAuth> {
  const { secret, key, anonymous } = client
  if (key !== undefined) return privateKeyJwt(key)
  if (anonymous === true) return () => {}
  const method = secret === undefined ? 'none' : (client.method ?? supportedMethod(server))
  if (secret === undefined || method === 'none') return None()
  if (method === 'client_secret_post') return ClientSecretPost(secret)
  // Do not use the method of the library, which encodes more characters.
  return (_, { client_id }, __, headers) => headers.set('authorization', basicAuthorization(client_id, secret))
}

function supportedMethod(server: TokenServer): SecretMethod {
  const { token_endpoint_auth_methods_supported: supported, token_endpoint: url } = server
  // A server that lists no methods supports the header (RFC 8414, section 2).
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'
  if (supported.includes('client_secret_post')) return 'client_secret_post'
  if (supported.includes('none')) return 'none'
  const list = printable(supported.slice(0, 5).join(', '))
  const message = `The server authenticates clients by ${list}, and this client has a secret`
  const hint = 'Pass a privateKey instead, if the list contains private_key_jwt.'
  throw new AuthError(message, { step: 'token', url, hint })
}

async function privateKeyJwt({ privateKey, algorithm: given, audience }: AssertionKey): Promise<ClientAuth> {
  const jwk = typeof privateKey === 'object' && 'kty' in privateKey ? privateKey : undefined
  const algorithm = given ?? (typeof jwk?.alg === 'string' ? jwk.alg : 'ES256')
  let tokenEndpoint: string | undefined
  const modify = (header: Record<string, unknown>, payload: Record<string, unknown>) => {
    const isForKey = header.alg === algorithm || (header.alg === 'Ed25519' && algorithm === 'EdDSA')
    if (!isForKey) {
      const message = `The private key is for ${header.alg}, not for ${algorithm}`
      throw new AuthError(message, { step: 'token', hint: `Pass algorithm: '${header.alg}'.` })
    }
    header.alg = algorithm
    if (audience === 'token_endpoint') payload.aud = tokenEndpoint
    // Servers whose clock is late would refuse the assertion.
    delete payload.nbf
  }
  let authenticate: ClientAuth
  try {
    const key = (await importPrivateKey(privateKey, algorithm)) as CryptoKey
    const kid = typeof jwk?.kid === 'string' ? { kid: jwk.kid } : {}
    authenticate = PrivateKeyJwt({ key, ...kid }, { [modifyAssertion]: modify })
  } catch {
    // The error has no cause, because messages of the import functions quote the key.
    const hint = `Expected a CryptoKey, a JWK, or PEM that begins with "BEGIN PRIVATE KEY", for ${algorithm}.`
    throw new AuthError('The private key cannot be used', { step: 'token', hint })
  }
  return async (server, client, body, headers) => {
    tokenEndpoint = server.token_endpoint
    await authenticate(server, client, body, headers)
    // The assertion names the client.
    body.delete('client_id')
  }
}

function importPrivateKey(privateKey: PrivateKey, algorithm: string) {
  if (typeof privateKey === 'string') return importPKCS8(privateKey, algorithm)
  return 'kty' in privateKey ? importJWK(privateKey, algorithm) : privateKey
}
