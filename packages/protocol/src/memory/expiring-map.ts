/** A map whose entries die: by their time to live, and the least recently used first when it is full. */

interface Entry<V> {
  value: V
  /** When the entry dies, of `Date.now()`. */
  diesAt: number
}

export interface ExpiringMap<V> {
  readonly size: number
  /** The value, if it is alive. Counts as a use; a time to live starts it again. */
  get(key: string, ttlMs?: number): V | undefined
  /** Stores a value; a full map forgets the one that was not used for longest. */
  set(key: string, value: V, ttlMs: number): void
  delete(key: string): boolean
}

export function createExpiringMap<V>(maxEntries: number, onEvict?: (key: string, value: V) => void): ExpiringMap<V> {
  /** In the order of their last use. With one time to live for all, that is the order in which they die. */
  const entries = new Map<string, Entry<V>>()

  /** Each use drops what is dead before it: no timer runs. */
  function drop(now: number): void {
    for (const [key, { value, diesAt }] of entries) {
      const isDead = diesAt <= now
      if (!isDead && entries.size <= maxEntries) return
      entries.delete(key)
      onEvict?.(key, value)
    }
  }

  return {
    get size() {
      return entries.size
    },
    get(key, ttlMs) {
      const now = Date.now()
      drop(now)
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      // One that died behind others which live on is dropped by its own use.
      if (entry.diesAt <= now) {
        onEvict?.(key, entry.value)
        return undefined
      }
      if (ttlMs !== undefined) entry.diesAt = now + ttlMs
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, ttlMs) {
      const now = Date.now()
      entries.delete(key)
      entries.set(key, { value, diesAt: now + ttlMs })
      drop(now)
    },
    delete: (key) => entries.delete(key),
  }
}
