/** Ways to get tokens that ask nobody: a client in its own name, an employee whom their company vouches for, a workload. */

import type { AssertionKey, Client, PrivateKey, SecretMethod } from './client-authentication.ts'
import { type CommonOptions, createAuth } from './create-auth.ts'
import { failure, quote } from './failure.ts'
import type { Awaitable, Login } from './fetch.ts'
import type { Attempt, Flow } from './flow.ts'
import type { ServerMetadata } from './server-metadata.ts'
import { requestToken } from './token-endpoint.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** How a client that was registered by hand shows who it is: by a secret, or better by a key. */
export interface CredentialOptions {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** How the secret is shown. Default: what the server supports, a header before the body. */
  readonly clientAuthentication?: SecretMethod | undefined
  /** Signs an assertion for each request (`private_key_jwt`): a `CryptoKey`, a JWK, or PEM (PKCS #8). Goes before a secret. */
  readonly privateKey?: PrivateKey | undefined
  /** What assertions are signed with. Default: what the JWK says, or `ES256`. */
  readonly algorithm?: string | undefined
  /** Who assertions are for. Default: `issuer`; some servers still want the `token_endpoint`. */
  readonly assertionAudience?: AssertionKey['audience']
}

export interface ClientCredentialsOptions extends CommonOptions, CredentialOptions {}

/**
 * A client in its own name, without a user.
 *
 * ```ts
 * const auth = clientCredentials({ clientId: 'nightly', clientSecret, issuer: 'https://login.example' })
 * ```
 *
 * @throws TypeError when there is neither a secret nor a key
 */
export function clientCredentials(options: ClientCredentialsOptions): Login {
  if (options.clientSecret === undefined && options.privateKey === undefined) {
    throw new TypeError('clientCredentials: expected a clientSecret or a privateKey')
  }
  return createAuth(
    options,
    machineFlow('client_credentials', clientOf(options), async () => ({ grant_type: 'client_credentials' })),
  )
}

export interface WorkloadOptions extends CommonOptions {
  /**
   * The token of the platform: read for each request, as platforms change it. Its audience is the authorization server;
   * one that is for somebody else is not shown, unless `issuer` is given.
   */
  readonly assertion: string | ((context: { readonly issuer: string; readonly resource: string }) => Awaitable<string>)
}

/** A workload that its platform vouches for: its token is traded for one of the authorization server (RFC 7523). */
export function workload(options: WorkloadOptions): Login {
  const { assertion } = options
  const client: Client = { id: 'workload', anonymous: true }
  return createAuth(
    options,
    machineFlow(JWT_BEARER, client, async ({ found }) => {
      const { resource, server } = found
      const text = typeof assertion === 'string' ? assertion : await assertion({ issuer: server.issuer, resource })
      // An issuer that the user names may go by another name at the platform.
      if (options.issuer === undefined) await refuseOtherAudience(text, server)
      return { grant_type: JWT_BEARER, assertion: text }
    }),
  )
}

/** Whoever gets an assertion can use it at whom it is for: it goes to nobody else, whomever the server names. */
async function refuseOtherAudience(assertion: string, { issuer, tokenEndpoint }: ServerMetadata): Promise<void> {
  const { decodeJwt } = await import('jose')
  let audience: unknown
  try {
    audience = decodeJwt(assertion).aud
  } catch {
    // What is no JWT says nothing of whom it is for.
  }
  if (audience === undefined) return
  const bare = (url: string) => url.replace(/\/$/, '')
  const ours = [bare(issuer), bare(tokenEndpoint.href)]
  if ([audience].flat().some((each) => typeof each === 'string' && ours.includes(bare(each)))) return
  const hint = 'It was not sent. If this is the right authorization server, name it: pass its issuer to workload().'
  throw failure('token', `The assertion is for ${quote(audience)}, not for ${quote(issuer)}`, { url: issuer, hint })
}

export function clientOf(options: CredentialOptions): Client {
  const { clientId: id, clientSecret: secret, clientAuthentication: method, privateKey, algorithm } = options
  if (privateKey === undefined) return { id, secret, method }
  return { id, key: { privateKey, algorithm, audience: options.assertionAudience } }
}

/** @param paramsOf what is sent beside resource and scope */
export function machineFlow(
  grantType: string,
  client: Client,
  paramsOf: (attempt: Attempt, scope: string | undefined) => Promise<Readonly<Record<string, string>>>,
): Flow {
  return {
    interactive: false,
    kind: `${grantType} ${client.id}`,
    // Secrets are of use to whoever gets them: they go to the server of the first time only.
    bound: client.secret !== undefined,
    client: async () => client,
    async obtain(attempt, scopes) {
      const { link, found, prover } = attempt
      const { server, resource } = found
      refuseWithoutGrant(attempt, grantType)
      const scope = scopes.length === 0 ? undefined : scopes.join(' ')
      const params = { ...(await paramsOf(attempt, scope)), resource, scope }
      return { client, grant: await requestToken(link, { step: 'token', server, client, params, prover }) }
    },
  }
}

function refuseWithoutGrant({ found: { server } }: Attempt, grantType: string): void {
  if (server.grantTypes === undefined || server.grantTypes.includes(grantType)) return
  const offered = quote(server.grantTypes.slice(0, 5).join(', '))
  const hint = 'Ask whoever runs it to switch the grant on.'
  const message = `The authorization server does not offer ${grantType}, only ${offered}`
  throw failure('token', message, { url: server.issuer, hint })
}
