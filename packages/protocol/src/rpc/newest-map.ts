/**
 * A map whose newest entry stands beside it: what is gone before the next one comes never enters the table. A table that
 * is filled and emptied all the time is laid out anew, and an old one keeps the next until the engine looks at old objects.
 */

export class NewestMap<K, V> {
  readonly #older = new Map<K, V>()
  #newest: readonly [K, V] | undefined

  get size(): number {
    return this.#older.size + (this.#newest ? 1 : 0)
  }

  get(key: K): V | undefined {
    return this.#newest && this.#newest[0] === key ? this.#newest[1] : this.#older.get(key)
  }

  /** The key must be free. */
  add(key: K, value: V): void {
    if (this.#newest) this.#older.set(...this.#newest)
    this.#newest = [key, value]
  }

  delete(key: K): void {
    if (this.#newest && this.#newest[0] === key) this.#newest = undefined
    else this.#older.delete(key)
  }

  /** All that are there now, in the order in which they came. */
  entries(): (readonly [K, V])[] {
    return this.#newest ? [...this.#older, this.#newest] : [...this.#older]
  }
}
