/** A guard for API keys, and a guard that combines several guards. */

import type { AuthInfo, Guard } from '@mcpx/protocol'
import { CredentialsError, readCredentials, responseTo, writeChallenge } from './credentials.ts'

/** A key, and the caller that it identifies. */
export interface ApiKey extends Omit<AuthInfo, 'scopes' | 'claims'> {
  /** The key: 16 to 1,024 random characters. */
  readonly key: string
  /** The scopes of the caller. Default: none. */
  readonly scopes?: readonly string[] | undefined
}

/** Options of `apiKeys`. */
export interface ApiKeysOptions {
  /** The accepted keys; at least one. */
  readonly keys: readonly ApiKey[]
  /** The header that contains the key. Default: `Authorization: Bearer`. */
  readonly header?: string | undefined
}

const MIN_KEY_LENGTH = 16
const MAX_KEY_LENGTH = 1_024

/**
 * Creates a guard that accepts requests with one of the keys, for deployments without an authorization server. Each
 * request is compared with all keys in constant time.
 *
 * ```ts
 * mcp(server, { authenticate: apiKeys({ keys: [{ key: process.env.KEY, subject: 'ci' }] }) })
 * ```
 *
 * @throws RangeError without keys, and for keys that are too short or too long
 */
export function apiKeys({ keys, header }: ApiKeysOptions): Guard {
  if (keys.length === 0) throw new RangeError('keys: expected at least one, got none')
  if (keys.some(({ key }) => key.length < MIN_KEY_LENGTH || key.length > MAX_KEY_LENGTH)) {
    throw new RangeError(`keys: expected ${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} characters for each`)
  }
  let digests: Promise<readonly KeyDigest[]> | undefined
  return async (request) => {
    digests ??= Promise.all(keys.map(toKeyDigest))
    try {
      const auth = findEqual(await digests, await digestOf(readKey(request, header)))
      if (auth === undefined) throw new CredentialsError('unknown', 'the key is unknown')
      if (auth.expiresAt !== undefined && auth.expiresAt * 1_000 <= Date.now()) {
        throw new CredentialsError('expired', 'the key has expired')
      }
      return auth
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error
      return refuse(error, header)
    }
  }
}

interface KeyDigest {
  readonly digest: Uint8Array
  readonly auth: AuthInfo
}

async function toKeyDigest({ key, scopes = [], ...caller }: ApiKey): Promise<KeyDigest> {
  return { digest: await digestOf(key), auth: { ...caller, scopes } }
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function readKey(request: Request, header: string | undefined): string {
  const key = header === undefined ? readBearerKey(request) : request.headers.get(header)
  if (key === null) throw new CredentialsError('missing', 'a key is required')
  if (key.length > MAX_KEY_LENGTH) {
    throw new CredentialsError('too_long', `the key is longer than ${MAX_KEY_LENGTH} characters`)
  }
  return key
}

function readBearerKey(request: Request): string | null {
  const credentials = readCredentials(request)
  return credentials?.scheme === 'Bearer' ? credentials.token : null
}

/**
 * Finds the caller of a key. Always compares all bytes of all keys, so that the time reveals nothing about the keys.
 */
function findEqual(keys: readonly KeyDigest[], digest: Uint8Array): AuthInfo | undefined {
  let found: AuthInfo | undefined
  for (const key of keys) {
    let difference = 0
    for (const [index, byte] of key.digest.entries()) difference |= byte ^ (digest[index] as number)
    if (difference === 0) found = key.auth
  }
  return found
}

function refuse({ reason, message: description }: CredentialsError, header: string | undefined): Response {
  const { status, error } = responseTo(reason)
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  if (header === undefined) {
    headers.set('www-authenticate', writeChallenge({ scheme: 'Bearer', error, description }))
  }
  const body = { error: error ?? 'unauthorized', error_description: description }
  return new Response(JSON.stringify(body), { status, headers })
}

/**
 * Combines guards: accepts a request that one of them accepts, in order. If all guards refuse it, the response of the
 * last guard is sent. The last guard also serves the metadata and the challenges.
 *
 * ```ts
 * mcp(server, { authenticate: firstOf(apiKeys({ keys, header: 'x-api-key' }), bearer({ issuer, audience })) })
 * ```
 */
export function firstOf(...guards: readonly [Guard, ...Guard[]]): Guard {
  const last = guards.at(-1) as Guard
  const guard: Guard = async (request: Request) => {
    for (const each of guards.slice(0, -1)) {
      const auth = await each(request)
      // Do not use `instanceof Response`, because Hono's server for Node replaces the global Response.
      if (auth !== undefined && 'subject' in auth) return auth
    }
    return last(request)
  }
  if (last.metadata !== undefined) guard.metadata = last.metadata
  if (last.refuse !== undefined) guard.refuse = last.refuse
  guard.withStore = (store) => {
    const [first, ...others] = guards
    const use = (each: Guard) => each.withStore?.(store) ?? each
    return firstOf(use(first), ...others.map(use))
  }
  return guard
}
