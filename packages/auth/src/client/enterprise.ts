/**
 * Tokens for an employee without a consent page. The identity provider of the company issues an assertion (ID-JAG),
 * and the authorization server of the MCP server exchanges the assertion for a token.
 */

import { type Awaitable, refuseUnknownOption } from '@mcpx/protocol'
import { AuthError, printable } from '../auth-error.ts'
import {
  CREDENTIAL_OPTIONS,
  type CredentialOptions,
  checkClientId,
  clientOf,
  JWT_BEARER,
  machineFlow,
} from './client-credentials.ts'
import { type CommonOptions, checkLoginOptions, createLogin, type Login } from './create-login.ts'
import { missingServerMetadata, readServerMetadata } from './discovery.ts'
import type { FlowContext } from './flow.ts'
import type { Connection } from './requests.ts'
import { requestToken } from './token-endpoint.ts'

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** The identity provider of the company, with the credentials of this client at the provider. */
export interface IdentityProvider extends CredentialOptions {
  /** The identifier of the provider. */
  readonly issuer: string
  /** The URL of its token endpoint. Default: `token_endpoint` in the metadata of the issuer. */
  readonly tokenEndpoint?: string | undefined
  /** The token of the employee's login, or a function that is called for each exchange. */
  readonly subjectToken: string | (() => Awaitable<string>)
  /** The type of the subject token. Default: `id_token`. */
  readonly subjectTokenType?: 'id_token' | 'refresh_token' | 'saml2' | undefined
}

/** Options of `enterprise`. */
export interface EnterpriseOptions extends CommonOptions, CredentialOptions {
  /** The identity provider of the company. */
  readonly identityProvider: IdentityProvider
}

/**
 * Obtains tokens for an employee with the identity provider of the company.
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
  checkLoginOptions('enterprise', options, { ...CREDENTIAL_OPTIONS, identityProvider: true })
  const { identityProvider } = options
  refuseUnknownOption('enterprise: identityProvider', identityProvider, [
    ...Object.keys(CREDENTIAL_OPTIONS),
    ...(['issuer', 'tokenEndpoint', 'subjectToken', 'subjectTokenType'] satisfies (keyof IdentityProvider)[]),
  ])
  checkClientId('clientId', options.clientId)
  checkClientId('identityProvider.clientId', identityProvider.clientId)
  if (!URL.canParse(identityProvider.issuer)) {
    throw new TypeError(`identityProvider.issuer: expected a URL, got ${identityProvider.issuer}`)
  }
  const flow = machineFlow(JWT_BEARER, clientOf(options), async (context, scope) => ({
    assertion: await requestAssertion(identityProvider, context, scope),
  }))
  return createLogin(options, { ...flow, kind: `${flow.kind} ${identityProvider.issuer}` })
}

/** Exchanges the token of the employee for an assertion that only this authorization server accepts (RFC 8693). */
async function requestAssertion(
  provider: IdentityProvider,
  { connection, discovery }: FlowContext,
  scope: string | undefined,
): Promise<string> {
  const server = await tokenServerOf(provider, connection)
  const { subjectToken, subjectTokenType = 'id_token' } = provider
  const params = {
    requested_token_type: ID_JAG,
    audience: discovery.server.issuer,
    ...discovery.resourceParams,
    scope,
    subject_token: typeof subjectToken === 'string' ? subjectToken : await subjectToken(),
    subject_token_type: `urn:ietf:params:oauth:token-type:${subjectTokenType}`,
  }
  const request = { step: 'token', server, client: clientOf(provider), grantType: TOKEN_EXCHANGE, params } as const
  const { accessToken, issuedTokenType } = await requestToken(connection, request)
  if (issuedTokenType === ID_JAG) return accessToken
  const message = `The identity provider issued a token of type ${printable(issuedTokenType)} instead of ${ID_JAG}`
  const hint = 'It was not sent: other servers may accept it too. Ask the operator of the identity provider.'
  throw new AuthError(message, { step: 'token', url: server.token_endpoint, hint })
}

/**
 * Finds the token endpoint of the identity provider. The provider is in the options, so it may be in a private network.
 */
async function tokenServerOf({ issuer, tokenEndpoint }: IdentityProvider, connection: Connection) {
  const namedBy = new URL(issuer)
  if (tokenEndpoint === undefined) {
    const metadata = await readServerMetadata(connection, { issuer, namedBy })
    if (metadata === undefined) throw missingServerMetadata(issuer)
    return metadata
  }
  const url = await connection.urls.check('token', 'identityProvider.tokenEndpoint', tokenEndpoint, namedBy)
  return { issuer, token_endpoint: url.href }
}
