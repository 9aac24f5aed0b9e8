/** A map with a limit on its entries and a time to live for each of them. No timer runs. */

/** The shortest time between two searches for expired entries in a full map, in ms. */
const SWEEP_INTERVAL = 1_000

export class ExpiringMap<V> {
  readonly #maxEntries: number
  readonly #whenFull: 'drop-oldest' | 'refuse'
  /** In the order of insertion. Times in ms since 1970. */
  readonly #entries = new Map<string, { readonly value: V; readonly expiresAt: number }>()
  #nextSweep = 0

  /** @param whenFull whether a new entry replaces the oldest one or is refused */
  constructor(maxEntries: number, whenFull: 'drop-oldest' | 'refuse') {
    this.#maxEntries = maxEntries
    this.#whenFull = whenFull
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.expiresAt > Date.now()) return entry?.value
    this.#entries.delete(key)
    return undefined
  }

  /** @param ttl in ms. Returns false if the entry was refused. */
  set(key: string, value: V, ttl: number): boolean {
    const now = Date.now()
    this.#entries.delete(key)
    this.#makeRoom(now)
    if (this.#entries.size >= this.#maxEntries) return false
    this.#entries.set(key, { value, expiresAt: now + ttl })
    return true
  }

  #makeRoom(now: number): void {
    const mayStop = this.#entries.size < this.#maxEntries || now < this.#nextSweep
    if (!mayStop) this.#nextSweep = now + SWEEP_INTERVAL
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt <= now) this.#entries.delete(key)
      // Usually the oldest entries expire first.
      else if (mayStop) break
    }
    if (this.#whenFull === 'refuse') return
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries) return
      this.#entries.delete(key)
    }
  }
}
