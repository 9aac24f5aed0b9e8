/** A map whose entries die: by their time to live, and the least recently used first when it is full. */

/** Between its neighbours in the order of use: to keep that order in the map itself would have it made anew all the time. */
interface Entry<V> {
  readonly key: string
  readonly value: V
  /** When the entry dies, of `Date.now()`. */
  diesAt: number
  older: Entry<V>
  newer: Entry<V>
}

export interface ExpiringMap<V> {
  /** The value, if it is alive. Counts as a use; a time to live starts it again. */
  get(key: string, ttlMs?: number): V | undefined
  /** Stores a value; a full map forgets the one that was not used for longest. */
  set(key: string, value: V, ttlMs: number): void
  delete(key: string): boolean
}

/** How many entries are looked at for dead ones with each that is stored; with each use it is one. No timer runs. */
const SWEEP = 4

export function createExpiringMap<V>(maxEntries: number, onEvict?: (key: string, value: V) => void): ExpiringMap<V> {
  const entries = new Map<string, Entry<V>>()
  /** The ends of the order meet in it, and it lives for ever. */
  const ring = { diesAt: Number.POSITIVE_INFINITY } as Entry<V>
  ring.older = ring
  ring.newer = ring
  /** The next one to be looked at. */
  let next = ring

  function unlink(entry: Entry<V>): void {
    const { older, newer } = entry
    if (next === entry) next = newer
    older.newer = newer
    newer.older = older
  }

  function putLast(entry: Entry<V>): void {
    const { older } = ring
    entry.older = older
    entry.newer = ring
    older.newer = entry
    ring.older = entry
  }

  function forget(entry: Entry<V> | undefined): boolean {
    if (entry === undefined) return false
    unlink(entry)
    // What is gone would keep what came after it until the engine looks at old objects.
    entry.older = entry.newer = entry
    return entries.delete(entry.key)
  }

  function drop(entry: Entry<V>): undefined {
    forget(entry)
    onEvict?.(entry.key, entry.value)
  }

  function sweep(looks: number, now: number): void {
    while (looks-- > 0) {
      const entry = next
      next = entry.newer
      if (entry.diesAt <= now) drop(entry)
    }
  }

  return {
    get(key, ttlMs) {
      const entry = entries.get(key)
      if (!entry) return undefined
      const now = Date.now()
      if (entry.diesAt <= now) return drop(entry)
      if (ttlMs !== undefined) entry.diesAt = now + ttlMs
      if (entry.newer !== ring) {
        unlink(entry)
        putLast(entry)
      }
      sweep(1, now)
      return entry.value
    },
    set(key, value, ttlMs) {
      forget(entries.get(key))
      const now = Date.now()
      const entry = { key, value, diesAt: now + ttlMs, older: ring, newer: ring }
      entries.set(key, entry)
      putLast(entry)
      sweep(SWEEP, now)
      if (entries.size > maxEntries) drop(ring.newer)
    },
    delete: (key) => forget(entries.get(key)),
  }
}
