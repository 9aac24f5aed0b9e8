/** A guard that accepts requests with a token for this server. */

import {
  type AuthInfo,
  type Awaitable,
  type Guard,
  quoted,
  refuseUnknownOption,
  type ScopeRefusal,
  type Store,
} from '@mcpx/protocol'
import type { SendRequest } from '../bounded-fetch.ts'
import {
  type Challenge,
  type Claims,
  CredentialsError,
  type RefusalReason,
  readCredentials,
  refusalResponse,
  responseTo,
  schemeOf,
  writeChallenge,
} from './credentials.ts'
import { boundKey, createProofChecker, type DpopOptions } from './dpop.ts'
import type { IntrospectionOptions } from './introspection.ts'
import type { TrustedIssuer } from './issuers.ts'
import { createMetadataHandler, metadataUrlOf, type ResourceMetadata, resourceUrl } from './metadata.ts'
import { createScopeHierarchy, type Implies } from './scopes.ts'
import { createVerification, trustedIssuers } from './verification.ts'

/** A refused request, for logs and metrics. It contains no part of the credentials. */
export interface RefusedRequest {
  /** The reason, as a constant for programs. */
  readonly reason: RefusalReason
  /** The reason, as a sentence for people. */
  readonly description: string
  /** The HTTP status of the response. */
  readonly status: number
}

/**
 * The largest number of a token's scopes that a challenge repeats. A token with more scopes gets a challenge without
 * them.
 */
const MAX_HELD_SCOPES = 100

