/** The tokens of the provider: sealed in the store, and refreshed by one process at a time. */

import type { RecordStore } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import { randomId, type Seals } from './seals.ts'
import type { Upstream, UpstreamTokens } from './upstream.ts'

/** The stored record of a grant. */
interface StoredTokens {
  /** The sealed tokens. */
  tokens: string
  /** The id of the user. Stores with limits per user count the record for this user. */
  readonly subject: string
  /** The process that refreshes the tokens, and the time until which other processes wait for it, in ms since 1970. */
  lease?: { readonly holder: string; readonly until: number }
}

/** The sealed tokens. They contain the id of their grant, so that they cannot be copied to another grant. */
interface SealedTokens extends UpstreamTokens {
  readonly grant: string
}

/** Other processes wait for a refresh for the timeout of its request plus this time, in ms. */
const LEASE_SLACK = 5_000
/** The interval at which waiting processes read the record, and a failed write is tried again, in ms. */
const POLL_INTERVAL = 100

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_INTERVAL))

export class UpstreamTokenStore {
  readonly #records: RecordStore
  readonly #seals: Seals
  readonly #upstream: Upstream
  readonly #leaseTtl: number

  /** @param timeout the timeout of requests to the provider, in ms */
  constructor(records: RecordStore, seals: Seals, upstream: Upstream, timeout: number) {
    this.#records = records
    this.#seals = seals
    this.#upstream = upstream
    this.#leaseTtl = timeout + LEASE_SLACK
  }

  async create(grant: string, subject: string, tokens: UpstreamTokens, ttl: number): Promise<void> {
    await this.#records.create(upstreamRecord(grant), { subject, tokens: await this.#seal(grant, tokens) }, ttl)
  }

  /**
   * Returns tokens that are valid, refreshed if they are about to expire. Returns undefined if the login at the
   * provider has ended. Rejects with `AuthError` if the provider is unavailable.
   */
  async fresh(grant: string): Promise<UpstreamTokens | undefined> {
    const until = Date.now() + 2 * this.#leaseTtl
    while (Date.now() < until) {
      const stored = (await this.#records.get(upstreamRecord(grant))) as StoredTokens | undefined
      const tokens = stored && (await this.#open(grant, stored.tokens))
      if (stored === undefined || tokens === undefined) return undefined
      const { refreshAt = Number.POSITIVE_INFINITY, expiresAt = 0, refreshToken } = tokens
      if (Date.now() < refreshAt) return tokens
      // Without a refresh token, the token is used until it expires.
      if (refreshToken === undefined) return Date.now() < expiresAt ? tokens : undefined
      const holder = randomId()
      if (await this.#acquire(grant, stored.tokens, holder)) return this.#refresh(grant, tokens, holder)
      await pause()
    }
    const hint = 'Another process did not finish in time. Try again.'
    throw new AuthError('The tokens of the provider could not be refreshed', { step: 'refresh', hint })
  }

  /** Returns whether the provider still accepts this login. */
  async isAlive(grant: string): Promise<boolean> {
    const tokens = await this.fresh(grant)
    if (tokens === undefined) return false
    return tokens.expiresAt !== undefined || this.#upstream.accepts(tokens)
  }

  async #refresh(grant: string, tokens: UpstreamTokens, holder: string): Promise<UpstreamTokens | undefined> {
    let next: UpstreamTokens | undefined
    try {
      next = await this.#upstream.refresh(tokens)
    } catch (error) {
      await this.#release(grant, holder)
      throw error
    }
    if (next === undefined) return undefined
    await this.#keep(grant, holder, await this.#seal(grant, next))
    return next
  }

  /**
   * Stores refreshed tokens. Tries again until the lease ends, because the provider may have ended the previous tokens:
   * if the store failed for a moment, the login would be lost.
   */
  async #keep(grant: string, holder: string, tokens: string): Promise<void> {
    for (const until = Date.now() + LEASE_SLACK; ; await pause()) {
      try {
        return await this.#release(grant, holder, tokens)
      } catch (error) {
        if (Date.now() >= until) throw error
      }
    }
  }

  /**
   * Acquires the lease. Returns true if this process may refresh the tokens: they are unchanged, and no other process
   * has the lease.
   */
  async #acquire(grant: string, tokens: string, holder: string): Promise<boolean> {
    let isAcquired = false
    await this.#update(grant, (stored) => {
      const now = Date.now()
      isAcquired = stored.tokens === tokens && (stored.lease?.until ?? 0) <= now
      if (isAcquired) stored.lease = { holder, until: now + this.#leaseTtl }
    })
    return isAcquired
  }

  async #release(grant: string, holder: string, tokens?: string): Promise<void> {
    await this.#update(grant, (stored) => {
      if (stored.lease?.holder !== holder) return
      delete stored.lease
      if (tokens !== undefined) stored.tokens = tokens
    })
  }

  async #update(grant: string, change: (stored: StoredTokens) => void): Promise<void> {
    await this.#records.update(upstreamRecord(grant), (record) => change(record as unknown as StoredTokens))
  }

  #seal(grant: string, tokens: UpstreamTokens): Promise<string> {
    return this.#seals.seal('upstream', { ...tokens, grant } satisfies SealedTokens)
  }

  async #open(grant: string, sealed: string): Promise<UpstreamTokens | undefined> {
    const tokens = await this.#seals.open<SealedTokens>('upstream', sealed)
    return tokens?.grant === grant ? tokens : undefined
  }
}

/** Returns the id of the record with the tokens of a grant. */
export function upstreamRecord(grant: string): string {
  return `upstream:${grant}`
}
