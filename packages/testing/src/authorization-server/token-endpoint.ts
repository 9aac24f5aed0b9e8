/** The token endpoint: who asks, by which key, and which grant it is. */

import { jsonAnswer, OAuthError, readForm, required, scopesOf } from './answers.ts'
import { assertionGrant, exchangeGrant } from './assertion-grants.ts'
import { checkResources, checkScopes } from './authorization.ts'
import { authenticateClient, invalidClient, useOnce } from './client-authentication.ts'
import { type Core, endpoint, type Grant, type TokenRequest } from './core.ts'
import { ProofError, verifyProof } from './dpop-proof.ts'
import { GRANTS } from './options.ts'
import { issueTokens, narrowed } from './token-response.ts'

type GrantFunction = (request: TokenRequest) => Promise<Record<string, unknown>>

const grants: Readonly<Record<string, GrantFunction>> = {
  [GRANTS.code]: codeGrant,
  [GRANTS.refresh]: refreshGrant,
  [GRANTS.client]: clientGrant,
  [GRANTS.assertion]: assertionGrant,
  [GRANTS.exchange]: exchangeGrant,
}

export async function token(core: Core, request: Request): Promise<Response> {
  const form = await readForm(request)
  const type = required(form, 'grant_type')
  const run = Object.hasOwn(grants, type) ? grants[type] : undefined
  if (run === undefined) throw new OAuthError('unsupported_grant_type', 'There is no such grant here')
  const jkt = await provenKey(core, request)
  const client = await authenticateClient(core, request, form)
  const isRegistered = client === undefined || client.grantTypes.includes(type)
  // Assertions speak for themselves: identity providers and platforms decide who may bring them.
  if (!isRegistered && type !== GRANTS.assertion && type !== GRANTS.exchange) {
    throw new OAuthError('unauthorized_client', `This client is not registered for ${type}`)
  }
  return jsonAnswer(await run({ core, form, client, jkt }))
}

async function provenKey(core: Core, request: Request): Promise<string | undefined> {
  const { dpop = 'optional' } = core.options
  const header = request.headers.get('dpop')
  if (header === null && dpop === 'optional') return undefined
  const url = endpoint(core, 'token')
  const proof = await verifyProof(header, { method: 'POST', url, maxAge: 300 }).catch((error: unknown) => {
    throw error instanceof ProofError ? new OAuthError('invalid_dpop_proof', error.message) : error
  })
  core.nonce ??= crypto.randomUUID()
  if (dpop === 'nonce' && proof.nonce !== core.nonce) {
    throw new OAuthError('use_dpop_nonce', 'The proof must hold the nonce of DPoP-Nonce', 400, {
      'dpop-nonce': core.nonce,
    })
  }
  useOnce(core, `proof ${proof.jti}`, () => new OAuthError('invalid_dpop_proof', 'The proof was used before'))
  return proof.jkt
}

const invalidGrant = (why: string) => new OAuthError('invalid_grant', why)
/** For longer than any of its tokens lives. */
function revokeFamily({ revokedFamilies }: Core, { family }: Grant): void {
  revokedFamilies.set(family, true, 30 * 24 * 3_600_000)
}

const refuse = (code: string, why: string) => new OAuthError(code, why)

async function codeGrant({ core, form, client, jkt }: TokenRequest): Promise<Record<string, unknown>> {
  if (client === undefined) throw invalidClient('client_id is missing')
  const key = required(form, 'code')
  const code = core.codes.get(key)
  if (code === undefined || code.clientId !== client.clientId) throw invalidGrant('There is no such code, or no longer')
  if (code.used) {
    revokeFamily(core, code)
    throw invalidGrant('The code was used before: all tokens of this grant are revoked')
  }
  code.used = true
  if (form.get('redirect_uri') !== code.redirectUri) throw invalidGrant('redirect_uri is not that of the authorization')
  if ((await hash(required(form, 'code_verifier'))) !== code.challenge) throw invalidGrant('code_verifier is wrong')
  if (code.jkt !== undefined && code.jkt !== jkt) throw invalidGrant('The code is bound to another key')
  const { redirectUri, challenge, nonce, used, ...granted } = code
  if (form.has('resource') && code.resources.length === 0) checkResources(core, form.getAll('resource'))
  const grant = narrowed({ ...granted, jkt }, form, refuse)
  return issueTokens(core, grant, { withRefresh: client.grantTypes.includes(GRANTS.refresh), nonce })
}

async function hash(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const text = String.fromCharCode(...new Uint8Array(digest))
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Each refresh token is good for one use. One that comes again was stolen: everything of its family ends. */
async function refreshGrant({ core, form, client, jkt }: TokenRequest): Promise<Record<string, unknown>> {
  if (client === undefined) throw invalidClient('client_id is missing')
  const stored = core.refreshTokens.get(required(form, 'refresh_token'))
  if (stored === undefined || stored.clientId !== client.clientId || core.revokedFamilies.get(stored.family)) {
    throw invalidGrant('There is no such refresh token, or no longer')
  }
  if (stored.used) {
    revokeFamily(core, stored)
    throw invalidGrant('The refresh token was used before: all tokens of this grant are revoked')
  }
  if (client.method === 'none' && stored.jkt !== undefined && stored.jkt !== jkt) {
    throw invalidGrant('The refresh token is bound to another key')
  }
  const { used, ...granted } = stored
  const whole: Grant = { ...granted, jkt: jkt ?? granted.jkt }
  const narrow = narrowed(whole, form, refuse)
  stored.used = true
  const response = await issueTokens(core, narrow, { withRefresh: false })
  const next = await issueTokens(core, whole, { withRefresh: true })
  return { ...response, refresh_token: next.refresh_token }
}

async function clientGrant({ core, form, client, jkt }: TokenRequest): Promise<Record<string, unknown>> {
  if (client === undefined || client.method === 'none') throw invalidClient('The client must authenticate')
  const grant: Grant = {
    subject: client.clientId,
    clientId: client.clientId,
    scopes: checkScopes(core, scopesOf(form.get('scope'))),
    resources: checkResources(core, form.getAll('resource')),
    jkt,
    family: crypto.randomUUID(),
  }
  return issueTokens(core, grant, { withRefresh: false })
}
