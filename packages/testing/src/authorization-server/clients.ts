/** Clients: configured, registered dynamically, or identified by the URL of their metadata. */

import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import { invalidClient, OAuthError } from './http.ts'
import { ASSERTION_ALGORITHMS, ASSERTION_TYPE, type DevClient, GRANTS } from './options.ts'
import { endpointUrl, type ServerState, useOnce } from './state.ts'
import { type Fetch, fetchObject, isLoopback, isPrivate, problemOf } from './urls.ts'

type Metadata = Readonly<Record<string, unknown>>

export interface Client extends DevClient {
  readonly grantTypes: readonly string[]
  readonly redirectUris: readonly string[]
  /** How the client authenticates at the token endpoint. */
  readonly method: 'none' | 'client_secret' | 'private_key_jwt'
}

const MAX_CLIENTS = 10_000

/** The largest client metadata, in bytes. The draft of client id metadata documents recommends this limit. */
const MAX_METADATA = 5 * 1024

/** Completes a configured client with defaults. */
export function completeClient(client: DevClient): Client {
  const { clientSecret, jwks, redirectUris = [] } = client
  const grantTypes = redirectUris.length > 0 ? [GRANTS.code, GRANTS.refresh] : [GRANTS.client]
  const method = clientSecret !== undefined ? 'client_secret' : jwks !== undefined ? 'private_key_jwt' : 'none'
  return { ...client, redirectUris, grantTypes: client.grantTypes ?? grantTypes, method }
}

/** Finds a client by its id, which may be the URL of its metadata. */
export async function findClient(state: ServerState, clientId: string): Promise<Client | undefined> {
  const client = state.clients.get(clientId)
  if (client !== undefined || state.options.clientMetadata === false || !URL.canParse(clientId)) return client
  return fetchClient(clientId, state.options.fetch, isLoopback(state.issuer))
}

/** Registers a client and returns its metadata: https://www.rfc-editor.org/rfc/rfc7591#section-3.2.1 */
export function registerClient({ options, clients }: ServerState, metadata: Metadata): Metadata {
  if (options.registration === false) throw new OAuthError('access_denied', 'Registration is disabled', 403)
  if (clients.size >= MAX_CLIENTS) {
    throw new OAuthError('temporarily_unavailable', `${MAX_CLIENTS} clients are registered already`, 503)
  }
  const refuse = (problem: string) => new OAuthError('invalid_client_metadata', problem)
  const authMethod = stringOf(metadata.token_endpoint_auth_method) ?? 'client_secret_basic'
  const hasSecret = authMethod === 'client_secret_basic' || authMethod === 'client_secret_post'
  const method = hasSecret ? 'client_secret' : authMethod
  if (method !== 'client_secret' && method !== 'none' && method !== 'private_key_jwt') {
    throw refuse(`token_endpoint_auth_method: ${authMethod} is not supported`)
  }
  const jwks = metadata.jwks as JSONWebKeySet | undefined
  if (method === 'private_key_jwt' && jwks === undefined) throw refuse('jwks: expected keys for private_key_jwt')
  const grantTypes = stringsOf(metadata.grant_types) ?? [GRANTS.code]
  const redirectUris = stringsOf(metadata.redirect_uris) ?? []
  if (grantTypes.includes(GRANTS.code) && redirectUris.length === 0) {
    throw new OAuthError('invalid_redirect_uri', 'redirect_uris: expected at least one, got none')
  }
  for (const uri of redirectUris) checkRedirectUri(uri, metadata.application_type, 'invalid_redirect_uri')
  const clientId = crypto.randomUUID()
  const clientSecret = hasSecret ? crypto.randomUUID() : undefined
  const name = stringOf(metadata.client_name)
  clients.set(clientId, { clientId, clientSecret, jwks, redirectUris, grantTypes, name, method })
  return {
    ...metadata,
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    ...(hasSecret && { client_secret: clientSecret, client_secret_expires_at: 0 }),
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    token_endpoint_auth_method: authMethod,
  }
}

/** Checks a redirect URI. Web clients need HTTPS; native clients may use loopback addresses and private schemes. */
function checkRedirectUri(uri: string, applicationType: unknown, code: string): void {
  const refuse = (problem: string) => new OAuthError(code, `redirect_uris: ${problem}`)
  if (!URL.canParse(uri)) throw refuse('expected a URL')
  const url = new URL(uri)
  if (url.hash !== '') throw refuse('expected a URL without a fragment')
  if (['javascript:', 'data:', 'vbscript:', 'file:', 'blob:'].includes(url.protocol)) {
    throw refuse(`the scheme ${url.protocol} is not safe`)
  }
  const isLocal = isLoopback(url)
  const isAllowed =
    applicationType === 'web' ? url.protocol === 'https:' && !isLocal : url.protocol === 'https:' || isLocal
  if (applicationType !== 'native' && !isAllowed) {
    throw refuse('expected an HTTPS URL; set application_type to "native" for others')
  }
  if (url.protocol === 'http:' && !isLocal) throw refuse('plain HTTP is for this machine only')
}

