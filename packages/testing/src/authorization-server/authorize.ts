/** The authorization endpoint, which logs the user in immediately: https://www.rfc-editor.org/rfc/rfc6749#section-4.1 */

import { type Client, findClient } from './clients.ts'
import { OAuthError, parseScopes, refuseRepeated, requireParameter } from './http.ts'
import { GRANTS } from './options.ts'
import type { ServerState } from './state.ts'
import { isLoopback, problemOf } from './urls.ts'

/** Default lifetime of codes, in ms. */
const CODE_TTL = 60_000

/** Redirects to the client with a code or an error. Throws for an unknown client or redirect URI. */
export async function authorize(state: ServerState, request: Request): Promise<Response> {
  const form = refuseRepeated(new URL(request.url).searchParams)
  const client = await findClient(state, requireParameter(form, 'client_id'))
  if (client === undefined) throw new OAuthError('invalid_client', 'client_id: unknown client')
  const redirectUri = requireParameter(form, 'redirect_uri')
  checkRedirect(client, redirectUri)
  const url = new URL(redirectUri)
  const clientState = form.get('state')
  if (clientState !== null) url.searchParams.set('state', clientState)
  url.searchParams.set('iss', state.options.issuer)
  try {
    url.searchParams.set('code', createCode(state, client, redirectUri, form))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    url.searchParams.set('error', error.code)
    url.searchParams.set('error_description', error.message)
  }
  return new Response(null, { status: 302, headers: { location: url.href, 'cache-control': 'no-store' } })
}

/** Requires a registered URI. The port of a loopback address may differ, because native apps cannot choose it. */
function checkRedirect({ redirectUris }: Client, redirectUri: string): void {
  const matches = (registered: string) => {
    if (registered === redirectUri) return true
    if (!URL.canParse(registered) || !URL.canParse(redirectUri)) return false
    const [known, given] = [new URL(registered), new URL(redirectUri)]
    given.port = known.port
    return known.protocol === 'http:' && isLoopback(known) && given.href === known.href
  }
  if (!redirectUris.some(matches)) {
    throw new OAuthError('invalid_request', 'redirect_uri: expected a registered URI, got another')
  }
}

function createCode(state: ServerState, client: Client, redirectUri: string, form: URLSearchParams): string {
  const { options } = state
  if (form.get('response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type: expected "code"')
  }
  if (!client.grantTypes.includes(GRANTS.code)) {
    throw new OAuthError('unauthorized_client', `This client is not registered for ${GRANTS.code}`)
  }
  const challenge = form.get('code_challenge') ?? ''
  if (form.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw new OAuthError('invalid_request', 'code_challenge: expected PKCE with the method S256')
  }
  const resources = checkResources(state, form.getAll('resource'))
  const scopes = checkScopes(state, parseScopes(form.get('scope')))
  const consent = options.consent?.({ clientId: client.clientId, scopes, resources }) ?? true
  if (consent === false) throw new OAuthError('access_denied', 'The user denied access')
  const code = crypto.randomUUID()
  const entry = {
    subject: options.subject ?? 'dev-user',
    clientId: client.clientId,
    scopes: consent === true ? scopes : scopes.filter((scope) => consent.includes(scope)),
    resources,
    family: crypto.randomUUID(),
    jkt: form.get('dpop_jkt') ?? undefined,
    redirectUri,
    challenge,
    nonce: form.get('nonce') ?? undefined,
    used: false,
  }
  state.codes.set(code, entry, options.codeTtl ?? CODE_TTL)
  return code
}

/** Requires supported scopes. */
export function checkScopes({ options }: ServerState, scopes: readonly string[]): readonly string[] {
  const supported = options.scopes && [...options.scopes, 'openid', 'offline_access']
  const unknown = supported && scopes.find((scope) => !supported.includes(scope))
  if (unknown !== undefined) throw new OAuthError('invalid_scope', `scope: ${JSON.stringify(unknown)} is not supported`)
  return scopes
}

/** Requires secure URLs of known resource servers. */
export function checkResources({ options }: ServerState, resources: readonly string[]): readonly string[] {
  for (const resource of resources) {
    if (!URL.canParse(resource) || problemOf(new URL(resource)) !== undefined) {
      throw new OAuthError('invalid_target', 'resource: expected an HTTPS URL without a fragment')
    }
    if (options.resources !== undefined && !options.resources.includes(resource)) {
      throw new OAuthError('invalid_target', 'resource: unknown resource server')
    }
  }
  return resources
}
