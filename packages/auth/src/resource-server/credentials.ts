/** Reads the credentials of a request, and names the reason, the status and the challenge of a refusal (RFC 6750). */

import { isScope } from './scopes.ts'

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>

export interface Credentials {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly token: string
}

/** The longest token, in characters. Longer tokens are refused and not parsed. */
const MAX_TOKEN_LENGTH = 16_384

const TOKEN68 = /^[\w.~+/-]+=*$/

/** Reads the credentials of a request. Returns undefined if there are none, or if they have another scheme. */
export function readCredentials({ headers, url }: Request): Credentials | undefined {
  if (hasTokenInQuery(url)) {
    throw new CredentialsError('in_query', 'tokens are accepted in the Authorization header only, never in the URL')
  }
  const header = headers.get('authorization')
  const scheme = header === null ? undefined : schemeOf(header)
  if (header === null || scheme === undefined) return undefined
  const token = header.slice(scheme.length).trim()
  if (token.length > MAX_TOKEN_LENGTH) {
    throw new CredentialsError('too_long', `the token is longer than ${MAX_TOKEN_LENGTH} characters`)
  }
  // Several Authorization headers arrive as one, separated by commas.
  if (!TOKEN68.test(token)) throw new CredentialsError('malformed', 'expected one Authorization header with one token')
  return { scheme, token }
}

export function schemeOf(header: string): Credentials['scheme'] | undefined {
  const name = header.split(/[\s,]/, 1)[0]?.toLowerCase()
  if (name === 'bearer') return 'Bearer'
  return name === 'dpop' ? 'DPoP' : undefined
}

function hasTokenInQuery(url: string): boolean {
  return url.includes('?') && URL.canParse(url) && new URL(url).searchParams.has('access_token')
}

// Refusals

/** The reason why a proof of possession is refused. */
export type ProofReason =
  | 'proof_missing'
  | 'proof_malformed'
  | 'proof_type'
  | 'proof_algorithm'
  | 'proof_key'
  | 'proof_signature'
  | 'proof_claims'
  | 'proof_method'
  | 'proof_url'
  | 'proof_time'
  | 'proof_token'
  | 'proof_replayed'
  | 'proof_nonce'

/** The reason why a request is refused. */
export type RefusalReason =
  /** The request has no credentials. */
  | 'missing'
  /** The header cannot be parsed. */
  | 'malformed'
  /** The token is in the query of the URL. */
  | 'in_query'
  /** The token or the key is too long. */
  | 'too_long'
  /** The token is not a valid JWT. */
  | 'not_a_token'
  /** The token is from an issuer that is not accepted. */
  | 'unknown_issuer'
  /** The algorithm of the JWT is not accepted. */
  | 'algorithm'
  /** The type of the JWT is not accepted. */
  | 'type'
  /** The signature of the JWT is wrong. */
  | 'signature'
  /** The issuer does not have the key that the JWT names. */
  | 'unknown_key'
  /** The token or the key has expired. */
  | 'expired'
  /** The token is not valid yet. */
  | 'not_yet_valid'
  /** The token is for another server. */
  | 'audience'
  /** The token lacks a required claim, or a claim is invalid. */
  | 'claims'
  /** The authorization server says that the token is not active, for example because it was revoked. */
  | 'inactive'
  /** There is no such token, or no such API key. */
  | 'unknown'
  /** The token is bound to a key, but was sent without an accepted proof. */
  | 'bound'
  /** The token is not bound to a key, although a proof was sent or bound tokens are required. */
  | 'unbound'
  /** The token is bound to another key than the proof. */
  | 'other_key'
  /** The authorization server cannot be reached. */
  | 'unavailable'
  /** The token lacks scopes. */
  | 'scope'
  | ProofReason

/** The error of refused credentials. It contains no part of the credentials. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError'
  readonly reason: RefusalReason
  /** The scopes of the challenge. Default: the scopes that every request needs. */
  readonly scopes: readonly string[] | undefined

  constructor(
    reason: RefusalReason,
    message: string,
    { scopes, ...options }: ErrorOptions & { readonly scopes?: readonly string[] } = {},
  ) {
    super(message, options)
    this.reason = reason
    this.scopes = scopes
  }
}

interface RefusalResponse {
  readonly status: 400 | 401 | 403 | 503
  /** The error code of the challenge. Undefined if there were no credentials, or if there is no challenge. */
  readonly error?: string
}

const RESPONSES: Partial<Record<RefusalReason, RefusalResponse>> = {
  missing: { status: 401 },
  malformed: { status: 400, error: 'invalid_request' },
  in_query: { status: 400, error: 'invalid_request' },
  too_long: { status: 400, error: 'invalid_request' },
  unavailable: { status: 503 },
  scope: { status: 403, error: 'insufficient_scope' },
  proof_nonce: { status: 401, error: 'use_dpop_nonce' },
}

/** Returns the status and the error code of a refusal. */
export function responseTo(reason: RefusalReason): RefusalResponse {
  const error = reason.startsWith('proof_') ? 'invalid_dpop_proof' : 'invalid_token'
  return RESPONSES[reason] ?? { status: 401, error }
}

/** Creates the response to a refused request. */
export function refusalResponse({ reason, message }: CredentialsError, challenge: string | undefined): Response {
  const { status, error } = responseTo(reason)
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  if (status === 503) headers.set('retry-after', '5')
  else if (challenge !== undefined) headers.set('www-authenticate', challenge)
  const code = error ?? (status === 503 ? 'temporarily_unavailable' : 'unauthorized')
  return new Response(JSON.stringify({ error: code, error_description: message }), { status, headers })
}

export interface Challenge {
  readonly scheme: Credentials['scheme']
  readonly error?: string | undefined
  /** The reason of the refusal. It is written only together with `error`. */
  readonly description?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** The URL of this server's metadata. */
  readonly metadata?: string | undefined
  /** The algorithms of proofs. */
  readonly algorithms?: readonly string[] | undefined
}

/** Returns the value of a `WWW-Authenticate` header. */
export function writeChallenge(challenge: Challenge): string {
  const { scheme, error, description, scopes = [], metadata, algorithms } = challenge
  // Leave out `offline_access`: clients request it themselves, and no request needs it.
  const needed = scopes.filter((scope) => isScope(scope) && scope !== 'offline_access')
  const params = {
    error,
    error_description: error === undefined ? undefined : description,
    scope: needed.length === 0 ? undefined : needed.join(' '),
    resource_metadata: metadata,
    algs: algorithms?.join(' '),
  }
  const written = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${quotable(value)}"`],
  )
  return written.length === 0 ? scheme : `${scheme} ${written.join(', ')}`
}

/** Replaces characters that need an escape in a quoted string, because not all clients support escapes. */
function quotable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
