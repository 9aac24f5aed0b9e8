/** Dynamic client registration (RFC 7591), and the stored results. */

import { isObject } from '@mcpx/protocol'
import { allowInsecureRequests, customFetch, dynamicClientRegistrationRequest } from 'oauth4webapi'
import { AuthError, printable } from '../auth-error.ts'
import { readJson } from '../bounded-fetch.ts'
import { networkZone } from '../urls.ts'
import { type ServerMetadata, stringsOf } from './discovery.ts'
import type { FlowContext } from './flow.ts'
import type { Client, SecretMethod } from './token-endpoint.ts'
import { hasStrings, readRecord, recordKey } from './token-records.ts'

/** The metadata of a client for its registration (RFC 7591). */
export interface ClientMetadata {
  /** The name that is shown to the user. Default: `MCP client`. */
  readonly client_name?: string | undefined
  /** The URL of the client's home page. */
  readonly client_uri?: string | undefined
  /** The URL of a logo that is shown to the user. */
  readonly logo_uri?: string | undefined
  /** Contacts of the developers, for example e-mail addresses. */
  readonly contacts?: readonly string[] | undefined
  /** The URL of the terms of service. */
  readonly tos_uri?: string | undefined
  /** The URL of the privacy policy. */
  readonly policy_uri?: string | undefined
  /** An id of the software, equal for all of its installations. */
  readonly software_id?: string | undefined
  /** The version of the software. */
  readonly software_version?: string | undefined
  /** The scopes that the client may request, separated by spaces. */
  readonly scope?: string | undefined
  /**
   * The kind of application. Default: `native` for redirect URIs of this machine or with a private scheme, otherwise
   * `web`.
   */
  readonly application_type?: 'native' | 'web' | undefined
  /**
   * How the client authenticates at the token endpoint. Default: `none` if the server supports it, otherwise a method
   * with a secret.
   */
  readonly token_endpoint_auth_method?: SecretMethod | undefined
}

export interface Registration {
  readonly client: Client
  readonly redirectUris: readonly string[]
}

/** Returns the key of the record of a client with an id, or of the client that was registered last. */
function keyOf({ discovery }: FlowContext, ...id: readonly string[]): string {
  return recordKey('client', discovery.server.issuer, ...id)
}

/**
 * Returns the stored client with an id, or without an id the client that was registered last. Returns undefined if the
 * registration has expired.
 */
export async function storedRegistration(
  context: FlowContext,
  id: string | undefined,
): Promise<Registration | undefined> {
  const key = id === undefined ? keyOf(context) : keyOf(context, id)
  const record = await readRecord(context.store, key, ['issuer', 'clientId'])
  if (record === undefined) return undefined
  const { issuer, clientId, secret, method, expiresAt, redirectUris } = record
  if (issuer !== context.discovery.server.issuer) return undefined
  if (typeof expiresAt === 'number' && expiresAt <= Date.now()) return undefined
  const client = { id: clientId, secret: typeof secret === 'string' ? secret : undefined, method: methodOf(method) }
  return { client, redirectUris: stringsOf(redirectUris) }
}

/** Deletes a registration that the authorization server no longer knows. */
export async function deleteRegistration(context: FlowContext): Promise<void> {
  const { store, clientId } = context
  if (clientId !== undefined) await store.delete(keyOf(context, clientId))
  if ((await storedRegistration(context, undefined))?.client.id === clientId) await store.delete(keyOf(context))
}

/** Makes the next login register again. Tokens of the current client can still be refreshed. */
export async function requireNewRegistration(context: FlowContext): Promise<void> {
  await context.store.delete(keyOf(context))
}

/** Registers the client, and stores the result for this authorization server only. */
export async function register(context: FlowContext, metadata: ClientMetadata, redirectUri: string): Promise<Client> {
  const { connection, discovery, store } = context
  const { server } = discovery
  const url = server.registration_endpoint
  if (url === undefined) {
    const message = 'The authorization server does not support dynamic registration'
    const hint =
      'Register the client there by hand and pass its clientId, or pass a clientMetadataUrl if it supports one.'
    throw new AuthError(message, { step: 'registration', url: server.issuer, hint })
  }
  const sent = {
    client_name: 'MCP client',
    application_type: applicationTypeOf(redirectUri),
    token_endpoint_auth_method: defaultMethod(server),
    ...metadata,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
  const response = await dynamicClientRegistrationRequest(server, sent as RegistrationRequest, {
    [allowInsecureRequests]: true,
    [customFetch]: connection.sender('registration'),
  })
  const body = await readJson(response)
  if (response.status !== 200 && response.status !== 201) throw refused(url, response.status, body, redirectUri)
  const { client, expiresAt } = readClient(body, url, sent.token_endpoint_auth_method)
  const { id: clientId, secret, method } = client
  const record = { issuer: server.issuer, clientId, secret, method, expiresAt, redirectUris: [redirectUri] }
  // Keep a record for each client id, because tokens of an earlier client are refreshed with its id.
  await store.set(keyOf(context, clientId), record)
  await store.set(keyOf(context), record)
  return client
}

type RegistrationRequest = Parameters<typeof dynamicClientRegistrationRequest>[1]

function applicationTypeOf(redirectUri: string): 'native' | 'web' {
  const { protocol, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && networkZone(hostname) !== 'loopback' ? 'web' : 'native'
}

/**
 * Returns the default authentication method: `none` if possible, because a client on the machine of a user cannot hide
 * a secret from that user.
 */
function defaultMethod({ token_endpoint_auth_methods_supported: supported, assumed }: ServerMetadata): SecretMethod {
  if (assumed || supported?.includes('none') === true) return 'none'
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'
  return supported.includes('client_secret_post') ? 'client_secret_post' : 'none'
}

function readClient(body: unknown, url: string, requested: SecretMethod | undefined) {
  if (!hasStrings(body, ['client_id']) || body.client_id === '') {
    const hint = 'Check that the registration endpoint implements RFC 7591.'
    throw new AuthError('The response has no client_id', { step: 'registration', url, hint })
  }
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = body
  const method = body.token_endpoint_auth_method
  if (method !== undefined && methodOf(method) === undefined) {
    const message = `The client was registered for ${printable(method)}, which it does not support`
    const hint = 'Register the client by hand, and pass its clientId and its key.'
    throw new AuthError(message, { step: 'registration', url, hint })
  }
  const client: Client = {
    id,
    secret: typeof secret === 'string' && secret !== '' ? secret : undefined,
    // If the response has a secret and no method, the server accepts every method in its metadata.
    method: methodOf(method) ?? (secret === undefined ? requested : undefined),
  }
  return { client, expiresAt: typeof expires === 'number' && expires > 0 ? expires * 1_000 : undefined }
}

function methodOf(value: unknown): SecretMethod | undefined {
  return value === 'none' || value === 'client_secret_basic' || value === 'client_secret_post' ? value : undefined
}

function refused(url: string, status: number, body: unknown, redirectUri: string): AuthError {
  const { error, error_description: description } = isObject(body) ? body : {}
  const reasons = [error, description].filter((each) => typeof each === 'string').map(printable)
  const message = `The authorization server refused to register the client with HTTP status ${status}`
  const hint =
    error === 'invalid_redirect_uri'
      ? `It does not accept ${redirectUri}: use another redirect, or pass another application_type in clientMetadata.`
      : 'Register the client there by hand, and pass its clientId.'
  return new AuthError([message, ...reasons].join(': '), { step: 'registration', url, hint })
}