/**
 * Fetches a client whose id is the URL of its metadata. Does not fetch from private networks; a server on this machine
 * may fetch from this machine.
 */
async function fetchClient(clientId: string, fetch: Fetch | undefined, isLocal: boolean): Promise<Client> {
  const refuse = (problem: string) => new OAuthError('invalid_client', `client_id: ${problem}`)
  const problem = metadataUrlProblem(clientId, isLocal)
  if (problem !== undefined) throw refuse(`the URL ${problem}`)
  const metadata = await fetchObject(clientId, fetch, MAX_METADATA).catch((error: Error) => {
    throw refuse(`the metadata cannot be read: ${error.message}`)
  })
  if (metadata.client_id !== clientId) throw refuse('the metadata contains another client_id')
  const method = stringOf(metadata.token_endpoint_auth_method) ?? 'none'
  if ((method !== 'none' && method !== 'private_key_jwt') || 'client_secret' in metadata) {
    throw refuse('a client with a metadata URL cannot have a secret')
  }
  const redirectUris = stringsOf(metadata.redirect_uris) ?? []
  const name = stringOf(metadata.client_name)
  if (name === undefined || redirectUris.length === 0) throw refuse('the metadata lacks client_name or redirect_uris')
  for (const uri of redirectUris) checkRedirectUri(uri, metadata.application_type, 'invalid_client')
  let jwks = metadata.jwks as JSONWebKeySet | undefined
  const keysUrl = stringOf(metadata.jwks_uri)
  if (keysUrl !== undefined) {
    if (metadataUrlProblem(keysUrl, isLocal) !== undefined) throw refuse('jwks_uri is not a public HTTPS URL')
    const keys: unknown = await fetchObject(keysUrl, fetch).catch(() => {
      throw refuse('jwks_uri cannot be read')
    })
    jwks = keys as JSONWebKeySet
  }
  return { clientId, name, redirectUris, jwks, method, grantTypes: stringsOf(metadata.grant_types) ?? [GRANTS.code] }
}

function metadataUrlProblem(text: string, isLocal: boolean): string | undefined {
  if (!URL.canParse(text)) return 'is invalid'
  const url = new URL(text)
  if (url.pathname === '/') return 'has no path'
  if (isPrivate(url) && !(isLocal && isLoopback(url))) return 'is in a private network'
  return problemOf(url)
}

/** Authenticates the client of a request by secret or assertion. Returns undefined if the request names no client. */
export async function authenticateClient(
  state: ServerState,
  request: Request,
  form: URLSearchParams,
): Promise<Client | undefined> {
  const basic = readBasic(request.headers.get('authorization'))
  const assertion = form.get('client_assertion')
  const secret = form.get('client_secret')
  if ([basic, assertion, secret].filter((each) => each != null).length > 1) {
    throw new OAuthError('invalid_request', 'The client authenticates in more than one way')
  }
  if (assertion !== null) return verifyClientAssertion(state, assertion, form)
  const clientId = basic?.clientId ?? form.get('client_id')
  if (clientId === null) return undefined
  const client = await findClient(state, clientId)
  if (client === undefined) throw invalidClient('client_id: unknown client')
  if (client.method === 'private_key_jwt') throw invalidClient('This client must authenticate with private_key_jwt')
  if (client.clientSecret !== (basic?.secret ?? secret ?? undefined)) {
    throw invalidClient('client_secret: wrong or missing')
  }
  return client
}

/** Reads Basic credentials, whose parts are form-encoded: https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function readBasic(header: string | null): { clientId: string; secret: string } | undefined {
  const encoded = /^basic ([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
  try {
    const [clientId = '', ...rest] = atob(encoded).split(':')
    return { clientId: decode(clientId), secret: decode(rest.join(':')) }
  } catch {
    throw invalidClient('authorization: expected Basic credentials')
  }
}

/** https://www.rfc-editor.org/rfc/rfc7523#section-2.2 */
async function verifyClientAssertion(state: ServerState, assertion: string, form: URLSearchParams): Promise<Client> {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) {
    throw new OAuthError('invalid_request', `client_assertion_type: expected ${ASSERTION_TYPE}`)
  }
  const clientId = subjectOf(assertion)
  if (form.has('client_id') && form.get('client_id') !== clientId) {
    throw invalidClient('client_id: expected the subject of the assertion')
  }
  const client = await findClient(state, clientId)
  if (client?.jwks === undefined || client.method !== 'private_key_jwt') {
    throw invalidClient('client_assertion: unknown client, or a client without keys')
  }
  const { payload } = await jwtVerify(assertion, createLocalJWKSet(client.jwks), {
    issuer: clientId,
    subject: clientId,
    audience: [state.options.issuer, endpointUrl(state, 'token')],
    requiredClaims: ['exp', 'jti'],
    algorithms: [...ASSERTION_ALGORITHMS],
  }).catch((error: Error) => {
    throw invalidClient(`client_assertion: ${error.message}`)
  })
  useOnce(state, `client ${clientId} ${payload.jti}`, () => invalidClient('client_assertion: it was used before'))
  return client
}

function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? ''
  } catch {
    throw invalidClient('client_assertion: expected a JWT')
  }
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
