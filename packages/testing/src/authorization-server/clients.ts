/** The clients: those known from the start, those that registered themselves, and those named by a URL. */

import type { JSONWebKeySet } from 'jose'
import { OAuthError } from './answers.ts'
import { fetchObject } from './json-document.ts'
import { type DevAuthorizationServerOptions, type DevClient, GRANTS } from './options.ts'
import { insecurity, isLoopback, isPrivate } from './secure-url.ts'

/** How a client shows that it is the one. */
export type ClientMethod = 'none' | 'client_secret' | 'private_key_jwt'

export interface KnownClient extends DevClient {
  readonly grantTypes: readonly string[]
  readonly redirectUris: readonly string[]
  readonly method: ClientMethod
}

export interface Clients {
  /** A client by its id, which may be the URL of its metadata. */
  find(clientId: string): Promise<KnownClient | undefined>
  register(metadata: Metadata): Metadata
}

type Metadata = Readonly<Record<string, unknown>>

const MAX_REGISTERED = 10_000
/** Metadata is small: RFC draft client-id-metadata-document recommends 5 KB. */
const MAX_METADATA = 5 * 1024

export function createClients(options: DevAuthorizationServerOptions, issuer: URL): Clients {
  const known = new Map<string, KnownClient>()
  for (const client of options.clients ?? []) known.set(client.clientId, toKnown(client))
  return {
    async find(clientId) {
      const client = known.get(clientId)
      if (client !== undefined || options.clientMetadata === false || !URL.canParse(clientId)) return client
      return findByUrl(clientId, options, isLoopback(issuer))
    },
    register(metadata) {
      if (options.registration === false) throw new OAuthError('access_denied', 'Registration is switched off', 403)
      if (known.size >= MAX_REGISTERED) throw new OAuthError('temporarily_unavailable', 'Too many clients', 503)
      const { client, method } = readRegistration(metadata)
      known.set(client.clientId, client)
      return {
        ...metadata,
        client_id: client.clientId,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        ...(client.clientSecret === undefined
          ? {}
          : { client_secret: client.clientSecret, client_secret_expires_at: 0 }),
        redirect_uris: client.redirectUris,
        grant_types: client.grantTypes,
        token_endpoint_auth_method: method,
      }
    },
  }
}

function toKnown(client: DevClient): KnownClient {
  const { clientSecret, jwks, redirectUris = [] } = client
  const byDefault = redirectUris.length > 0 ? [GRANTS.code, GRANTS.refresh] : [GRANTS.client]
  const method = clientSecret !== undefined ? 'client_secret' : jwks !== undefined ? 'private_key_jwt' : 'none'
  return { ...client, redirectUris, grantTypes: client.grantTypes ?? byDefault, method }
}

function readRegistration(metadata: Metadata): { client: KnownClient; method: string } {
  const grantTypes = strings(metadata.grant_types) ?? [GRANTS.code]
  const redirectUris = strings(metadata.redirect_uris) ?? []
  if (grantTypes.includes(GRANTS.code) && redirectUris.length === 0) {
    throw new OAuthError('invalid_redirect_uri', 'redirect_uris is missing')
  }
  for (const uri of redirectUris) checkRedirect(uri, metadata.application_type)
  const method = text(metadata.token_endpoint_auth_method) ?? 'client_secret_basic'
  const jwks = metadata.jwks as JSONWebKeySet | undefined
  if (method === 'private_key_jwt' && jwks === undefined) {
    throw new OAuthError('invalid_client_metadata', 'private_key_jwt needs jwks')
  }
  const hasSecret = method === 'client_secret_basic' || method === 'client_secret_post'
  if (!hasSecret && method !== 'none' && method !== 'private_key_jwt') {
    throw new OAuthError('invalid_client_metadata', 'token_endpoint_auth_method is not supported')
  }
  const client: KnownClient = {
    clientId: crypto.randomUUID(),
    clientSecret: hasSecret ? crypto.randomUUID() : undefined,
    jwks,
    redirectUris,
    grantTypes,
    name: text(metadata.client_name),
    method: hasSecret ? 'client_secret' : (method as 'none' | 'private_key_jwt'),
  }
  return { client, method }
}

