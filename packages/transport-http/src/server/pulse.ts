/** The one timer by which all open streams of an endpoint show that they are alive. */

export type Timer = ReturnType<typeof setInterval>

/** Something that wants to be called once in a while. */
export interface Beating {
  beat(): void
  /** Where it is kept: with others that are called at the same time, or by a timer of its own. */
  place?: Set<Beating> | Timer | undefined
}

export const LONGEST_TIMER = 2 ** 31 - 1
/** Streams are called in so many groups, one after the other: all at once would keep everything else waiting. */
const MOST_GROUPS = 16
/** Groups that follow each other faster than this would have the timer fire for nothing, in ms. */
const LEAST_STEP = 50

export class Pulse {
  readonly #ms: number
  readonly #groups: readonly Set<Beating>[]
  #size = 0
  /** The group that the next one joins. */
  #next = 0
  /** The group that is called next. */
  #turn = 0
  #timer: Timer | undefined

  /** @param ms how much time passes between two calls at most; `Infinity`: nothing is ever called */
  constructor(ms: number) {
    const count = Math.max(1, Math.min(MOST_GROUPS, Math.floor(ms / LEAST_STEP)))
    this.#ms = ms
    this.#groups = Array.from({ length: ms > LONGEST_TIMER ? 0 : count }, () => new Set<Beating>())
  }

  /** @param isAlone whether the timers of others may be gone while it still is there */
  join(item: Beating, isAlone: boolean): void {
    const { length } = this.#groups
    if (length === 0) return
    if (isAlone) {
      item.place = setInterval(() => item.beat(), this.#ms)
      return
    }
    item.place = this.#groups[this.#next]?.add(item)
    this.#next = (this.#next + 1) % length
    this.#size += 1
    this.#timer ??= setInterval(() => this.#beat(), this.#ms / length)
  }

  leave(item: Beating): void {
    const { place } = item
    item.place = undefined
    if (!(place instanceof Set)) {
      clearInterval(place)
      return
    }
    place.delete(item)
    this.#size -= 1
    if (this.#size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #beat(): void {
    const group = this.#groups[this.#turn] ?? []
    this.#turn = (this.#turn + 1) % this.#groups.length
    for (const item of group) item.beat()
  }
}
