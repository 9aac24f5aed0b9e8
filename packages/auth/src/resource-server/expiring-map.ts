/** Caches values for a limited time. Concurrent callers share the work of loading a value. */

/**
 * Returns whether requests may share promises. In Cloudflare Workers, a request must not wait for the promise of
 * another request.
 */
export function mayShareWork(): boolean {
  return globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
}

/**
 * A map that limits the number of its entries, and drops each entry after its time to live. A full map drops its oldest
 * entry. It uses no timer.
 */
export class ExpiringMap<V> {
  readonly #maxEntries: number
  readonly #loads = new Map<string, Promise<V>>()
  /** How many values are being loaded. */
  loading = 0
  /** The entries in the order of insertion. Times are in ms since 1970. */
  readonly #entries = new Map<string, { readonly value: V; readonly expiresAt: number }>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.expiresAt > Date.now()) return entry?.value
    this.#entries.delete(key)
    return undefined
  }

  /** @param ttl in ms */
  set(key: string, value: V, ttl: number): void {
    const now = Date.now()
    this.#entries.delete(key)
    this.#makeRoom(now)
    this.#entries.set(key, { value, expiresAt: now + ttl })
  }

  /**
   * Returns the value of a key, or loads it. A loaded value is kept for the time to live that `ttlOf` returns, in ms;
   * with 0 or less, it is not kept.
   */
  async load(key: string, load: () => Promise<V>, ttlOf: (value: V) => number): Promise<V> {
    const known = this.get(key) ?? (mayShareWork() ? this.#loads.get(key) : undefined)
    if (known !== undefined) return known
    const loading = load()
    this.#loads.set(key, loading)
    this.loading += 1
    try {
      const value = await loading
      const ttl = ttlOf(value)
      if (ttl > 0) this.set(key, value, ttl)
      return value
    } finally {
      this.loading -= 1
      if (this.#loads.get(key) === loading) this.#loads.delete(key)
    }
  }

  #makeRoom(now: number): void {
    for (const [key, { expiresAt }] of this.#entries) {
      // Usually the oldest entries expire first, so the search ends at the first entry that stays.
      if (expiresAt > now && this.#entries.size < this.#maxEntries) return
      this.#entries.delete(key)
    }
  }
}
