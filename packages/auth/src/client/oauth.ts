/** Logs a user in with OAuth: the authorization code flow, with a redirect. */

import { kindOf } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import { authorize, requirePkce, resume } from './authorization-code.ts'
import { checkClientId } from './client-credentials.ts'
import { type CommonOptions, checkLoginOptions, createLogin, type Login } from './create-login.ts'
import type { Flow, FlowContext, FlowResult } from './flow.ts'
import type { Redirect } from './redirects.ts'
import {
  type ClientMetadata,
  deleteRegistration,
  type Registration,
  register,
  requireNewRegistration,
  storedRegistration,
} from './registration.ts'
import type { Client, SecretMethod } from './token-endpoint.ts'

/** Options of `oauth`. */
export interface OAuthOptions extends CommonOptions {
  /**
   * Sends the user to the authorization server and reads the callback: `loopbackRedirect()`, `popupRedirect()`,
   * `pageRedirect()`, or your own. Default: none; then only the tokens in `store` are used.
   */
  readonly redirect?: Redirect | undefined
  /**
   * The URL of a metadata document of this client (`https:`, with a path). It is the client id at every authorization
   * server that supports such documents. Default: none.
   */
  readonly clientMetadataUrl?: string | undefined
  /**
   * The id of a client that was registered by hand. It has precedence over `clientMetadataUrl` and
   * dynamic registration; pass `issuer` with it. Default: none.
   */
  readonly clientId?: string | undefined
  /** The secret of a client that was registered by hand. Default: none. */
  readonly clientSecret?: string | undefined
  /**
   * How the secret is sent. Default: `client_secret_basic` if the server supports it, otherwise `client_secret_post`,
   * otherwise `none`.
   */
  readonly clientAuthentication?: SecretMethod | undefined
  /** The metadata for dynamic registration. Default: the name `MCP client`, and values derived from the redirect. */
  readonly clientMetadata?: ClientMetadata | undefined
  /**
   * Additional parameters of the authorization request, such as `login_hint`. They cannot replace parameters that this
   * package sets. Default: none.
   */
  readonly authorizationParams?: Readonly<Record<string, string>> | undefined
}

// biome-ignore format: a list of names reads best as a paragraph
const OWN_OPTIONS = {
  redirect: true, clientMetadataUrl: true, clientId: true, clientSecret: true, clientAuthentication: true,
  clientMetadata: true, authorizationParams: true,
} as const

/**
 * Logs a user in when a server requires authorization. Finds the authorization server, registers the client, and sends
 * the user to the login. Stores and refreshes the tokens, and requests more scopes when a call needs them. If a step
 * fails, the request rejects with an `AuthError` that names the step and the reason.
 *
 * ```ts
 * const client = await connect(http('https://example.com/mcp', { auth: oauth({ redirect: loopbackRedirect() }) }))
 * ```
 *
 * @throws TypeError for invalid options
 */
export function oauth(options: OAuthOptions): Login {
  checkLoginOptions('oauth', options, OWN_OPTIONS)
  const { clientId, clientMetadataUrl, redirect } = options
  if (redirect !== undefined && redirect?.redirectUri === undefined) {
    throw new TypeError(`redirect: expected a redirect such as loopbackRedirect(), got ${kindOf(redirect)}`)
  }
  if (clientId !== undefined) checkClientId('clientId', clientId)
  if (clientMetadataUrl !== undefined) checkMetadataUrl(clientMetadataUrl)
  const flow: Flow = {
    interactive: true,
    kind: clientId ?? clientMetadataUrl ?? '',
    bound: clientId !== undefined,
    client: async (context) => (await knownClient(options, context, context.clientId))?.client,
    start: (context, scope) => logIn(options, context, scope),
    forgetClient: deleteRegistration,
  }
  return createLogin(options, flow)
}

interface KnownClient {
  readonly client: Client
  /** The redirect URIs of a dynamic registration. Undefined for other clients. */
  readonly redirectUris?: Registration['redirectUris'] | undefined
}

/**
 * Returns the client that was registered by hand, otherwise the client with a metadata document, otherwise the client
 * that was registered dynamically before.
 */
async function knownClient(
  { clientId, clientSecret, clientAuthentication, clientMetadataUrl }: OAuthOptions,
  context: FlowContext,
  storedId?: string,
): Promise<KnownClient | undefined> {
  if (clientId !== undefined) {
    return { client: { id: clientId, secret: clientSecret, method: clientAuthentication } }
  }
  const { client_id_metadata_document_supported: acceptsDocuments } = context.discovery.server
  if (clientMetadataUrl !== undefined && acceptsDocuments === true) {
    return { client: { id: clientMetadataUrl, method: 'none' } }
  }
  return storedRegistration(context, storedId)
}

async function logIn(options: OAuthOptions, context: FlowContext, scope: readonly string[]): Promise<FlowResult> {
  const { redirect, clientMetadata = {}, authorizationParams: params = {} } = options
  requirePkce(context.discovery.server)
  if (redirect === undefined) {
    const hint = 'Give oauth() a redirect, such as loopbackRedirect(), or a store with the tokens of an earlier login.'
    throw new AuthError('The user must log in, and there is no redirect', { step: 'authorization', hint })
  }
  const known = await knownClient(options, context)
  const resumed = known && (await resume(context, known.client, redirect))
  if (known !== undefined && resumed !== undefined) return { client: known.client, response: resumed }
  const end = new AbortController()
  const signal = AbortSignal.any([context.signal, end.signal])
  try {
    const redirectUri = await redirectUriOf(redirect, signal, known?.redirectUris ?? [])
    const isUsable = known !== undefined && (known.redirectUris?.includes(redirectUri) ?? true)
    const client = isUsable ? known.client : await register(context, clientMetadata, redirectUri)
    const response = await authorize({ ...context, signal }, { client, redirect, redirectUri, scope, params })
    return { client, response }
  } catch (error) {
    // The server may have deleted the client. Then it shows an error to the user, and does not redirect back.
    if (known?.redirectUris !== undefined && !context.signal.aborted) await requireNewRegistration(context)
    throw error
  } finally {
    end.abort()
  }
}

async function redirectUriOf(
  { redirectUri }: Redirect,
  signal: AbortSignal,
  registered: readonly string[],
): Promise<string> {
  const uri = typeof redirectUri === 'string' ? redirectUri : await redirectUri({ signal, registered })
  const hint = 'It must use https:, be at 127.0.0.1, [::1] or localhost, or have a scheme such as com.example.app:.'
  if (!URL.canParse(uri)) {
    throw new AuthError('The redirect URI is not a URL', { step: 'authorization', url: uri, hint })
  }
  const { protocol, hostname, hash } = new URL(uri)
  const isLocal = hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost'
  const isPrivateScheme = /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:$/.test(protocol)
  if (hash === '' && (protocol === 'https:' || (protocol === 'http:' && isLocal) || isPrivateScheme)) return uri
  throw new AuthError('The redirect URI cannot be used', { step: 'authorization', url: uri, hint })
}

function checkMetadataUrl(given: string): void {
  const url = URL.canParse(given) ? new URL(given) : undefined
  const isPlain = url !== undefined && url.hash === '' && url.username === '' && url.password === ''
  if (!isPlain || url.protocol !== 'https:' || url.pathname === '/' || /\/\.{1,2}(?:\/|$)/.test(given)) {
    throw new TypeError(`clientMetadataUrl: expected an https: URL with a path and no fragment, got ${given}`)
  }
}
