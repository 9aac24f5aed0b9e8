/** A guard for API keys, and a guard that combines several guards. */

import { type AuthInfo, type Guard, refuseUnknownOption } from '@mcpx/protocol'
import { CredentialsError, readCredentials, refusalResponse, responseTo, writeChallenge } from './credentials.ts'
import { sha256 } from './dpop.ts'

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
 * Creates a guard that accepts requests with one of the keys, for deployments without an authorization server. Only
 * digests of keys are compared, so the time of a response reveals nothing about the keys.
 *
 * ```ts
 * mcp(server, { authenticate: apiKeys({ keys: [{ key: process.env.KEY ?? '', subject: 'ci' }] }) })
 * ```
 *
 * @throws RangeError if there are no keys, or if a key is too short or too long
 */
export function apiKeys(options: ApiKeysOptions): Guard {
  refuseUnknownOption('apiKeys', options, ['keys', 'header'])
  const { keys = [], header } = options
  if (keys.length === 0) throw new RangeError('keys: expected at least one, got none')
  // JavaScript code may pass an environment variable that is not set.
  const isKey = ({ key }: Partial<ApiKey>) => key && key.length >= MIN_KEY_LENGTH && key.length <= MAX_KEY_LENGTH
  if (!keys.every(isKey)) {
    throw new RangeError(`keys: expected ${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} characters for each`)
  }
  /** The callers by the digests of their keys. */
  let callers: Map<string, AuthInfo> | undefined
  return async (request) => {
    callers ??= new Map(await Promise.all(keys.map(callerByDigest)))
    try {
      const auth = callers.get(await sha256(readKey(request, header)))
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

async function callerByDigest({ key, scopes = [], ...caller }: ApiKey): Promise<[string, AuthInfo]> {
  return [await sha256(key), { ...caller, scopes }]
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

function refuse(refusal: CredentialsError, header: string | undefined): Response {
  const { error } = responseTo(refusal.reason)
  const challenge =
    header === undefined ? writeChallenge({ scheme: 'Bearer', error, description: refusal.message }) : undefined
  return refusalResponse(refusal, challenge)
}

/**
 * Combines guards. Tries them in order, and accepts a request as soon as one of them accepts it. If all guards refuse the
 * request, sends the response of the last guard. The metadata and the challenges for missing scopes also
 * come from the last guard.
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
