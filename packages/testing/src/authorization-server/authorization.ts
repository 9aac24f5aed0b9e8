/** The authorization endpoint, with a user who is always there: https://www.rfc-editor.org/rfc/rfc6749#section-4.1 */

import { checkForm, OAuthError, required, scopesOf } from './answers.ts'
import type { KnownClient } from './clients.ts'
import type { Core } from './core.ts'
import { GRANTS } from './options.ts'
import { insecurity, isLoopback } from './secure-url.ts'

/** Answers by a redirect to the client, but for what is wrong with the client or the redirect itself. */
export async function authorize(core: Core, request: Request): Promise<Response> {
  const form = checkForm(new URL(request.url).searchParams)
  const client = await core.clients.find(required(form, 'client_id'))
  if (client === undefined) throw new OAuthError('invalid_client', 'There is no such client')
  const redirectUri = redirectOf(client, required(form, 'redirect_uri'))
  const state = form.get('state')
  const answer: Record<string, string> = { ...(state === null ? {} : { state }), iss: core.issuer }
  try {
    answer.code = grantCode(core, client, redirectUri, form)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    Object.assign(answer, { error: error.code, error_description: error.message })
  }
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  return new Response(null, { status: 302, headers: { location: url.href, 'cache-control': 'no-store' } })
}

/** Exactly one of those that are registered; a loopback one may have any port, as native apps cannot choose. */
function redirectOf({ redirectUris }: KnownClient, given: string): string {
  if (redirectUris.includes(given)) return given
  const isSame = (registered: string) => {
    if (!URL.canParse(registered) || !URL.canParse(given)) return false
    const [known, asked] = [new URL(registered), new URL(given)]
    if (known.protocol !== 'http:' || !isLoopback(known)) return false
    asked.port = known.port
    return asked.href === known.href
  }
  if (redirectUris.some(isSame)) return given
  throw new OAuthError('invalid_request', 'redirect_uri is not one of those that are registered')
}

const CHALLENGE = /^[\w-]{43}$/

function grantCode(core: Core, client: KnownClient, redirectUri: string, form: URLSearchParams): string {
  const { options } = core
  if (form.get('response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be "code"')
  }
  if (!client.grantTypes.includes(GRANTS.code)) {
    throw new OAuthError('unauthorized_client', `This client is not registered for ${GRANTS.code}`)
  }
  if (form.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(form.get('code_challenge') ?? '')) {
    throw new OAuthError('invalid_request', 'PKCE is needed: code_challenge, with the method S256')
  }
  const resources = checkResources(core, form.getAll('resource'))
  const scopes = checkScopes(core, scopesOf(form.get('scope')))
  const consent = options.consent?.({ clientId: client.clientId, scopes, resources }) ?? true
  if (consent === false) throw new OAuthError('access_denied', 'The user said no')
  const code = crypto.randomUUID()
  const granted = {
    subject: options.subject ?? 'dev-user',
    clientId: client.clientId,
    scopes: consent === true ? scopes : scopes.filter((scope) => consent.includes(scope)),
    resources,
    family: crypto.randomUUID(),
    jkt: form.get('dpop_jkt') ?? undefined,
    redirectUri,
    challenge: form.get('code_challenge') as string,
    nonce: form.get('nonce') ?? undefined,
  }
  core.codes.set(code, { ...granted, used: false }, (options.codeTtl ?? 60) * 1000)
  return code
}

/** Of what the server knows; a client asks for what is there, not for what it likes. */
export function checkScopes({ options: { scopes: known } }: Core, asked: readonly string[]): readonly string[] {
  const unknown =
    known && asked.find((scope) => !known.includes(scope) && scope !== 'openid' && scope !== 'offline_access')
  if (unknown !== undefined) throw new OAuthError('invalid_scope', `There is no scope ${JSON.stringify(unknown)}`)
  return asked
}

export function checkResources({ options: { resources: known } }: Core, asked: readonly string[]): readonly string[] {
  for (const resource of asked) {
    if (!URL.canParse(resource) || insecurity(new URL(resource)) !== undefined) {
      throw new OAuthError('invalid_target', 'resource must be a URL without a fragment, and HTTPS')
    }
    if (known !== undefined && !known.includes(resource)) {
      throw new OAuthError('invalid_target', 'There is no such resource')
    }
  }
  return asked
}
