/** A guard that lets in who brings a token for this server. */

import type { AuthInfo, Guard, ScopeRefusal } from '@mcpx/protocol'
import { writeChallenge } from './challenge.ts'
import { readCredentials, schemeOf } from './credentials.ts'
import { createMetadataHandler, metadataUrlOf, resourceUrl } from './metadata.ts'
import type { BearerOptions } from './options.ts'
import { boundKey, createPossession, type DpopOptions, type Possession } from './possession.ts'
import { CredentialsError, verdictOf } from './refusal.ts'
import { createHierarchy, type Hierarchy } from './scopes.ts'
import { createVerification, trustedIssuers, type Verify } from './verification.ts'

/** A guard by tokens: it tells clients where to get them, and what else they need. */
export interface BearerGuard extends Required<Guard> {
  (request: Request): Promise<AuthInfo | Response>
}

/**
 * A guard for `mcp(server, { authenticate })` and `serveHttp`: only requests with a good token for this server pass.
 * Tokens are JWTs of the issuers, or asked about, or checked by a function; tokens that are bound to a key come with a
 * proof. The guard serves the metadata by which clients find the authorization server.
 *
 * ```ts
 * mcp(server, { authenticate: bearer({ issuer: 'https://login.example.com', audience: 'https://example.com/mcp' }) })
 * ```
 */
export function bearer(options: BearerOptions): BearerGuard {
  const door = createDoor(options)
  const issuers = trustedIssuers(options).map(({ issuer }) => issuer)
  const { possession, resource, needed } = door
  const metadata = createMetadataHandler({
    authorizationServers: issuers,
    scopes: needed,
    ...options.metadata,
    resource,
    more: {
      dpop_signing_alg_values_supported: possession?.algorithms,
      dpop_bound_access_tokens_required: possession?.required || undefined,
      ...options.metadata?.more,
    },
  })
  const guard = async (request: Request): Promise<AuthInfo | Response> => {
    try {
      return await enter(door, request)
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error
      return turnAway(door, request, error)
    }
  }
  return Object.assign(guard, {
    metadata,
    refuse: (request: Request, lack: ScopeRefusal) => refuse(door, request, lack),
  })
}

interface Door {
  readonly options: BearerOptions
  readonly resource: string
  readonly metadataUrl: string
  /** The scopes that any request needs. */
  readonly needed: readonly string[]
  readonly hierarchy: Hierarchy
  readonly possession: Possession | undefined
  readonly verify: Verify
}

function createDoor(options: BearerOptions): Door {
  const { audience, scopes: needed = [], dpop = 'optional' } = options
  const audiences = typeof audience === 'string' ? [audience] : audience
  // Without one, tokens for any other server would be good here: a caller without types is told.
  const resource: unknown = audiences?.[0]
  if (typeof resource !== 'string') {
    throw new RangeError('audience: expected the URL of this server, such as "https://example.com/mcp"')
  }
  const url = resourceUrl(resource)
  const hierarchy = createHierarchy(options.implies)
  // An origin may be spelled with or without its slash.
  const spelled = url.pathname === '/' ? [url.origin, url.href] : []
  return {
    options,
    resource,
    metadataUrl: metadataUrlOf(url),
    needed,
    hierarchy,
    possession: createPossession(dpopOptions(dpop), url),
    verify: createVerification(options, { audiences: [...audiences, ...spelled], hierarchy }),
  }
}

function dpopOptions(dpop: Exclude<BearerOptions['dpop'], undefined>): DpopOptions | undefined {
  if (dpop === false) return undefined
  return typeof dpop === 'string' ? { required: dpop === 'required' } : dpop
}

async function enter(door: Door, request: Request): Promise<AuthInfo> {
  const { verify, possession, needed } = door
  const credentials = readCredentials(request)
  if (credentials === undefined) throw new CredentialsError('missing', 'a token is needed')
  const auth = await verify(credentials.token, request)
  if (possession !== undefined) await possession.check(credentials, auth.claims, request)
  else if (credentials.scheme === 'DPoP' || boundKey(auth.claims) !== undefined) {
    throw new CredentialsError('bound', 'tokens that are bound to a key are not taken here')
  }
  if (auth.expiresAt !== undefined && auth.expiresAt <= Date.now() / 1000) {
    throw new CredentialsError('expired', 'the token has expired')
  }
  if (needed.every((scope) => auth.scopes.includes(scope))) return auth
  const scopes = wantedScopes(door, auth.scopes, [])
  throw new CredentialsError('scope', 'the token lacks scopes that any request needs here', { scopes })
}

/** More than these need not be named to who holds them: headers have an end, and so has what a request may cost. */
const MANY_HELD = 100

/** What one new token must grant to be enough: what is held already, and what is lacking. */
function wantedScopes({ hierarchy, needed }: Door, held: readonly string[], required: readonly string[]) {
  return hierarchy.least([...(held.length > MANY_HELD ? [] : held), ...needed, ...required])
}

async function turnAway(door: Door, request: Request, problem: CredentialsError): Promise<Response> {
  const { reason, message: description } = problem
  const { status, error } = verdictOf(reason)
  door.options.onRefused?.({ reason, description, status }, request)
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  if (status === 503) headers.set('retry-after', '5')
  else {
    const scopes = problem.scopes ?? door.needed
    headers.set('www-authenticate', challenge(door, request, { error, description, scopes }))
  }
  if (reason === 'proof_nonce') headers.set('dpop-nonce', (await door.possession?.nonces?.issue()) ?? '')
  const body = {
    error: error ?? (status === 503 ? 'temporarily_unavailable' : 'unauthorized'),
    error_description: description,
  }
  return new Response(JSON.stringify(body), { status, headers })
}

/** One challenge with all that the operation needs, so that one new token is enough. */
function refuse(door: Door, request: Request, { auth, requiredScopes }: ScopeRefusal): Response {
  const all = wantedScopes(door, auth?.scopes ?? [], requiredScopes)
  const headers = { 'cache-control': 'no-store' }
  if (auth === undefined) {
    const wanted = challenge(door, request, { error: undefined, description: undefined, scopes: all })
    return new Response(null, { status: 401, headers: { ...headers, 'www-authenticate': wanted } })
  }
  const description = 'the token lacks scopes that this request needs'
  door.options.onRefused?.({ reason: 'scope', description, status: 403 }, request)
  const wanted = challenge(door, request, { error: 'insufficient_scope', description, scopes: all })
  return new Response(null, { status: 403, headers: { ...headers, 'www-authenticate': wanted } })
}

interface Lack {
  readonly error: string | undefined
  readonly description: string | undefined
  readonly scopes: readonly string[]
}

function challenge({ possession, metadataUrl }: Door, request: Request, { error, description, scopes }: Lack): string {
  const tried = schemeOf(request.headers.get('authorization') ?? '')
  const isProven = possession !== undefined && (possession.required || tried === 'DPoP')
  return writeChallenge({
    scheme: isProven ? 'DPoP' : 'Bearer',
    error,
    description: error === undefined ? undefined : description,
    scopes,
    metadata: metadataUrl,
    algorithms: isProven ? possession.algorithms : undefined,
  })
}
