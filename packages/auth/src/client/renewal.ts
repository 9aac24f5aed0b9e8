/** Replaces tokens: with newer tokens in the store, with a refresh, or with a new login. */

import { AuthError, printable } from '../auth-error.ts'
import type { Fetch } from '../bounded-fetch.ts'
import { discover } from './discovery.ts'
import type { DpopKey } from './dpop.ts'
import type { Flow, FlowContext } from './flow.ts'
import type { ConnectionFactory } from './requests.ts'
import { type AuthStore, withLock } from './store.ts'
import { type Client, tryTokenRequest } from './token-endpoint.ts'
import {
  includesAll,
  isDue,
  isExpired,
  recordKey,
  type TokenRecords,
  type Tokens,
  type TokenTerms,
  tokensOf,
} from './token-records.ts'

/** The login to one MCP server. */
export interface LoginSettings {
  /** The URL of the MCP server. */
  readonly serverUrl: URL
  readonly store: AuthStore
  readonly connect: ConnectionFactory
  readonly flow: Flow
  readonly dpop: DpopKey | undefined
  /** The scopes in the option `scope`. */
  readonly scope: readonly string[]
  readonly issuer: string | undefined
  readonly resource: string | false | undefined
}

/** The reason why new tokens are needed. */
export interface TokenNeed {
  /** The scopes of the server's challenge. */
  readonly scope: readonly string[]
  /** The URL of the metadata that the challenge names. */
  readonly resourceMetadata?: string | undefined
  /** Whether the new tokens must also have the scopes of the current tokens. */
  readonly stepUp?: boolean | undefined
  /** Whether only a refresh may be used, not a login. */
  readonly refreshOnly?: boolean | undefined
  /** Whether only a login may be used, not a refresh. */
  readonly loginOnly?: boolean | undefined
}

export interface Renewed {
  readonly tokens: Tokens
  /** The source of the new tokens. `store`: another caller or process has already obtained new tokens. */
  readonly source: 'store' | 'refresh' | 'login'
}

export interface Renewal {
  readonly fetch: Fetch
  readonly refused: Tokens | undefined
  readonly need: TokenNeed
  /** Aborted when no caller is waiting any more. */
  readonly signal: AbortSignal
}

/** Returns whether tokens in the store can replace the refused tokens. */
export function satisfies(tokens: Tokens, refused: Tokens | undefined, { scope, stepUp }: TokenNeed): boolean {
  if (tokens.accessToken === refused?.accessToken || isDue(tokens)) return false
  return includesAll(stepUp === true ? tokens.scope : tokens.requested, scope)
}

/** Errors of a refresh that do not concern the refresh token. */
const TRANSIENT_ERRORS = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'use_dpop_nonce'])

/**
 * Runs under the lock of the server's tokens. Resolves to undefined if `refreshOnly` is set and there is no refreshed
 * token.
 */
export async function renewTokens(
  settings: LoginSettings,
  records: TokenRecords,
  { fetch, refused, need, signal }: Renewal,
): Promise<Renewed | undefined> {
  const { serverUrl, store, connect, flow, dpop, issuer } = settings
  const record = await records.server()
  const stored = record && (await records.tokensOf(record))
  if (stored !== undefined && satisfies(stored, refused, need)) return { tokens: stored, source: 'store' }
  const connection = connect(fetch)
  const { resourceMetadata = record?.resourceMetadata } = need
  const discovery = await discover(connection, settings, need.resourceMetadata, record)
  const { server, resourceParams } = discovery
  if (flow.bound && issuer === undefined) refuseOtherIssuer(server.issuer, record?.issuer, serverUrl)
  const context: FlowContext = { connection, discovery, store, dpop, clientId: record?.clientId, signal }
  let renewed = need.loginOnly === true ? undefined : await refresh()
  if (renewed === undefined && need.refreshOnly === true) return undefined
  renewed ??= await logIn(stored ?? refused)
  // Tokens of the previous authorization server are useless now.
  if (stored !== undefined && stored.issuer !== renewed.tokens.issuer) await records.delete(stored)
  return renewed

  /** Refreshes tokens. If several MCP servers share tokens, only one of them sends the request. */
  async function refresh(): Promise<Renewed | undefined> {
    const client = await flow.client(context)
    if (client === undefined) return undefined
    const owner = { issuer: server.issuer, clientId: client.id, resource: discovery.resource }
    return withLock(store, recordKey('refresh', owner.issuer, owner.clientId, owner.resource), async () => {
      const tokens = await records.tokensOf(owner)
      if (tokens === undefined) return undefined
      const isNew = satisfies(tokens, refused, need)
      const renewed: Renewed | undefined = isNew ? { tokens, source: 'store' } : await sendRefresh(client, tokens)
      if (renewed !== undefined) await records.save(renewed.tokens, resourceMetadata)
      return renewed
    })
  }

  async function sendRefresh(client: Client, tokens: Tokens): Promise<Renewed | undefined> {
    if (tokens.refreshToken === undefined || !includesAll(tokens.requested, need.scope)) return undefined
    const params = { refresh_token: tokens.refreshToken, ...resourceParams }
    const request = { step: 'refresh', server, client, grantType: 'refresh_token', params, dpop } as const
    const response = await tryTokenRequest(connection, request)
    if (!('error' in response)) {
      const terms = termsFor(client, tokens.requested)
      return { tokens: tokensOf(response, terms, server.token_endpoint, tokens), source: 'refresh' }
    }
    const newer = await records.tokensOf(tokens)
    if (newer !== undefined && satisfies(newer, tokens, need)) return { tokens: newer, source: 'store' }
    if (TRANSIENT_ERRORS.has(response.code)) throw response.error
    if (response.code === 'invalid_client') await flow.forgetClient?.(context)
    // If an early refresh fails, the access token can be used until it expires.
    const isUsable = need.refreshOnly === true && !isExpired(tokens)
    if (!isUsable) await records.delete(tokens)
    else if (newer?.accessToken === tokens.accessToken) {
      await records.save({ ...tokens, refreshToken: undefined }, resourceMetadata)
    }
    return undefined
  }

  async function logIn(previous: Tokens | undefined): Promise<Renewed> {
    // The scopes of the challenge and of the option `scope`. If there are none, all scopes that the server lists.
    const named = [...settings.scope, ...need.scope]
    const held = need.stepUp === true ? (previous?.requested ?? []) : []
    const requested = [...new Set([...held, ...(named.length > 0 ? named : discovery.scopesSupported)])]
    const { client, response } = await flow.start(context, requested)
    const tokens = tokensOf(response, termsFor(client, requested), server.token_endpoint)
    await records.save(tokens, resourceMetadata)
    return { tokens, source: 'login' }
  }

  function termsFor(client: Client, requested: readonly string[]): TokenTerms {
    const tokenType = dpop === undefined ? 'Bearer' : 'DPoP'
    return { issuer: server.issuer, clientId: client.id, resource: discovery.resource, requested, tokenType }
  }
}

function refuseOtherIssuer(issuer: string, previous: string | undefined, url: URL): void {
  if (previous === undefined || issuer === previous) return
  const named = printable(issuer)
  const message = `The server now names ${named} as its authorization server, and the client belongs to ${previous}`
  const hint = 'Register with the new one, and pass its issuer with the client id.'
  throw new AuthError(message, { step: 'discovery', url, hint })
}
