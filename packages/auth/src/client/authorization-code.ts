/** Asks a user to agree, and turns what comes back into tokens: code, PKCE, `state` and `iss` (OAuth 2.1, RFC 9207). */

import type { Client } from './client-authentication.ts'
import { failure, quote } from './failure.ts'
import { unlessAborted } from './flight.ts'
import type { Attempt } from './flow.ts'
import { randomText, sha256 } from './random-text.ts'
import { hasTexts, keyOf } from './records.ts'
import type { Callback, Redirect } from './redirect.ts'
import type { ServerMetadata } from './server-metadata.ts'
import { type Grant, requestToken } from './token-endpoint.ts'

/** What must be known of a request to judge its answer. */
interface Asked {
  readonly state: string
  readonly verifier: string
  readonly redirectUri: string
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
}

export interface CodeRequest {
  readonly client: Client
  readonly redirect: Redirect
  readonly redirectUri: string
  readonly scope: readonly string[]
  /** More for the query of the authorization endpoint. */
  readonly params: Readonly<Record<string, string>>
}

/** What users have agreed to while the page was away is kept for so long, in ms. */
const LONGEST_VISIT = 600_000

/** A client that may not prove that it began the flow must not begin it. */
export function refuseWithoutPkce({ issuer, assumed, codeChallengeMethods }: ServerMetadata): void {
  // Where there are no metadata there is nothing to say it in; the revision without them demands PKCE.
  if (assumed || codeChallengeMethods?.includes('S256') === true) return
  const has = codeChallengeMethods === undefined ? 'none' : quote(codeChallengeMethods.join(', '))
  const message = `The authorization server does not offer PKCE with S256 (code_challenge_methods_supported: ${has})`
  const hint = 'Without it codes can be stolen. Tell whoever runs the authorization server.'
  throw failure('authorization', message, { url: issuer, hint })
}

export async function authorize(attempt: Attempt, request: CodeRequest): Promise<Grant> {
  const { found, store, signal } = attempt
  const { redirect, redirectUri, client } = request
  const { issuer } = found.server
  const { resource } = found
  const asked = { state: randomText(), verifier: randomText(), redirectUri, issuer, clientId: client.id, resource }
  const url = await urlOf(attempt, request, asked)
  const pending = keyOf('pending', asked.state)
  if (redirect.returned !== undefined) await store.set(pending, { ...asked, until: Date.now() + LONGEST_VISIT })
  signal.throwIfAborted()
  // Whoever is asked may not hear that nobody waits for an answer any more.
  const callback = await unlessAborted(redirect(url, { signal }), signal)
  if (redirect.returned !== undefined) await store.delete(pending)
  return redeem(attempt, client, asked, callback)
}

async function urlOf(attempt: Attempt, request: CodeRequest, asked: Asked): Promise<URL> {
  const { found, prover } = attempt
  const { server } = found
  if (server.authorizationEndpoint === undefined) {
    const hint = 'It serves machines only: use clientCredentials(), enterprise() or workload().'
    throw failure('authorization', 'The authorization server has no authorization_endpoint', {
      url: server.issuer,
      hint,
    })
  }
  const url = new URL(server.authorizationEndpoint)
  const { searchParams: query } = url
  const scope = [...request.scope]
  if (scope.length > 0 && server.scopesSupported.includes('offline_access')) scope.push('offline_access')
  for (const [name, value] of Object.entries(request.params)) query.set(name, value)
  query.set('response_type', 'code')
  query.set('client_id', request.client.id)
  query.set('redirect_uri', request.redirectUri)
  query.set('state', asked.state)
  query.set('code_challenge', await sha256(asked.verifier))
  query.set('code_challenge_method', 'S256')
  query.set('resource', found.resource)
  if (scope.length > 0) query.set('scope', [...new Set(scope)].join(' '))
  // OpenID Connect gives out refresh tokens only to users who were asked (Core, section 11).
  if (scope.includes('offline_access') && !query.has('prompt')) query.set('prompt', 'consent')
  if (prover !== undefined) query.set('dpop_jkt', await prover.thumbprint())
  return url
}

