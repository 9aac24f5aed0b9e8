/**
 * What stands in line, in the order in which it came. Each item knows its neighbours: to join and to leave costs the same
 * however many there are. A `Set` that is joined and left all the time lays its table out anew, and each old table keeps
 * the next, with all that it held, until the engine looks at old objects too: half of a pause of its collector.
 */

/** What a line keeps of an item, on the item itself. */
export interface Neighbour {
  older?: Neighbour | undefined
  newer?: Neighbour | undefined
}

export class Line<T extends Neighbour> implements Iterable<T> {
  #oldest: T | undefined
  #newest: T | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get oldest(): T | undefined {
    return this.#oldest
  }

  /** Those that are in line now, the oldest first. */
  [Symbol.iterator](): Iterator<T> {
    const all: T[] = []
    for (let item = this.#oldest; item !== undefined; item = item.newer as T | undefined) all.push(item)
    return all.values()
  }

  /** What is in line already is not added again. */
  add(item: T): void {
    if (this.#has(item)) return
    item.older = this.#newest
    if (this.#newest === undefined) this.#oldest = item
    else this.#newest.newer = item
    this.#newest = item
    this.#size += 1
  }

  /** What is not in line is left alone. What has left holds nobody. */
  delete(item: T): void {
    if (!this.#has(item)) return
    const older = item.older as T | undefined
    const newer = item.newer as T | undefined
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    item.older = item.newer = undefined
    this.#size -= 1
  }

  #has(item: T): boolean {
    return item.older !== undefined || item === this.#oldest
  }
}