/** Options of `bearer`. Durations are in ms. */
export interface BearerOptions {
  /**
   * The URL at which clients reach this server. Tokens must be issued for this URL. The further values of a list are also
   * accepted as `aud` of tokens.
   */
  readonly audience: string | readonly [string, ...string[]]
  /** The authorization server whose tokens are accepted. Its metadata has the URL of its keys. */
  readonly issuer?: string | TrustedIssuer | undefined
  /** More authorization servers. Default: none. */
  readonly issuers?: readonly (string | TrustedIssuer)[] | undefined
  /** Sends tokens that are not JWTs of a known issuer to the authorization server, to check them. Default: disabled. */
  readonly introspection?: IntrospectionOptions | undefined
  /**
   * Verifies tokens that neither an issuer nor introspection recognizes. The function must also check that the token
   * is for this server, and returns undefined for an invalid token. Default: none.
   */
  readonly verify?: ((token: string, request: Request) => Awaitable<AuthInfo | undefined>) | undefined
  /** The scopes that every request needs. They are named in metadata and challenges. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** Scopes that imply others, such as `{ admin: ['read', 'write'] }`, transitively. Default: none. */
  readonly implies?: Implies | undefined
  /** Returns the scopes in the claims. Default: `scope`, otherwise `scp`, as a string or a list. */
  readonly readScopes?: ((claims: Claims) => readonly string[]) | undefined
  /**
   * The accepted signature algorithms of JWTs. Algorithms with a shared secret, such as HS256, throw a `RangeError`.
   * Default: all of ES, EdDSA, PS and RS.
   */
  readonly algorithms?: readonly string[] | undefined
  /** How far clocks may differ. Default: 30,000. */
  readonly clockTolerance?: number | undefined
  /**
   * Proofs of possession (DPoP). `optional`: bound tokens need a proof; `required`: all tokens must be bound; `false`:
   * bound tokens are refused. Default: `optional`.
   */
  readonly dpop?: DpopOptions | 'optional' | 'required' | false | undefined
  /** More members of the metadata of this server. Default of `authorizationServers`: `issuer` and `issuers`. */
  readonly metadata?: Partial<Omit<ResourceMetadata, 'resource'>> | undefined
  /** Sends requests to authorization servers. Default: the global `fetch`. */
  readonly fetch?: SendRequest | undefined
  /** How long each response of an authorization server may take. Default: 5,000. */
  readonly timeout?: number | undefined
  /** How long keys and metadata are cached. Default: 600,000. */
  readonly maxAge?: number | undefined
  /**
   * How long a verified JWT is accepted without another check of its signature: not after the token has expired, and not
   * longer than `maxAge`. Digests of up to 1,000 tokens are cached. 0 disables the cache. Default: 60,000.
   */
  readonly verifiedMaxAge?: number | undefined
  /** The shortest time between two attempts to fetch keys, after an unknown key or a failure. Default: 30,000. */
  readonly cooldown?: number | undefined
  /** Called with each refused request. Default: none. */
  readonly onRefused?: ((refused: RefusedRequest, request: Request) => void) | undefined
  /** Called with problems of this server, such as keys that cannot be fetched. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

// biome-ignore format: a list of names reads best as a paragraph
const OPTIONS: Readonly<Record<keyof BearerOptions, true>> = {
  audience: true, issuer: true, issuers: true, introspection: true, verify: true, scopes: true, implies: true,
  readScopes: true, algorithms: true, clockTolerance: true, dpop: true, metadata: true, fetch: true, timeout: true,
  maxAge: true, verifiedMaxAge: true, cooldown: true, onRefused: true, onWarning: true,
}

/** The names that other libraries use for options. */
const OTHER_NAMES = { requiredScopes: 'scopes', resource: 'audience', issuerBaseURL: 'issuer', onError: 'onWarning' }

/** A guard that also serves metadata and challenges, with which clients find the authorization server. */
export interface BearerGuard extends Required<Guard> {
  (request: Request): Promise<AuthInfo | Response>
  withStore(store: Store): BearerGuard
}

/**
 * Creates a guard for the option `authenticate` of `mcp` and `serveHttp`. It accepts requests with a valid token for this
 * server: a JWT of one of the issuers, a token that introspection confirms, or one that `verify` accepts. A token that is
 * bound to a key needs a proof. The guard serves the metadata with which clients find the authorization server.
 *
 * ```ts
 * mcp(server, { authenticate: bearer({ issuer: 'https://login.example.com', audience: 'https://example.com/mcp' }) })
 * ```
 *
 * @throws RangeError for invalid options
 */
export function bearer(options: BearerOptions): BearerGuard {
  refuseUnknownOption('bearer', options, Object.keys(OPTIONS), OTHER_NAMES)
  const { audience, scopes: requiredScopes = [], dpop = 'optional', onRefused } = options
  const audiences = typeof audience === 'string' ? [audience] : audience
  // Without an audience, tokens for any other server would be accepted. JavaScript code may omit it.
  const resource: unknown = audiences?.[0]
  if (typeof resource !== 'string') {
    throw new RangeError('audience: expected the URL of this server, such as "https://example.com/mcp"')
  }
  const url = resourceUrl(resource)
  const metadataUrl = metadataUrlOf(url)
  const hierarchy = createScopeHierarchy(options.implies)
  // Tokens may name an origin with or without a slash at its end.
  const spellings = url.pathname === '/' ? [url.origin, url.href] : []
  const verify = createVerification(options, [...audiences, ...spellings], hierarchy)
  const dpopOptions: DpopOptions | false = typeof dpop === 'string' ? { required: isRequired(dpop) } : dpop
  const proofs = dpopOptions === false ? undefined : createProofChecker(dpopOptions, url)
  const metadata = createMetadataHandler({
    authorizationServers: trustedIssuers(options).map(({ issuer }) => issuer),
    scopes: requiredScopes,
    ...options.metadata,
    resource,
    more: {
      dpop_signing_alg_values_supported: proofs?.algorithms,
      dpop_bound_access_tokens_required: proofs?.required || undefined,
      ...options.metadata?.more,
    },
  })

  async function guard(request: Request): Promise<AuthInfo | Response> {
    try {
      return await authenticate(request)
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error
      return refuseCredentials(request, error)
    }
  }

  async function authenticate(request: Request): Promise<AuthInfo> {
    const credentials = readCredentials(request)
    if (credentials === undefined) throw new CredentialsError('missing', 'a token is required')
    const auth = await verify(credentials.token, request)
    if (proofs !== undefined) await proofs.check(credentials, auth, request)
    else if (credentials.scheme === 'DPoP' || boundKey(auth.claims) !== undefined) {
      throw new CredentialsError('bound', 'tokens that are bound to a key are not accepted here')
    }
    if (auth.expiresAt !== undefined && auth.expiresAt * 1_000 <= Date.now()) {
      throw new CredentialsError('expired', 'the token has expired')
    }
    if (requiredScopes.every((scope) => auth.scopes.includes(scope))) return auth
    const description = 'the token lacks scopes that every request needs here'
    throw new CredentialsError('scope', description, { scopes: challengedScopes(auth.scopes, []) })
  }

  /** Returns the scopes for one new token: the scopes of the current token, and the missing ones. */
  function challengedScopes(held: readonly string[], needed: readonly string[]) {
    return hierarchy.reduce([...(held.length > MAX_HELD_SCOPES ? [] : held), ...requiredScopes, ...needed])
  }

  async function refuseCredentials(request: Request, refusal: CredentialsError): Promise<Response> {
    const { reason, message: description, scopes = requiredScopes } = refusal
    const { status, error } = responseTo(reason)
    onRefused?.({ reason, description, status }, request)
    const response = refusalResponse(refusal, challengeFor(request, { error, description, scopes }))
    if (reason === 'proof_nonce') response.headers.set('dpop-nonce', (await proofs?.nonces?.issue()) ?? '')
    return response
  }

  /** Creates one challenge with all scopes that the operation needs, so that one new token is enough. */
  function refuse(request: Request, { auth, requiredScopes: needed }: ScopeRefusal): Response {
    const scopes = challengedScopes(auth?.scopes ?? [], needed)
    const status = auth === undefined ? 401 : 403
    const description = 'the token lacks scopes that this request needs'
    if (auth !== undefined) onRefused?.({ reason: 'scope', description, status }, request)
    const error = auth === undefined ? undefined : 'insufficient_scope'
    const challenge = challengeFor(request, { error, description, scopes })
    return new Response(null, { status, headers: { 'cache-control': 'no-store', 'www-authenticate': challenge } })
  }

  function challengeFor(request: Request, content: Pick<Challenge, 'error' | 'description' | 'scopes'>): string {
    const scheme = schemeOf(request.headers.get('authorization') ?? '')
    const usesProofs = proofs !== undefined && (proofs.required || scheme === 'DPoP')
    const algorithms = usesProofs ? proofs.algorithms : undefined
    return writeChallenge({ ...content, scheme: usesProofs ? 'DPoP' : 'Bearer', metadata: metadataUrl, algorithms })
  }

  function withStore({ replays }: Store): BearerGuard {
    if (dpopOptions === false || dpopOptions.replayStore !== undefined) return whole
    return bearer({ ...options, dpop: { ...dpopOptions, replayStore: replays } })
  }

  const whole: BearerGuard = Object.assign(guard, { metadata, refuse, withStore })
  return whole
}

/** Throws for a misspelled word, which would accept tokens without a proof. */
function isRequired(dpop: string): boolean {
  if (dpop === 'optional' || dpop === 'required') return dpop === 'required'
  throw new TypeError(`dpop: expected "optional", "required", false or an object, got ${quoted(dpop)}`)
}
