/** The tokens for one server: kept in memory, and renewed once for all callers. */

import { abortable } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import type { Fetch } from '../bounded-fetch.ts'
import { readServerMetadata } from './discovery.ts'
import { type LoginSettings, type Renewed, renewTokens, satisfies, type TokenNeed } from './renewal.ts'
import { withLock } from './store.ts'
import { revokeToken } from './token-endpoint.ts'
import { isDue, isExpired, TokenRecords, type Tokens } from './token-records.ts'

/** A request that needs tokens. */
export interface Caller {
  readonly fetch: Fetch
  readonly signal: AbortSignal | null | undefined
}

/** How long to wait before a new login, after a login has failed or the server has refused its tokens, in ms. */
const PAUSE = 30_000

/** How long to wait before the next early refresh, after one has failed, in ms. Until then, the valid token is used. */
const REFRESH_PAUSE = 5_000

export class TokenCache {
  readonly settings: LoginSettings
  readonly #records: TokenRecords
  #tokens: Tokens | undefined
  #isLoaded = false
  #renewal: SharedTask<Renewed | undefined> | undefined
  #nextEarlyRefresh = 0
  #pause: { readonly error: AuthError; readonly until: number } | undefined

  constructor(settings: LoginSettings) {
    const { store, serverUrl, flow, dpop } = settings
    this.settings = settings
    this.#records = new TokenRecords(store, serverUrl, flow.kind, dpop === undefined ? 'Bearer' : 'DPoP')
  }

  /** Returns the tokens in memory, unless it is time to refresh them. */
  current(): Tokens | undefined {
    return this.#tokens === undefined || isDue(this.#tokens) ? undefined : this.#tokens
  }

  /** Loads the tokens from the store, and refreshes them if they are about to expire. */
  async load(caller: Caller): Promise<Tokens | undefined> {
    if (!this.#isLoaded) this.#tokens ??= await this.#records.current()
    this.#isLoaded = true
    const tokens = this.#tokens
    if (tokens === undefined || !isDue(tokens)) return tokens
    if (!isExpired(tokens) && Date.now() < this.#nextEarlyRefresh) return tokens
    const { interactive } = this.settings.flow
    // Start an interactive login only after a challenge of the server, because the challenge names the scopes.
    if (interactive && tokens.refreshToken === undefined) return isExpired(tokens) ? undefined : tokens
    try {
      // Pass no refused tokens: some servers extend the lifetime of the same access token, which then must not count as
      // refused.
      const renewed = await this.renew(caller, undefined, { scope: tokens.requested, refreshOnly: interactive })
      if (renewed !== undefined) return renewed.tokens
    } catch (error) {
      if (caller.signal?.aborted === true) throw error
      this.#nextEarlyRefresh = Date.now() + REFRESH_PAUSE
      if (!isExpired(tokens)) return tokens
      // The URL of the metadata may have changed since the login. A challenge of the server names the new URL.
      if (error instanceof AuthError && error.step === 'discovery') return undefined
      throw error
    }
    // The refresh was refused. It is not repeated, and the access token is used until it expires.
    if (this.#tokens === tokens) this.#tokens = isExpired(tokens) ? undefined : { ...tokens, refreshToken: undefined }
    return this.#tokens
  }

  /** Replaces tokens that the server has refused. Resolves to undefined only if `refreshOnly` is set. */
  async renew(caller: Caller, refused: Tokens | undefined, need: TokenNeed): Promise<Renewed | undefined> {
    while (this.#renewal !== undefined) {
      const renewed = await this.#renewal.wait(caller.signal)
      if (renewed === undefined ? need.refreshOnly : satisfies(renewed.tokens, refused, need)) return renewed
    }
    caller.signal?.throwIfAborted()
    if (this.#pause !== undefined && Date.now() < this.#pause.until) throw this.#pause.error
    this.#renewal = this.#startRenewal(caller.fetch, refused, need)
    return this.#renewal.wait(caller.signal)
  }

  #startRenewal(fetch: Fetch, refused: Tokens | undefined, need: TokenNeed): SharedTask<Renewed | undefined> {
    const end = () => {
      if (this.#renewal === task) this.#renewal = undefined
    }
    const task: SharedTask<Renewed | undefined> = new SharedTask((signal) => {
      // A new caller must not wait for a task that is being aborted.
      signal.addEventListener('abort', end)
      return this.#run(fetch, refused, need, signal).finally(end)
    })
    return task
  }

  async #run(fetch: Fetch, refused: Tokens | undefined, need: TokenNeed, signal: AbortSignal) {
    const { store, flow } = this.settings
    try {
      const renewed = await withLock(store, this.#records.lockKey, () =>
        renewTokens(this.settings, this.#records, { fetch, refused, need, signal }),
      )
      if (renewed !== undefined) this.#tokens = renewed.tokens
      return renewed
    } catch (error) {
      const isFinal = error instanceof AuthError && (error.step === 'authorization' || error.step === 'token')
      if (flow.interactive && isFinal && !signal.aborted) this.pause(error)
      throw error
    }
  }

  /** Lets all renewals fail with this error until the pause ends. */
  pause(error: AuthError): void {
    this.#pause = { error, until: Date.now() + PAUSE }
  }

  /** Ends the pause. Called when an application connects again. */
  resume(): void {
    this.#pause = undefined
  }

  /** Deletes the tokens, and revokes them if the authorization server supports that (RFC 7009). */
  async signOut(fetch: Fetch): Promise<void> {
    await withLock(this.settings.store, this.#records.lockKey, async () => {
      const record = await this.#records.server()
      const tokens = await this.#records.deleteAll().finally(() => {
        this.#tokens = undefined
        this.#isLoaded = false
      })
      if (record !== undefined && tokens !== undefined) await this.#revoke(tokens, record.clientId, fetch)
    })
  }

  async #revoke(tokens: Tokens, clientId: string, fetch: Fetch): Promise<void> {
    const { connect, flow, issuer, serverUrl } = this.settings
    const connection = connect(fetch)
    // The URL of the party that named the issuer: the application, or the MCP server.
    const namedBy = tokens.issuer === issuer ? new URL(issuer) : serverUrl
    const server = await readServerMetadata(connection, { issuer: tokens.issuer, namedBy })
    if (server?.revocation_endpoint === undefined) return
    const discovery = { resource: tokens.resource, resourceParams: {}, scopesSupported: [], server }
    const { signal } = new AbortController()
    const client = await flow.client({ ...this.settings, connection, discovery, clientId, signal })
    if (client === undefined) return
    const { refreshToken, accessToken } = tokens
    // The refresh token is revoked first, because it is valid for longer.
    if (refreshToken !== undefined) await revokeToken(connection, server, client, 'refresh_token', refreshToken)
    await revokeToken(connection, server, client, 'access_token', accessToken)
  }
}

/** Work that several callers wait for, each with its own signal. */
class SharedTask<T> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<T>
  #waiting = 0

  /** @param run does the work; its signal is aborted when no caller is waiting any more */
  constructor(run: (abandoned: AbortSignal) => Promise<T>) {
    this.#result = run(this.#abandoned.signal)
    // Callers receive the error from `wait`. Without callers, the rejection must not be unhandled.
    this.#result.catch(() => {})
  }

  /** Waits for the result. Rejects early when the signal is aborted; the task continues for the other callers. */
  async wait(signal: AbortSignal | null | undefined): Promise<T> {
    signal?.throwIfAborted()
    this.#waiting += 1
    try {
      return await (signal ? abortable(this.#result, signal) : this.#result)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#abandoned.abort()
    }
  }
}