/** Web clients have HTTPS URLs on other machines, native ones a loopback address or a scheme of their own. */
function checkRedirect(uri: string, applicationType: unknown, code = 'invalid_redirect_uri'): void {
  const refuse = (why: string) => new OAuthError(code, why)
  if (!URL.canParse(uri)) throw refuse('a redirect URI is no URL')
  const url = new URL(uri)
  if (url.hash !== '') throw refuse('a redirect URI has a fragment')
  if (['javascript:', 'data:', 'vbscript:', 'file:', 'blob:'].includes(url.protocol))
    throw refuse('a scheme is not safe')
  if (applicationType !== 'native' && (url.protocol !== 'https:' || isLoopback(url))) {
    if (applicationType === 'web' || !isLoopback(url)) {
      throw refuse('web clients have HTTPS redirect URIs: say application_type "native" for any other')
    }
  }
  if (url.protocol === 'http:' && !isLoopback(url)) throw refuse('plain HTTP is for this machine only')
}

/**
 * Reads a client's metadata where its id says it is. A URL that leads into a private network is refused unread, but for
 * the machine itself where the server is on it too.
 */
async function findByUrl(
  clientId: string,
  { fetch }: DevAuthorizationServerOptions,
  isLocal: boolean,
): Promise<KnownClient | undefined> {
  const url = new URL(clientId)
  const problem = metadataUrlProblem(url, isLocal)
  if (problem !== undefined) throw new OAuthError('invalid_client', `client_id: the URL ${problem}`)
  const metadata = await fetchObject(clientId, { fetch, maxBytes: MAX_METADATA }).catch((error: Error) => {
    throw new OAuthError('invalid_client', `client_id: the metadata cannot be read: ${error.message}`)
  })
  if (metadata.client_id !== clientId) {
    throw new OAuthError('invalid_client', 'client_id: the metadata is that of another client')
  }
  const method = text(metadata.token_endpoint_auth_method) ?? 'none'
  if ((method !== 'none' && method !== 'private_key_jwt') || 'client_secret' in metadata) {
    throw new OAuthError('invalid_client', 'client_id: such a client has no secret')
  }
  const redirectUris = strings(metadata.redirect_uris) ?? []
  const name = text(metadata.client_name)
  if (name === undefined || redirectUris.length === 0) {
    throw new OAuthError('invalid_client', 'client_id: the metadata lacks client_name or redirect_uris')
  }
  for (const uri of redirectUris) checkRedirect(uri, metadata.application_type, 'invalid_client')
  const jwks = await keysOf(metadata, fetch, isLocal)
  return { clientId, name, redirectUris, jwks, method, grantTypes: strings(metadata.grant_types) ?? [GRANTS.code] }
}

function metadataUrlProblem(url: URL, isLocal: boolean): string | undefined {
  if (url.pathname === '/') return 'has no path'
  if (isPrivate(url) && !(isLocal && isLoopback(url))) return 'leads into a private network'
  return insecurity(url)
}

async function keysOf(
  { jwks, jwks_uri: uri }: Metadata,
  fetch: DevAuthorizationServerOptions['fetch'],
  isLocal: boolean,
): Promise<JSONWebKeySet | undefined> {
  if (typeof uri !== 'string') return jwks as JSONWebKeySet | undefined
  if (!URL.canParse(uri) || metadataUrlProblem(new URL(uri), isLocal) !== undefined) {
    throw new OAuthError('invalid_client', 'jwks_uri is not to be trusted')
  }
  return (await fetchObject(uri, { fetch }).catch(() => {
    throw new OAuthError('invalid_client', 'jwks_uri cannot be read')
  })) as unknown as JSONWebKeySet
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
