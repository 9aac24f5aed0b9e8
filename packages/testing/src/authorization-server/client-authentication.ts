/** Finds out which client speaks at the token endpoint, by secret, by assertion, or by name alone. */

import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { OAuthError } from './answers.ts'
import type { KnownClient } from './clients.ts'
import { type Core, endpoint } from './core.ts'
import { ASSERTION_TYPE } from './options.ts'

/** The client, or nothing where nobody said who it is. */
export async function authenticateClient(
  core: Core,
  request: Request,
  form: URLSearchParams,
): Promise<KnownClient | undefined> {
  const basic = readBasic(request.headers.get('authorization'))
  const assertion = form.get('client_assertion')
  const secret = form.get('client_secret')
  if ([basic, assertion, secret].filter((each) => each != null).length > 1) {
    throw new OAuthError('invalid_request', 'The client authenticates in more than one way')
  }
  if (assertion !== null) return byAssertion(core, assertion, form)
  const clientId = basic?.clientId ?? form.get('client_id')
  if (clientId === null) return undefined
  const client = await core.clients.find(clientId)
  if (client === undefined) throw invalidClient('There is no such client')
  const given = basic?.secret ?? secret ?? undefined
  if (client.method === 'private_key_jwt') throw invalidClient('This client authenticates by private_key_jwt')
  if (client.clientSecret !== given) throw invalidClient('The secret is wrong, or missing')
  return client
}

export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, 401, { 'www-authenticate': 'Basic realm="dev"' })
}

function readBasic(header: string | null): { clientId: string; secret: string } | undefined {
  const encoded = header === null ? null : /^basic ([\w+/=-]+)$/i.exec(header)
  if (encoded === null) return undefined
  try {
    const [clientId = '', ...rest] = atob(encoded[1] as string).split(':')
    return { clientId: decode(clientId), secret: decode(rest.join(':')) }
  } catch {
    throw invalidClient('The Authorization header cannot be read')
  }
}

/** Both parts are form-encoded first: https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function decode(part: string): string {
  return decodeURIComponent(part.replaceAll('+', ' '))
}

async function byAssertion(core: Core, assertion: string, form: URLSearchParams): Promise<KnownClient> {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) {
    throw new OAuthError('invalid_request', `client_assertion_type must be ${ASSERTION_TYPE}`)
  }
  const clientId = subjectOf(assertion)
  if (form.has('client_id') && form.get('client_id') !== clientId) throw invalidClient('client_id is another one')
  const client = await core.clients.find(clientId)
  if (client?.jwks === undefined || client.method !== 'private_key_jwt') {
    throw invalidClient('There is no such client, or its keys are not known')
  }
  const { payload } = await jwtVerify(assertion, createLocalJWKSet(client.jwks), {
    issuer: clientId,
    subject: clientId,
    audience: [core.issuer, endpoint(core, 'token')],
    requiredClaims: ['exp', 'jti'],
    algorithms: ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
  }).catch((error: Error) => {
    throw invalidClient(`The assertion does not hold: ${error.message}`)
  })
  useOnce(core, `assertion ${clientId} ${payload.jti}`, () => invalidClient('The assertion was used before'))
  return client
}

function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? ''
  } catch {
    throw invalidClient('The assertion is no JWT')
  }
}

/** How long the ids of assertions and proofs are remembered, in ms: longer than those are good for. */
const REMEMBERED = 10 * 60_000

export function useOnce({ seen }: Core, key: string, problem: () => OAuthError): void {
  if (seen.get(key) !== undefined || !seen.set(key, true, REMEMBERED)) throw problem()
}
