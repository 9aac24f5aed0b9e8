/** Logs a user in: the flow of an OAuth client with a redirect. */

import { authorize, refuseWithoutPkce, resume } from './authorization-code.ts'
import type { Client, SecretMethod } from './client-authentication.ts'
import { type CommonOptions, createAuth } from './create-auth.ts'
import { failure } from './failure.ts'
import type { Login } from './fetch.ts'
import type { Attempt, Flow, Obtained } from './flow.ts'
import type { Redirect } from './redirect.ts'
import {
  type ClientMetadata,
  distrustRegistration,
  forgetRegistration,
  keptRegistration,
  register,
} from './registration.ts'

export interface OAuthOptions extends CommonOptions {
  /**
   * How the user gets to the authorization server and back: `loopbackRedirect()`, `popupRedirect()`, `pageRedirect()`,
   * or your own. Default: nobody can log in here, and what is in the store has to do.
   */
  readonly redirect?: Redirect | undefined
  /**
   * The URL of a document about this client, which is its id at every authorization server that takes such documents.
   * `https:`, with a path. Default: none.
   */
  readonly clientMetadataUrl?: string | undefined
  /** The id of a client that was registered by hand: it goes before all else. Pass its `issuer` with it. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** How the secret is shown. Default: what the server supports, a header before the body. */
  readonly clientAuthentication?: SecretMethod | undefined
  /** What a server is told that registers clients on the spot. Default: a name, and what follows from the redirect. */
  readonly clientMetadata?: ClientMetadata | undefined
  /** More for the query of the authorization endpoint, such as `login_hint`. What the protocol says goes before it. */
  readonly authorizationParams?: Readonly<Record<string, string>> | undefined
}

/**
 * Logs a user in where a server asks who it is: finds its authorization server, registers there, asks the user, keeps the
 * tokens, refreshes them, and asks for more rights when a call needs them. A request fails with `AuthError`, which
 * says at which step and why.
 *
 * ```ts
 * const client = await connect(http('https://example.com/mcp', { auth: oauth({ redirect: loopbackRedirect() }) }))
 * ```
 *
 * @throws TypeError for options that cannot be
 */
export function oauth(options: OAuthOptions): Login {
  const { clientId, clientMetadataUrl } = options
  if (clientMetadataUrl !== undefined) checkMetadataUrl(clientMetadataUrl)
  const flow: Flow = {
    interactive: true,
    kind: clientId ?? clientMetadataUrl ?? '',
    bound: clientId !== undefined,
    client: async (attempt) => (await knownClient(options, attempt, attempt.clientId))?.client,
    obtain: (attempt, scope) => obtain(options, attempt, scope),
    forget: forgetRegistration,
  }
  return createAuth(options, flow)
}

interface Known {
  readonly client: Client
  /** Nothing where the server decides by itself what it takes. */
  readonly redirectUris?: readonly string[] | undefined
}

/** Registered by hand, by a document, or on the spot before: in this order. */
async function knownClient(options: OAuthOptions, attempt: Attempt, id?: string): Promise<Known | undefined> {
  const { clientId, clientSecret, clientAuthentication, clientMetadataUrl } = options
  if (clientId !== undefined) {
    return { client: { id: clientId, secret: clientSecret, method: clientAuthentication } }
  }
  if (clientMetadataUrl !== undefined && attempt.found.server.clientIdMetadataDocuments) {
    return { client: { id: clientMetadataUrl, method: 'none' } }
  }
  return keptRegistration(attempt, id)
}

async function obtain(options: OAuthOptions, attempt: Attempt, scope: readonly string[]): Promise<Obtained> {
  const { redirect, clientMetadata = {}, authorizationParams: params = {} } = options
  refuseWithoutPkce(attempt.found.server)
  if (redirect === undefined) {
    const hint = 'Give oauth() a redirect, such as loopbackRedirect(), or a store in which somebody has logged in.'
    throw failure('authorization', 'A user has to log in, and there is no way to ask one', { hint })
  }
  const known = await knownClient(options, attempt)
  const resumed = known && (await resume(attempt, known.client, redirect))
  if (known !== undefined && resumed !== undefined) return { client: known.client, grant: resumed }
  const over = new AbortController()
  const signal = AbortSignal.any([attempt.signal, over.signal])
  try {
    const registered = known?.redirectUris ?? []
    const redirectUri = checkRedirectUri(await uriOf(redirect, { signal, registered }))
    const usable = known !== undefined && (known.redirectUris?.includes(redirectUri) ?? true)
    const client = usable ? known.client : await register(attempt, clientMetadata, redirectUri)
    const grant = await authorize({ ...attempt, signal }, { client, redirect, redirectUri, scope, params })
    return { client, grant }
  } catch (error) {
    // A server that has forgotten a client shows its users an error and sends nobody back.
    if (known?.redirectUris !== undefined && !attempt.signal.aborted) await distrustRegistration(attempt)
    throw error
  } finally {
    over.abort()
  }
}

function uriOf({ redirectUri }: Redirect, options: { signal: AbortSignal; registered: readonly string[] }) {
  return typeof redirectUri === 'string' ? redirectUri : redirectUri(options)
}

/** Codes go over no wire that others can read. */
function checkRedirectUri(uri: string): string {
  const hint = 'It must be https:, at 127.0.0.1, [::1] or localhost, or of a scheme that the application owns.'
  if (!URL.canParse(uri)) throw failure('authorization', 'The redirect URI is no URL', { url: uri, hint })
  const { protocol, hostname, hash } = new URL(uri)
  const local = hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost'
  const own = /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:$/.test(protocol)
  if (hash === '' && (protocol === 'https:' || (protocol === 'http:' && local) || own)) return uri
  throw failure('authorization', 'The redirect URI cannot be used', { url: uri, hint })
}

function checkMetadataUrl(given: string): void {
  const url = URL.canParse(given) ? new URL(given) : undefined
  const plain = url !== undefined && url.hash === '' && url.username === '' && url.password === ''
  if (!plain || url.protocol !== 'https:' || url.pathname === '/' || /\/\.{1,2}(?:\/|$)/.test(given)) {
    throw new TypeError(`clientMetadataUrl: expected an https: URL with a path and no fragment, got ${given}`)
  }
}
