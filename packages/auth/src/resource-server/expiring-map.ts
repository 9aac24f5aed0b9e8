/** A map whose entries die after a time, with a limit on how many live. */

export interface ExpiringMap<V> {
  get(key: string): V | undefined
  /** Stores a value; whether there was room. */
  set(key: string, value: V, ttl: number): boolean
  delete(key: string): boolean
}

/** How often a full map is searched through for dead entries, in ms. */
const SWEEP_PAUSE = 1_000

/** `full` says what becomes of a new entry when there is no room: it pushes out the oldest, or is not taken. */
export function createExpiringMap<V>(maxEntries: number, full: 'forget-oldest' | 'refuse'): ExpiringMap<V> {
  const entries = new Map<string, { readonly value: V; readonly diesAt: number }>()
  let nextSweep = 0

  /** Looks at the oldest entries; the first that lives ends the search, so that a call stays cheap. */
  function makeRoom(now: number): void {
    for (const [key, { diesAt }] of entries) {
      if (diesAt > now) break
      entries.delete(key)
    }
    if (entries.size < maxEntries) return
    if (now >= nextSweep) {
      nextSweep = now + SWEEP_PAUSE
      for (const [key, { diesAt }] of entries) if (diesAt <= now) entries.delete(key)
    }
    if (full === 'refuse') return
    for (const key of entries.keys()) {
      if (entries.size < maxEntries) return
      entries.delete(key)
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined || entry.diesAt > Date.now()) return entry?.value
      entries.delete(key)
      return undefined
    },
    set(key, value, ttl) {
      const now = Date.now()
      entries.delete(key)
      makeRoom(now)
      if (entries.size >= maxEntries) return false
      entries.set(key, { value, diesAt: now + ttl })
      return true
    },
    delete: (key) => entries.delete(key),
  }
}
