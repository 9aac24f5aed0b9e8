/** A map for entries that are kept only for a short time, such as running requests. */

/** The number of deletions after which the entries are copied to a new `Map`, if fewer entries are left. */
const DELETIONS = 200

/**
 * A map whose entries change all the time. After many deletions, it copies its entries to a new `Map`.
 *
 * V8 links each hash table that a `Map` has replaced to the next one. If one of them has reached the old generation, it
 * keeps all later tables and the values that were in them until the next full garbage collection. With 16 entries at a
 * time, adding and deleting costs a third of the processor time of a `Map` (`npm run bench -- --only maps`).
 */
export class ShortLivedMap<K, V> {
  #map: Map<K, V>
  #deletions = 0

  /** @param entries the first entries */
  constructor(entries: Iterable<readonly [K, V]> = []) {
    this.#map = new Map(entries)
  }

  /** The number of entries. */
  get size(): number {
    return this.#map.size
  }

  /** Returns the value of a key, or undefined if it does not exist. */
  get(key: K): V | undefined {
    return this.#map.get(key)
  }

  /** Returns whether a key exists. */
  has(key: K): boolean {
    return this.#map.has(key)
  }

  /** Adds an entry, or replaces its value. */
  set(key: K, value: V): void {
    this.#map.set(key, value)
  }

  /** Deletes an entry. Returns whether it existed. */
  delete(key: K): boolean {
    const existed = this.#map.delete(key)
    this.#deletions += 1
    if (this.#deletions > DELETIONS && this.#deletions > this.#map.size) {
      this.#map = new Map(this.#map)
      this.#deletions = 0
    }
    return existed
  }

  /** Iterates over the keys, oldest first. */
  keys(): MapIterator<K> {
    return this.#map.keys()
  }

  /** Iterates over the values, oldest first. */
  values(): MapIterator<V> {
    return this.#map.values()
  }

  /** Iterates over the entries, oldest first. Entries that are deleted during the iteration may still appear. */
  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#map[Symbol.iterator]()
  }
}
