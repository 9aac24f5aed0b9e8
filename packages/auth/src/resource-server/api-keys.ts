/** A guard by keys that were handed out, for deployments without an authorization server. */

import type { AuthInfo, Guard } from '@mcpx/protocol'
import { writeChallenge } from './challenge.ts'
import { readCredentials } from './credentials.ts'
import { CredentialsError, verdictOf } from './refusal.ts'

export interface ApiKey extends Omit<AuthInfo, 'scopes' | 'claims'> {
  /** The key itself, at least 16 characters: draw it at random. */
  readonly key: string
  readonly scopes?: readonly string[] | undefined
}

export interface ApiKeysOptions {
  readonly keys: readonly ApiKey[]
  /** The header that the key is sent in. Default: `Authorization: Bearer`. */
  readonly header?: string | undefined
}

const MIN_KEY = 16
const MAX_KEY = 1_024

/**
 * Lets in who brings one of the keys. All of them are compared, and each in the same time, whatever was sent.
 *
 * ```ts
 * mcp(server, { authenticate: apiKeys({ keys: [{ key: process.env.KEY, subject: 'ci' }] }) })
 * ```
 */
export function apiKeys({ keys, header }: ApiKeysOptions): Guard {
  if (keys.length === 0) throw new RangeError('keys: expected at least one')
  if (keys.some(({ key }) => key.length < MIN_KEY || key.length > MAX_KEY)) {
    throw new RangeError(`keys: expected ${MIN_KEY} to ${MAX_KEY} characters for each`)
  }
  let made: Promise<readonly Held[]> | undefined
  const held = () => {
    made ??= Promise.all(keys.map(hold))
    return made
  }
  const guard = async (request: Request): Promise<AuthInfo | Response> => {
    try {
      const digest = await digestOf(readKey(request, header))
      const found = pick(await held(), digest)
      if (found === undefined) throw new CredentialsError('unknown', 'the key is not known here')
      if (found.expiresAt !== undefined && found.expiresAt <= Date.now() / 1000) {
        throw new CredentialsError('expired', 'the key has expired')
      }
      return found
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error
      return refuse(error, header)
    }
  }
  return guard
}

interface Held {
  readonly digest: Uint8Array
  readonly auth: AuthInfo
}

async function hold({ key, scopes = [], ...facts }: ApiKey): Promise<Held> {
  return { digest: await digestOf(key), auth: { ...facts, scopes } }
}

function readKey(request: Request, header: string | undefined): string {
  const key = header === undefined ? bearerKey(request) : request.headers.get(header)
  if (key === null) throw new CredentialsError('missing', 'a key is needed')
  if (key.length > MAX_KEY) throw new CredentialsError('too_long', `the key is longer than ${MAX_KEY} characters`)
  return key
}

function bearerKey(request: Request): string | null {
  const credentials = readCredentials(request)
  return credentials?.scheme === 'Bearer' ? credentials.token : null
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** Looks at every byte of every key: how long it takes says nothing of what fits. */
function pick(all: readonly Held[], digest: Uint8Array): AuthInfo | undefined {
  let found: AuthInfo | undefined
  for (const held of all) {
    let difference = 0
    for (const [index, byte] of held.digest.entries()) difference |= byte ^ (digest[index] as number)
    if (difference === 0) found = held.auth
  }
  return found
}

function refuse({ reason, message }: CredentialsError, header: string | undefined): Response {
  const { status, error } = verdictOf(reason)
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  if (header === undefined) {
    const description = error === undefined ? undefined : message
    headers.set('www-authenticate', writeChallenge({ scheme: 'Bearer', error, description }))
  }
  return new Response(JSON.stringify({ error: error ?? 'unauthorized', error_description: message }), {
    status,
    headers,
  })
}
