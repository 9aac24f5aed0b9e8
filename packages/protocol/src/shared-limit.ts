/** What callers share: limits and stores that one caller cannot use up. */

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

/** Callers that use at least this fraction of the largest amount count as equally large, so that the search is short. */
const NEARLY = 0.9

/**
 * Counts how much of a store each caller uses, so that a full store can drop the entries of the caller that uses the most.
 * All unknown callers together count as one caller.
 */
export class CallerUsage {
  readonly #amounts = new Map<string | undefined, number>()

  /** Changes the amount of a caller. */
  add(caller: string | undefined, change: number): void {
    const amount = (this.#amounts.get(caller) ?? 0) + change
    if (amount === 0) this.#amounts.delete(caller)
    else this.#amounts.set(caller, amount)
  }

  /** Returns a function that says whether a caller uses the largest amount, or nearly as much. */
  findLargest(): (caller: string | undefined) => boolean {
    let largest = 0
    for (const amount of this.#amounts.values()) largest = Math.max(largest, amount)
    return (caller) => (this.#amounts.get(caller) ?? 0) >= largest * NEARLY
  }
}
