/** The authorization code flow with PKCE, `state` and `iss` (OAuth 2.1, RFC 9207). */

import { abortable } from '@mcpx/protocol'
import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi'
import { AuthError, printable } from '../auth-error.ts'
import type { ServerMetadata } from './discovery.ts'
import type { FlowContext } from './flow.ts'
import type { Callback, Redirect } from './redirects.ts'
import { type Client, refusal, requestToken, type TokenResponse } from './token-endpoint.ts'
import { hasStrings, recordKey } from './token-records.ts'

/** The state of a login that waits for its callback. */
type PendingLogin = Readonly<Record<(typeof pendingMembers)[number], string>>

const pendingMembers = ['state', 'verifier', 'redirectUri', 'issuer', 'clientId', 'resource'] as const

export interface CodeRequest {
  readonly client: Client
  readonly redirect: Redirect
  readonly redirectUri: string
  readonly scope: readonly string[]
  /** Additional parameters of the authorization request. */
  readonly params: Readonly<Record<string, string>>
}

/** How long the state of a login is stored after the browser leaves the page, in ms. */
const PENDING_TTL = 600_000

/** Refuses servers without PKCE: their codes can be stolen. */
export function requirePkce({ issuer, assumed, code_challenge_methods_supported: supported }: ServerMetadata): void {
  // A server without metadata cannot declare PKCE. The revision that permits such servers requires it.
  if (assumed || supported?.includes('S256') === true) return
  const list = supported === undefined ? 'none' : printable(supported.join(', '))
  const message = `The authorization server does not support PKCE with S256 (code_challenge_methods_supported: ${list})`
  const hint = 'Without it codes can be stolen. Report it to the operator of the authorization server.'
  throw new AuthError(message, { step: 'authorization', url: issuer, hint })
}

/** Sends the user to the authorization server, and exchanges the code of the callback. */
export async function authorize(context: FlowContext, request: CodeRequest): Promise<TokenResponse> {
  const { discovery, store, signal } = context
  const { redirect, redirectUri, client } = request
  const pending: PendingLogin = {
    state: generateRandomState(),
    verifier: generateRandomCodeVerifier(),
    redirectUri,
    issuer: discovery.server.issuer,
    clientId: client.id,
    resource: discovery.resource,
  }
  const url = await authorizationUrl(context, request, pending)
  const key = recordKey('pending', pending.state)
  if (redirect.readCallback !== undefined) await store.set(key, { ...pending, until: Date.now() + PENDING_TTL })
  signal.throwIfAborted()
  // A redirect may ignore its signal.
  const callback = await abortable(redirect(url, { signal }), signal)
  if (redirect.readCallback !== undefined) await store.delete(key)
  return exchangeCode(context, client, pending, callback)
}

async function authorizationUrl(context: FlowContext, request: CodeRequest, pending: PendingLogin): Promise<URL> {
  const { discovery, dpop } = context
  const { server, resourceParams } = discovery
  if (server.authorization_endpoint === undefined) {
    const message = 'The authorization server has no authorization_endpoint'
    const hint = 'It serves machines only: use clientCredentials(), enterprise() or workload().'
    throw new AuthError(message, { step: 'authorization', url: server.issuer, hint })
  }
  const url = new URL(server.authorization_endpoint)
  const { searchParams: query } = url
  const scope = [...request.scope]
  const offersRefresh = server.scopes_supported?.includes('offline_access') === true
  if (scope.length > 0 && offersRefresh) scope.push('offline_access')
  const params = {
    ...request.params,
    response_type: 'code',
    client_id: request.client.id,
    redirect_uri: request.redirectUri,
    state: pending.state,
    code_challenge: await calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...resourceParams,
    ...(scope.length > 0 && { scope: [...new Set(scope)].join(' ') }),
    ...(dpop && { dpop_jkt: await (await dpop.handle()).calculateThumbprint() }),
  }
  for (const [name, value] of Object.entries(params)) query.set(name, value)
  // OpenID Connect issues refresh tokens only after the consent of the user (Core, section 11).
  if (scope.includes('offline_access') && !query.has('prompt')) query.set('prompt', 'consent')
  return url
}

/** Continues a login on the callback page. Returns undefined on any other page. */
export async function resume(
  context: FlowContext,
  client: Client,
  redirect: Redirect,
): Promise<TokenResponse | undefined> {
  const callback = redirect.readCallback?.()
  if (callback === undefined) return undefined
  const { store, discovery } = context
  const key = recordKey('pending', paramsOf(callback).get('state') ?? '')
  const pending = await store.get(key)
  if (!hasStrings(pending, pendingMembers)) return undefined
  if (typeof pending.until !== 'number' || pending.until < Date.now()) return undefined
  const { issuer, clientId, resource } = pending
  if (issuer !== discovery.server.issuer || clientId !== client.id || resource !== discovery.resource) return undefined
  // A code can be used once.
  await store.delete(key)
  return exchangeCode(context, client, pending, callback)
}

async function exchangeCode(
  { connection, discovery, dpop }: FlowContext,
  client: Client,
  { state, redirectUri, verifier }: PendingLogin,
  callback: Callback,
): Promise<TokenResponse> {
  const { server, resourceParams } = discovery
  const code = validCode(server, client, state, paramsOf(callback, redirectUri))
  const params = { code, redirect_uri: redirectUri, code_verifier: verifier, ...resourceParams }
  return requestToken(connection, { step: 'token', server, client, grantType: 'authorization_code', params, dpop })
}

/**
 * Returns the code of a callback. Throws if the callback has another state than this login, or is from another
 * authorization server.
 */
function validCode(server: ServerMetadata, client: Client, state: string, callback: URLSearchParams): string {
  const url = server.issuer
  try {
    // The library treats an empty `iss` as missing.
    if (callback.get('iss') === '') throw new Error('iss is empty')
    const params = validateAuthResponse(server, { client_id: client.id }, callback, state)
    const [code, ...others] = params.getAll('code')
    if (code && others.length === 0) return code
    const problem = others.length > 0 ? 'several codes' : 'neither a code nor an error'
    throw new Error(`the callback has ${problem}`)
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw refusal('authorization', url, error)
    const iss = callback.get('iss')
    const source = !iss || iss === url ? '' : `; iss is ${printable(iss)}`
    const message = `The callback was rejected: ${(error as Error).message}${source}`
    const hint = 'It may be forged, or belong to another login. Its code was not used: log in again.'
    throw new AuthError(message, { step: 'authorization', url, hint })
  }
}

function paramsOf(callback: Callback, redirectUri?: string): URLSearchParams {
  if (callback instanceof URLSearchParams) return callback
  const text = callback.toString().trim()
  if (!URL.canParse(text)) {
    if (/^\??[^\s]*=/.test(text)) return new URLSearchParams(text)
    const hint = 'Expected the URL that the user was sent to, or its query.'
    throw new AuthError('The callback is not a URL', { step: 'authorization', hint })
  }
  const url = new URL(text)
  const expected = new URL(redirectUri ?? url)
  if (url.origin !== expected.origin || url.protocol !== expected.protocol || url.pathname !== expected.pathname) {
    const message = `The callback is not at ${printable(redirectUri)}`
    throw new AuthError(message, { step: 'authorization', url, hint: 'Nothing in it was used.' })
  }
  return url.searchParams
}
