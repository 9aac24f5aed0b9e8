/** Notices what takes too long. One coarse timer serves all that is watched: what ends in time costs none. */

import { Line, type Neighbour } from './line.ts'

/** How often the timer looks within the time that is given, if nothing else is said. */
const LOOKS = 4
export const LONGEST_TIMER = 2 ** 31 - 1
/** What stands in the place of a look for an item that was called late. */
const CALLED = -1

export interface WatchOptions<T> {
  /** How long an item may take, in ms. `Infinity`: as long as it likes. */
  readonly ms: number
  /** How often it is looked meanwhile: up to one look more may pass before an item is called. Default: 4. */
  readonly looks?: number
  /** Called once for an item that takes longer. */
  readonly onLate: (item: T) => void
}

type Timer = ReturnType<typeof setTimeout>

/** What a watch keeps of an item, on the item itself. */
export interface Watched extends Neighbour {
  /** Its own timer, where it has one. */
  timer?: Timer | undefined
  /** How often the timer had looked before it came. */
  came?: number | undefined
}

export class Watch<T extends Watched> implements Iterable<T> {
  readonly #options: WatchOptions<T>
  readonly #most: number
  readonly #line = new Line<T>()
  #looks = 0
  #timer: Timer | undefined

  constructor(options: WatchOptions<T>) {
    this.#options = options
    this.#most = options.looks ?? LOOKS
  }

  get size(): number {
    return this.#line.size
  }

  /** Those that are watched now, the oldest first. */
  [Symbol.iterator](): Iterator<T> {
    return this.#line[Symbol.iterator]()
  }

  /** What is watched already is not added again. */
  add(item: T): void {
    if (item.came !== undefined) return
    item.came = this.#looks
    this.#line.add(item)
  }

  delete(item: T): void {
    if (item.timer !== undefined) clearTimeout(item.timer)
    if (item.came === undefined) return
    item.came = undefined
    this.#line.delete(item)
  }

  /** Begins to look after an item that was added and does not end at once. */
  follow(item: T, isAlone: boolean): void {
    const { ms } = this.#options
    if (ms > LONGEST_TIMER) return
    if (isAlone) item.timer = setTimeout(() => this.#options.onLate(item), ms)
    else this.#timer ??= unref(setInterval(() => this.#look(), Math.max(ms / this.#most, 1)))
  }

  /** Begins anew with an item that was called. */
  again(item: T, isAlone: boolean): void {
    this.delete(item)
    this.add(item)
    this.follow(item, isAlone)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.#line.size === 0) this.stop()
    this.#looks += 1
    let item = this.#line.oldest
    while (item !== undefined) {
      const next = item.newer as T | undefined
      if (item.came !== CALLED) {
        // It came somewhere between two looks: one more of them makes sure.
        if (this.#looks - (item.came as number) <= this.#most) return
        item.came = CALLED
        this.#options.onLate(item)
      }
      // An item that is late may have ended the one that follows.
      item = next === undefined || next.came !== undefined ? next : this.#line.oldest
    }
  }
}

/** Does not keep a process alive, where that is a question. */
export function unref(timer: Timer): Timer {
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
