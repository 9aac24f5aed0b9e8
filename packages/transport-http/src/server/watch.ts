/** Notices what takes too long. One coarse timer serves all that is watched: what ends in time costs none. */

/** How often the timer looks within the time that is given. */
const LOOKS = 4
const LONGEST_TIMER = 2 ** 31 - 1
/** What stands in the place of a look for an item that was called late. */
const CALLED = -1

export interface WatchOptions<T> {
  /** How long an item may take, in ms; up to a quarter more may pass before it is noticed. `Infinity`: as long as it likes. */
  readonly ms: number
  /** Called once for an item that takes longer. */
  readonly onLate: (item: T) => void
}

type Timer = ReturnType<typeof setTimeout>

export interface Watched {
  /** Its own timer, where it has one. */
  timer?: Timer | undefined
}

export class Watch<T extends Watched> implements Iterable<T> {
  readonly #options: WatchOptions<T>
  /** The items, oldest first, with how often the timer had looked when each came. */
  readonly #items = new Map<T, number>()
  #looks = 0
  #timer: Timer | undefined

  constructor(options: WatchOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#items.size
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.keys()
  }

  add(item: T): void {
    this.#items.set(item, this.#looks)
  }

  delete(item: T): void {
    this.#items.delete(item)
    if (item.timer !== undefined) clearTimeout(item.timer)
  }

  /** Begins to look after an item that was added and does not end at once. */
  follow(item: T, isAlone: boolean): void {
    const { ms } = this.#options
    if (ms > LONGEST_TIMER) return
    if (isAlone) item.timer = setTimeout(() => this.#options.onLate(item), ms)
    else this.#timer ??= unref(setInterval(() => this.#look(), Math.max(ms / LOOKS, 1)))
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.#items.size === 0) this.stop()
    this.#looks += 1
    for (const [item, came] of this.#items) {
      // It came somewhere between two looks: one more of them makes sure.
      if (this.#looks - came <= LOOKS) return
      if (came === CALLED) continue
      this.#items.set(item, CALLED)
      this.#options.onLate(item)
    }
  }
}

/** Does not keep a process alive, where that is a question. */
function unref(timer: Timer): Timer {
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
