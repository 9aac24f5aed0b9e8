/**
 * A map that limits the number of its entries, and drops each entry after its time to live. A full map drops its oldest
 * entry. It uses no timer.
 */

export class ExpiringMap<V> {
  readonly #maxEntries: number
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

  #makeRoom(now: number): void {
    for (const [key, { expiresAt }] of this.#entries) {
      // Usually the oldest entries expire first, so the search ends at the first entry that stays.
      if (expiresAt > now && this.#entries.size < this.#maxEntries) return
      this.#entries.delete(key)
    }
  }
}
