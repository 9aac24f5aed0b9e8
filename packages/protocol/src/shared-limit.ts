/** A limit that callers share, so that one caller cannot use all of it. */

/** The fraction of a shared limit that one caller may use. */
export const SHARE_PER_CALLER = 0.25

/** Every caller may use at least this amount, because a fraction of a small limit would be too small. */
const LEAST_PER_CALLER = 16

/** Above this number of callers, the entries of idle callers are deleted. */
const FEW_CALLERS = 1_000

/** Counts how much of a limit is used, in total and per caller. */
export class SharedLimit {
  /** The largest amount that all callers may use together. */
  readonly total: number
  /** The largest amount that one caller may use. */
  readonly perCaller: number
  #used = 0
  readonly #byCaller = new Map<string, number>()
  #mostCallers = FEW_CALLERS

  /** @param share the fraction of the total that one caller may use, from 0 to 1; but at least 16, or the total if it is lower */
  constructor(total: number, share: number = SHARE_PER_CALLER) {
    this.total = total
    this.perCaller = Math.min(total, Math.max(Math.ceil(total * share), LEAST_PER_CALLER))
  }

  /**
   * Acquires an amount, and returns undefined. If the amount would exceed a limit, acquires nothing and returns the
   * name of this limit. An unknown caller is limited only by the total.
   */
  acquire(caller: string | undefined, amount = 1): 'total' | 'caller' | undefined {
    if (this.#used + amount > this.total) return 'total'
    if (caller !== undefined) {
      const used = (this.#byCaller.get(caller) ?? 0) + amount
      if (used > this.perCaller) return 'caller'
      this.#byCaller.set(caller, used)
      if (this.#byCaller.size > this.#mostCallers) this.#forgetIdleCallers()
    }
    this.#used += amount
    return undefined
  }

  /** Releases an amount. */
  release(caller: string | undefined, amount = 1): void {
    this.#used -= amount
    if (caller !== undefined) this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) - amount)
  }

  /** Entries are not deleted one by one, because V8 replaces the table of a map that changes all the time. */
  #forgetIdleCallers(): void {
    for (const [caller, used] of this.#byCaller) if (used === 0) this.#byCaller.delete(caller)
    this.#mostCallers = Math.max(FEW_CALLERS, 2 * this.#byCaller.size)
  }
}
