/** Who a client is at an authorization server: registered by hand, by a document of its own, or on the spot. */

import { reachOf } from './address.ts'
import type { Client, SecretMethod } from './client-authentication.ts'
import { failure, quote } from './failure.ts'
import type { Attempt } from './flow.ts'
import { isObject } from './json-request.ts'
import { hasTexts, keyOf, spoiled } from './records.ts'
import { strings } from './resource-metadata.ts'
import type { ServerMetadata } from './server-metadata.ts'

/** What an authorization server is told about a client that registers on the spot (RFC 7591). */
export interface ClientMetadata {
  /** Shown to the user. Default: `MCP client`. */
  readonly client_name?: string | undefined
  readonly client_uri?: string | undefined
  readonly logo_uri?: string | undefined
  readonly contacts?: readonly string[] | undefined
  readonly tos_uri?: string | undefined
  readonly policy_uri?: string | undefined
  readonly software_id?: string | undefined
  readonly software_version?: string | undefined
  readonly scope?: string | undefined
  /** Default: `native` for redirect URIs of this machine or of a scheme of its own, else `web`. */
  readonly application_type?: 'native' | 'web' | undefined
  /** Default: `none` where the server takes it, else a secret. */
  readonly token_endpoint_auth_method?: SecretMethod | undefined
}

export interface Registered {
  readonly client: Client
  readonly redirectUris: readonly string[]
}

type Registration = Pick<Attempt, 'store'> & { readonly found: { readonly server: ServerMetadata } }

/** The client that was registered last at an authorization server, or the one with an id. */
function recordKey({ found }: Registration, ...id: readonly string[]): string {
  return keyOf('client', found.server.issuer, ...id)
}

/** The client as it was registered before at this authorization server: that with an id, or the last one. */
export async function keptRegistration(attempt: Registration, id?: string): Promise<Registered | undefined> {
  const key = id === undefined ? recordKey(attempt) : recordKey(attempt, id)
  const record = await attempt.store.get(key)
  if (record === undefined || record === null) return undefined
  if (!hasTexts(record, ['issuer', 'clientId'])) throw spoiled(key)
  const { issuer, clientId, secret, method, expiresAt, redirectUris } = record
  if (issuer !== attempt.found.server.issuer) return undefined
  if (typeof expiresAt === 'number' && expiresAt <= Date.now()) return undefined
  const client = {
    id: clientId as string,
    secret: typeof secret === 'string' ? secret : undefined,
    method: methodOf(method),
  }
  return { client, redirectUris: strings(redirectUris) }
}

export async function forgetRegistration(attempt: Registration & Pick<Attempt, 'clientId'>): Promise<void> {
  const { store, clientId } = attempt
  if (clientId !== undefined) await store.delete(recordKey(attempt, clientId))
  if ((await keptRegistration(attempt))?.client.id === clientId) await store.delete(recordKey(attempt))
}

/** Makes the next login register anew. What the client was given before can still be refreshed. */
export async function distrustRegistration(attempt: Registration): Promise<void> {
  await attempt.store.delete(recordKey(attempt))
}

/** Registers on the spot, and keeps what comes of it for this authorization server alone. */
export async function register(attempt: Attempt, metadata: ClientMetadata, redirectUri: string): Promise<Client> {
  const { link, found, store } = attempt
  const url = found.server.registrationEndpoint
  if (url === undefined) {
    const hint =
      'Register the client there by hand, and pass its clientId; or pass a clientMetadataUrl if it takes one.'
    throw failure('registration', 'The authorization server registers nobody on the spot', {
      url: found.server.issuer,
      hint,
    })
  }
  const asked = requestOf(metadata, found.server, redirectUri)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(asked)
  const answer = await link.request({ step: 'registration', url, method: 'POST', headers, body })
  if (answer.status !== 200 && answer.status !== 201) throw refused(url, answer, redirectUri)
  const registered = read(answer.body, url, asked.token_endpoint_auth_method)
  const { issuer } = found.server
  const { id: clientId, secret, method } = registered.client
  const { expiresAt } = registered
  const record = { issuer, clientId, secret, method, expiresAt, redirectUris: [redirectUri] }
  // Tokens that another one was given are refreshed by that one.
  await store.set(recordKey(attempt, clientId), record)
  await store.set(recordKey(attempt), record)
  return registered.client
}

function requestOf(metadata: ClientMetadata, server: ServerMetadata, redirectUri: string) {
  return {
    client_name: 'MCP client',
    application_type: applicationTypeOf(redirectUri),
    token_endpoint_auth_method: preferredMethod(server),
    ...metadata,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

function applicationTypeOf(redirectUri: string): 'native' | 'web' {
  const { protocol, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && reachOf(hostname) !== 'loopback' ? 'web' : 'native'
}

/** A client on a user's machine keeps no secret from that user. */
function preferredMethod({ tokenEndpointAuthMethods: supported, assumed }: ServerMetadata): SecretMethod {
  if (assumed || supported?.includes('none') === true) return 'none'
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'
  return supported.includes('client_secret_post') ? 'client_secret_post' : 'none'
}

function read(body: unknown, url: URL, asked: SecretMethod | undefined) {
  if (!hasTexts(body, ['client_id'])) {
    const hint = 'See that the registration endpoint is one of RFC 7591.'
    throw failure('registration', 'The answer holds no client_id', { url, hint })
  }
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = body
  const given = body.token_endpoint_auth_method
  if (given !== undefined && methodOf(given) === undefined) {
    const hint = 'Register the client by hand, and pass its clientId and its key.'
    throw failure('registration', `The client was registered for ${quote(given)}, which it cannot do`, { url, hint })
  }
  const client: Client = {
    id: id as string,
    secret: typeof secret === 'string' && secret !== '' ? secret : undefined,
    // A server that answers with a secret and no method leaves the choice to what it supports.
    method: methodOf(given) ?? (secret === undefined ? asked : undefined),
  }
  return { client, expiresAt: typeof expires === 'number' && expires > 0 ? expires * 1_000 : undefined }
}

function methodOf(value: unknown): SecretMethod | undefined {
  return value === 'none' || value === 'client_secret_basic' || value === 'client_secret_post' ? value : undefined
}

function refused(url: URL, { status, body }: { readonly status: number; readonly body: unknown }, redirectUri: string) {
  const { error, error_description: description } = isObject(body) ? body : {}
  const said = [error, description].filter((each) => typeof each === 'string').map(quote)
  const message = `The authorization server refused to register the client with HTTP status ${status}`
  const hint =
    error === 'invalid_redirect_uri'
      ? `It does not take ${redirectUri}: use another redirect, or pass another application_type in clientMetadata.`
      : 'Register the client there by hand, and pass its clientId.'
  return failure('registration', said.length === 0 ? message : `${message}: ${said.join(': ')}`, { url, hint })
}
