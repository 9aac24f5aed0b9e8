/**
 * An employee whom their company vouches for: the identity provider gives out an assertion for the authorization server
 * of a server (ID-JAG), and that one gives a token for it. Nobody is asked, the company has decided.
 */

import type { Client } from './client-authentication.ts'
import { type CommonOptions, createAuth } from './create-auth.ts'
import { failure, quote } from './failure.ts'
import type { Awaitable, Login } from './fetch.ts'
import type { Attempt } from './flow.ts'
import type { Link } from './link.ts'
import { type CredentialOptions, clientOf, machineFlow } from './machine-flows.ts'
import { missingServerMetadata, readServerMetadata } from './server-metadata.ts'
import { requestToken } from './token-endpoint.ts'

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The identity provider of the company, and who this client is there. */
export interface IdentityProvider extends CredentialOptions {
  readonly issuer: string
  /** Default: what the metadata of the issuer say. */
  readonly tokenEndpoint?: string | undefined
  /** What the employee got by logging in: asked for each time a token is needed. */
  readonly subjectToken: string | (() => Awaitable<string>)
  /** Default: `id_token`. */
  readonly subjectTokenType?: 'id_token' | 'refresh_token' | 'saml2' | undefined
}

export interface EnterpriseOptions extends CommonOptions, CredentialOptions {
  readonly identityProvider: IdentityProvider
}

/**
 * Acts for an employee whom their company's identity provider vouches for.
 *
 * ```ts
 * const auth = enterprise({
 *   clientId: 'assistant',
 *   clientSecret,
 *   identityProvider: { issuer: 'https://sso.example', clientId: 'assistant', subjectToken: () => session.idToken },
 * })
 * ```
 */
export function enterprise(options: EnterpriseOptions): Login {
  const { identityProvider } = options
  if (!URL.canParse(identityProvider.issuer)) {
    throw new TypeError(`identityProvider.issuer: expected a URL, got ${identityProvider.issuer}`)
  }
  const flow = machineFlow(JWT_BEARER, clientOf(options), async (attempt, scope) => ({
    grant_type: JWT_BEARER,
    assertion: await exchange(identityProvider, attempt, scope),
  }))
  return createAuth(options, { ...flow, kind: `${flow.kind} ${identityProvider.issuer}` })
}

/** Trades what the employee has for an assertion that only this authorization server can use (RFC 8693). */
async function exchange(provider: IdentityProvider, attempt: Attempt, scope: string | undefined): Promise<string> {
  const { link, found } = attempt
  const server = await endpointOf(provider, link)
  const client: Client = clientOf(provider)
  const { subjectToken, subjectTokenType = 'id_token' } = provider
  const params = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: ID_JAG,
    audience: found.server.issuer,
    resource: found.resource,
    scope,
    subject_token: typeof subjectToken === 'string' ? subjectToken : await subjectToken(),
    subject_token_type: `urn:ietf:params:oauth:token-type:${subjectTokenType}`,
  }
  const { accessToken, issuedTokenType } = await requestToken(link, { step: 'token', server, client, params })
  if (issuedTokenType === ID_JAG) return accessToken
  const hint = 'It was not sent on: it may be good for more than this server. Ask whoever runs the identity provider.'
  const message = `The identity provider gave a token of type ${quote(issuedTokenType)} in place of ${ID_JAG}`
  throw failure('token', message, { url: server.tokenEndpoint, hint })
}

/** The company has named its provider itself: it may lie in its own network. */
async function endpointOf({ issuer, tokenEndpoint }: IdentityProvider, link: Link) {
  const by = new URL(issuer)
  if (tokenEndpoint === undefined) {
    const metadata = await readServerMetadata(link, { issuer, by })
    if (metadata === undefined) throw missingServerMetadata(issuer)
    return metadata
  }
  const url = await link.check('token', 'identityProvider.tokenEndpoint', tokenEndpoint, by)
  return { issuer, tokenEndpoint: url, tokenEndpointAuthMethods: undefined }
}
