/** Maps of values of a server, which keep the newest entries within limits of their number and their size. */

interface SizedEntry<Value> {
  readonly value: Value
  readonly size: number
}

/** A map whose oldest entries are removed if there are too many, or if they are too large together. */
export class BoundedMap<Value> {
  readonly #maxEntries: number
  readonly #maxSize: number
  readonly #entries = new Map<string, SizedEntry<Value>>()
  /** The size of all entries. */
  #total = 0

  constructor(maxEntries: number, maxSize: number) {
    this.#maxEntries = maxEntries
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Adds a value as the newest one. If it is larger than the limit by itself, removes only the earlier value of the key. */
  set(key: string, value: Value, size: number): void {
    this.delete(key)
    if (size > this.#maxSize) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries && this.#total + size <= this.#maxSize) break
      this.delete(oldest)
    }
    this.#entries.set(key, { value, size })
    this.#total += size
  }

  delete(key: string): void {
    this.#total -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.delete(key)
  }
}

/** Adds a value at the end of a map. When the map is full, its oldest value is removed. */
export function setBounded<Value>(map: Map<string, Value>, limit: number, key: string, value: Value): void {
  map.delete(key)
  const [oldest] = map.size >= limit ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
