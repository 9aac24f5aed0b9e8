/**
 * Tokens without a user: for a client with its own credentials (RFC 6749, section 4.4), and for a workload with an
 * assertion (RFC 7523).
 */

import type { Awaitable } from '@mcpx/protocol'
import { decodeJwt } from 'jose'
import { AuthError, printable } from '../auth-error.ts'
import { type CommonOptions, checkLoginOptions, createLogin, type Login } from './create-login.ts'
import type { ServerMetadata } from './discovery.ts'
import type { Flow, FlowContext } from './flow.ts'
import { type AssertionKey, type Client, type PrivateKey, requestToken, type SecretMethod } from './token-endpoint.ts'

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The credentials of a client that was registered by hand: a secret or a private key. A key is safer. */
export interface CredentialOptions {
  /** The id of the client at its authorization server. */
  readonly clientId: string
  /** The secret of the client. Default: none. */
  readonly clientSecret?: string | undefined
  /**
   * How the secret is sent. Default: `client_secret_basic` if the server supports it, otherwise `client_secret_post`.
   */
  readonly clientAuthentication?: SecretMethod | undefined
  /**
   * Signs an assertion for each request (`private_key_jwt`): a `CryptoKey`, a JWK, or PEM (PKCS #8). If both are set,
   * the key is used and the secret is ignored.
   */
  readonly privateKey?: PrivateKey | undefined
  /** The algorithm of assertions. Default: `alg` of the JWK, or `ES256`. */
  readonly algorithm?: string | undefined
  /** The audience of assertions. Default: `issuer`; some servers expect the `token_endpoint`. */
  readonly assertionAudience?: AssertionKey['audience']
}

// biome-ignore format: a list of names reads best as a paragraph
export const CREDENTIAL_OPTIONS: Readonly<Record<keyof CredentialOptions, true>> = {
  clientId: true, clientSecret: true, clientAuthentication: true, privateKey: true, algorithm: true,
  assertionAudience: true,
}

/** Options of `clientCredentials`. */
export interface ClientCredentialsOptions extends CommonOptions, CredentialOptions {}

/**
 * Obtains tokens with the client's own credentials, without a user.
 *
 * ```ts
 * const auth = clientCredentials({ clientId: 'nightly', clientSecret, issuer: 'https://login.example' })
 * ```
 *
 * @throws TypeError without a secret and a key
 */
export function clientCredentials(options: ClientCredentialsOptions): Login {
  checkLoginOptions('clientCredentials', options, CREDENTIAL_OPTIONS)
  checkClientId('clientId', options.clientId)
  if (options.clientSecret === undefined && options.privateKey === undefined) {
    throw new TypeError('clientCredentials: expected a clientSecret or a privateKey')
  }
  return createLogin(
    options,
    machineFlow('client_credentials', clientOf(options), async () => ({})),
  )
}

/** Options of `workload`. */
export interface WorkloadOptions extends CommonOptions {
  /**
   * The token of the platform, or a function that returns it. The function is called for each token request, because
   * platforms rotate their tokens. The audience of the token must be the authorization server; a token for another
   * audience is sent only if the option `issuer` is set.
   */
  readonly assertion: string | ((context: { readonly issuer: string; readonly resource: string }) => Awaitable<string>)
}

/**
 * Obtains tokens for a workload: exchanges the token that its platform issues for a token of the authorization server
 * (RFC 7523).
 */
export function workload(options: WorkloadOptions): Login {
  checkLoginOptions('workload', options, { assertion: true })
  const { assertion: given } = options
  const client: Client = { id: 'workload', anonymous: true }
  const flow = machineFlow(JWT_BEARER, client, async ({ discovery: { server, resource } }) => {
    const assertion = typeof given === 'string' ? given : await given({ issuer: server.issuer, resource })
    // If the user names the issuer, the platform may know it by another name.
    if (options.issuer === undefined) refuseOtherAudience(assertion, server)
    return { assertion }
  })
  return createLogin(options, flow)
}

/**
 * Throws if an assertion is for another audience. Any server that receives an assertion can use it at its audience, so
 * it is sent only to its audience.
 */
function refuseOtherAudience(assertion: string, { issuer, token_endpoint }: ServerMetadata): void {
  let audience: unknown
  try {
    audience = decodeJwt(assertion).aud
  } catch {
    // A token that is not a JWT does not name its audience.
  }
  if (audience === undefined) return
  const withoutSlash = (url: string) => url.replace(/\/$/, '')
  const accepted = [withoutSlash(issuer), withoutSlash(token_endpoint)]
  if ([audience].flat().some((each) => typeof each === 'string' && accepted.includes(withoutSlash(each)))) return
  const message = `The assertion is for ${printable(audience)}, not for ${printable(issuer)}`
  const hint = 'It was not sent. If this is the right authorization server, pass its issuer to workload().'
  throw new AuthError(message, { step: 'token', url: issuer, hint })
}

/** Throws if the client id is not a string or is empty, for example because an environment variable is missing. */
export function checkClientId(option: string, clientId: unknown): void {
  if (typeof clientId === 'string' && clientId !== '') return
  const got = clientId === '' ? '""' : String(clientId)
  throw new TypeError(`${option}: expected a string that is not empty, got ${got}`)
}

export function clientOf(options: CredentialOptions): Client {
  const { clientId: id, clientSecret: secret, clientAuthentication: method, privateKey, algorithm } = options
  if (privateKey === undefined) return { id, secret, method }
  return { id, key: { privateKey, algorithm, audience: options.assertionAudience } }
}

/** @param paramsOf returns the parameters of a token request in addition to resource and scope */
export function machineFlow(
  grantType: string,
  client: Client,
  paramsOf: (context: FlowContext, scope: string | undefined) => Promise<Readonly<Record<string, string>>>,
): Flow {
  return {
    interactive: false,
    kind: `${grantType} ${client.id}`,
    // Any server that receives a secret can use it, so it is sent only to the authorization server of the first login.
    bound: client.secret !== undefined,
    client: async () => client,
    async start(context, scopes) {
      const { connection, discovery, dpop } = context
      const { server, resourceParams } = discovery
      requireGrant(server, grantType)
      const scope = scopes.length === 0 ? undefined : scopes.join(' ')
      const params = { ...(await paramsOf(context, scope)), ...resourceParams, scope }
      return {
        client,
        response: await requestToken(connection, { step: 'token', server, client, grantType, params, dpop }),
      }
    },
  }
}

function requireGrant({ issuer, grant_types_supported: supported }: ServerMetadata, grantType: string): void {
  if (supported === undefined || supported.includes(grantType)) return
  const list = printable(supported.slice(0, 5).join(', '))
  const message = `The authorization server does not support ${grantType}, only ${list}`
  throw new AuthError(message, { step: 'token', url: issuer, hint: 'Ask its operator to enable the grant.' })
}
