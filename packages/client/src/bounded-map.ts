/** Maps of values of a server, which keep the newest entries within limits of their number and their size. */

/** A map whose oldest entries are removed if there are too many, or if they are too large together. */
export class BoundedMap<Value> {
  readonly #maxEntries: number
  readonly #maxSize: number
  readonly #entries = new Map<string, { readonly value: Value; readonly size: number }>()
  /** The size of all entries. */
  #total = 0

  /** @param maxSize the largest sum of the sizes of all entries. Default: no limit */
  constructor(maxEntries: number, maxSize: number = Number.POSITIVE_INFINITY) {
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
  set(key: string, value: Value, size = 0): void {
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
