/** A map whose entries die: by their time to live, and the least recently used first when it is full. */

interface Entry<V> {
  value: V
  /** When the entry dies, of `Date.now()`. */
  diesAt: number
}

export interface ExpiringMap<V> {
  /** The value, if it is alive. Counts as a use; a time to live starts it again. */
  get(key: string, ttlMs?: number): V | undefined
  /** Stores a value; a full map forgets the one that was not used for longest. */
  set(key: string, value: V, ttlMs: number): void
  delete(key: string): boolean
}

/**
 * How many entries are looked at for dead ones with each that is stored; with each use it is one. No timer runs. One
 * iterator goes round: a new one would pass all that was moved to the end since the map last grew, with every use.
 */
const SWEEP = 4

export function createExpiringMap<V>(maxEntries: number, onEvict?: (key: string, value: V) => void): ExpiringMap<V> {
  const entries = new Map<string, Entry<V>>()
  /** The last of them, where it is known: to put it there once more would be in vain, and is most of what a use costs. */
  let newest: Entry<V> | undefined
  let sweep: Iterator<[string, Entry<V>]> = entries.entries()

  function forget(key: string): boolean {
    newest = undefined
    return entries.delete(key)
  }

  function drop(key: string, entry: Entry<V>): void {
    forget(key)
    onEvict?.(key, entry.value)
  }

  /** Puts an entry last, and looks at as many others as said. */
  function use(key: string, entry: Entry<V>, now: number, looks: number): void {
    if (entry !== newest) {
      entries.delete(key)
      entries.set(key, entry)
      newest = entry
    }
    while (looks-- > 0) {
      const { value } = sweep.next()
      if (!value) {
        sweep = entries.entries()
        return
      }
      if (value[1].diesAt <= now) drop(value[0], value[1])
    }
  }

  return {
    get(key, ttlMs) {
      const entry = entries.get(key)
      if (!entry) return undefined
      const now = Date.now()
      if (entry.diesAt <= now) return void drop(key, entry)
      if (ttlMs !== undefined) entry.diesAt = now + ttlMs
      // An iterator that rests keeps every table the map has had since: it is moved on with each change.
      use(key, entry, now, 1)
      return entry.value
    },
    set(key, value, ttlMs) {
      const now = Date.now()
      use(key, { value, diesAt: now + ttlMs }, now, SWEEP)
      if (entries.size <= maxEntries) return
      for (const [oldest, entry] of entries) return drop(oldest, entry)
    },
    delete: forget,
  }
}
