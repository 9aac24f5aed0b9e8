/** Gets tokens in place of others: what another has got meanwhile, a refreshed one, or one from the beginning. */

import type { Client } from './client-authentication.ts'
import { type Discovery, discover } from './discovery.ts'
import type { Prover } from './dpop.ts'
import { failure, quote } from './failure.ts'
import type { Fetch } from './fetch.ts'
import type { Attempt, Flow } from './flow.ts'
import type { LinkRules } from './link.ts'
import { keyOf, type Records, type Tokens } from './records.ts'
import type { AuthStore } from './store.ts'
import { askForToken } from './token-endpoint.ts'
import { includes, isDue, toTokens } from './tokens.ts'

export interface RenewalOptions {
  /** The server of the protocol. */
  readonly url: URL
  readonly store: AuthStore
  readonly rules: LinkRules
  readonly flow: Flow
  readonly prover: Prover | undefined
  /** What is asked for whatever the server says. */
  readonly scope: readonly string[]
  readonly issuer: string | undefined
}

/** What new tokens must be good for. */
export interface Need {
  readonly resourceMetadata?: string | undefined
  /** What the server challenges for. */
  readonly scope: readonly string[]
  /** The scopes of before are wanted as well. */
  readonly stepUp?: boolean | undefined
  /** Nothing but a refreshed token would do. */
  readonly refreshOnly?: boolean | undefined
  /** A refreshed token would not do. */
  readonly fromTheBeginning?: boolean | undefined
}

export interface Renewed {
  readonly tokens: Tokens
  /** `kept`: somebody else got them. */
  readonly by: 'kept' | 'refresh' | 'flow'
}

/** Whether tokens that somebody else got are good enough. */
export function suits(tokens: Tokens, refused: Tokens | undefined, { scope, stepUp }: Need): boolean {
  if (tokens.accessToken === refused?.accessToken || isDue(tokens)) return false
  return includes(stepUp === true ? tokens.scope : tokens.requested, scope)
}

/** Runs where nobody else changes the tokens of this server. Nothing where no refreshed token is to be had. */
export async function renewTokens(
  options: RenewalOptions,
  records: Records,
  { fetch, refused, need, signal }: { fetch: Fetch; refused: Tokens | undefined; need: Need; signal: AbortSignal },
): Promise<Renewed | undefined> {
  const { url, store, rules, flow, prover, issuer } = options
  const place = await records.place()
  const kept = place && (await records.tokensAt(place))
  if (kept !== undefined && suits(kept, refused, need)) return { tokens: kept, by: 'kept' }
  const link = rules.over(fetch)
  const resourceMetadata = need.resourceMetadata ?? place?.resourceMetadata
  const found = await discover(link, { url, resourceMetadata, issuer, preferred: place?.issuer })
  if (flow.bound && issuer === undefined && place !== undefined) refuseOther(found, place.issuer, url)
  const attempt = { url, link, found, store, prover, clientId: place?.clientId, signal }
  const change: Change = { attempt, need, refused, resourceMetadata }
  let renewed = need.fromTheBeginning === true ? undefined : await refresh(options, records, change)
  if (renewed === undefined) {
    if (need.refreshOnly === true) return undefined
    renewed = await begin(options, attempt, need, kept ?? refused)
    await records.save(renewed.tokens, resourceMetadata)
  }
  // What another authorization server gave is of no use any more.
  if (kept !== undefined && kept.issuer !== renewed.tokens.issuer) await records.drop(kept)
  return renewed
}

function refuseOther({ server }: Discovery, before: string, url: URL): void {
  if (server.issuer === before) return
  const message = `The server now names ${quote(server.issuer)} as its authorization server, and the client belongs to ${before}`
  const hint = 'Register with the new one, and pass its issuer beside the client id.'
  throw failure('discovery', message, { url, hint })
}

interface Change {
  readonly attempt: Attempt
  readonly need: Need
  readonly refused: Tokens | undefined
  readonly resourceMetadata: string | undefined
}

/** Other servers may be of the same resource, and their tokens are the same: whoever comes first refreshes them for all. */
async function refresh(options: RenewalOptions, records: Records, change: Change): Promise<Renewed | undefined> {
  const { attempt, need, refused, resourceMetadata } = change
  const { resource, server } = attempt.found
  const client = await options.flow.client(attempt)
  if (client === undefined) return undefined
  const place = { issuer: server.issuer, clientId: client.id, resource }
  const work = async () => {
    const before = await records.tokensAt(place)
    const isGood = before !== undefined && suits(before, refused, need)
    const renewed: Renewed | undefined = isGood
      ? { tokens: before, by: 'kept' }
      : await refreshTokens(options, records, change, client, before)
    if (renewed !== undefined) await records.save(renewed.tokens, resourceMetadata)
    return renewed
  }
  return options.store.lock?.(keyOf('refresh', place.issuer, place.clientId, resource), work) ?? work()
}

async function refreshTokens(
  { flow, prover }: RenewalOptions,
  records: Records,
  { attempt, need }: Change,
  client: Client,
  before: Tokens | undefined,
): Promise<Renewed | undefined> {
  const { found, link } = attempt
  const { resource, server } = found
  if (before?.refreshToken === undefined || !includes(before.requested, need.scope)) return undefined
  const params = { grant_type: 'refresh_token', refresh_token: before.refreshToken, resource }
  const answer = await askForToken(link, { step: 'refresh', server, client, params, prover })
  if ('error' in answer) {
    const code = answer.code
    const later = await records.tokensAt(before)
    if (later !== undefined && suits(later, before, need)) return { tokens: later, by: 'kept' }
    if (passing.has(code)) throw answer.error
    if (code === 'invalid_client') await flow.forget?.(attempt)
    await records.drop(before)
    return undefined
  }
  return { tokens: toTokens(answer, termsOf(attempt, client, before.requested), before), by: 'refresh' }
}

/** Refusals that say nothing about the refresh token. */
const passing = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'use_dpop_nonce'])

async function begin(
  { flow, scope }: RenewalOptions,
  attempt: Attempt,
  need: Need,
  before: Tokens | undefined,
): Promise<Renewed> {
  const requested = scopeFor(need, attempt.found, scope, before)
  const { client, grant } = await flow.obtain(attempt, requested)
  return { tokens: toTokens(grant, termsOf(attempt, client, requested)), by: 'flow' }
}

function termsOf({ found, prover }: Attempt, client: Client, requested: readonly string[]) {
  const { resource, server } = found
  const { issuer, tokenEndpoint } = server
  return { issuer, clientId: client.id, resource, requested, bound: prover !== undefined, tokenEndpoint }
}

/**
 * What to ask for: what the challenge says, or else all that the server says it may want, and always what the user
 * wants; for a step up, what was asked for before as well.
 */
function scopeFor(
  { scope, stepUp }: Need,
  { scopesSupported }: Discovery,
  wanted: readonly string[],
  before: Tokens | undefined,
): string[] {
  const said = scope.length > 0 || wanted.length > 0 ? [...wanted, ...scope] : scopesSupported
  return [...new Set([...(stepUp === true ? (before?.requested ?? []) : []), ...said])]
}