/** Goes on where a page was left. Nothing where it was opened for another reason. */
export async function resume(attempt: Attempt, client: Client, redirect: Redirect): Promise<Grant | undefined> {
  const callback = redirect.returned?.()
  if (callback === undefined) return undefined
  const state = paramsOf(callback).get('state') ?? ''
  const key = keyOf('pending', state)
  const asked = await attempt.store.get(key)
  const names = ['state', 'verifier', 'redirectUri', 'issuer', 'clientId', 'resource']
  if (!hasTexts(asked, names) || typeof asked.until !== 'number' || asked.until < Date.now()) return undefined
  const { issuer, clientId, resource } = asked
  const { found } = attempt
  if (issuer !== found.server.issuer || clientId !== client.id || resource !== found.resource) return undefined
  // A code is good for one attempt.
  await attempt.store.delete(key)
  return redeem(attempt, client, asked as unknown as Asked, callback)
}

async function redeem(attempt: Attempt, client: Client, asked: Asked, callback: Callback): Promise<Grant> {
  const { link, found, prover } = attempt
  const code = codeOf(found.server, asked, callback)
  const { redirectUri: redirect_uri, verifier: code_verifier, resource } = asked
  const params = { grant_type: 'authorization_code', code, redirect_uri, code_verifier, resource }
  return requestToken(link, { step: 'token', server: found.server, client, params, prover })
}

/** The code of a callback, if it answers what was asked, and is from whom was asked. */
function codeOf(server: ServerMetadata, asked: Asked, callback: Callback): string {
  const params = paramsOf(callback, asked.redirectUri)
  const url = server.issuer
  for (const name of ['state', 'iss', 'code', 'error']) {
    if (params.getAll(name).length > 1) throw failure('authorization', `The callback holds ${name} twice`, { url })
  }
  if (params.get('state') !== asked.state) {
    const hint = 'It may be from another attempt, or forged. Its code was not used: log in again.'
    throw failure('authorization', 'The callback does not hold the state that was sent', { url, hint })
  }
  refuseOtherIssuer(server, params.get('iss'))
  const error = params.get('error')
  if (error !== null) throw refusedBy(url, error, params.get('error_description'))
  const code = params.get('code')
  if (code !== null && code !== '') return code
  throw failure('authorization', 'The callback holds neither a code nor an error', { url, hint: 'Log in again.' })
}

/** Compared to the letter: whatever is merely alike may be somebody else's. */
function refuseOtherIssuer({ issuer, sendsIss }: ServerMetadata, iss: string | null): void {
  if (iss === issuer || (iss === null && !sendsIss)) return
  const message =
    iss === null
      ? 'The callback does not say who sent it (iss), though the authorization server always does'
      : `The callback is from ${quote(iss)} (iss), and another authorization server was asked`
  const hint = 'Its code was not used: another server may have mixed itself in.'
  throw failure('authorization', message, { url: issuer, hint })
}

function refusedBy(url: string, error: string, description: string | null) {
  const said = description === null ? '' : `: ${quote(description)}`
  const hint =
    error === 'access_denied' ? 'Whoever was asked said no.' : 'See what the authorization server wants of the client.'
  return failure('authorization', `The authorization server refused: ${quote(error)}${said}`, { url, hint })
}

function paramsOf(callback: Callback, redirectUri?: string): URLSearchParams {
  if (callback instanceof URLSearchParams) return callback
  const text = callback.toString().trim()
  if (!URL.canParse(text)) {
    if (/^\??[^\s]*=/.test(text)) return new URLSearchParams(text)
    const hint = 'Expected the URL that the user was sent to, or its query.'
    throw failure('authorization', 'What came back is no URL', { hint })
  }
  const url = new URL(text)
  const expected = new URL(redirectUri ?? url)
  if (url.origin !== expected.origin || url.protocol !== expected.protocol || url.pathname !== expected.pathname) {
    const hint = 'Nothing in it was used.'
    throw failure('authorization', `The callback is not at ${quote(redirectUri)}`, { url, hint })
  }
  return url.searchParams
}
