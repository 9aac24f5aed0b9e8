/** Counts how much of a store each caller uses. A full store drops the entries of the caller that uses the most. */

/** Callers that use at least this fraction of the largest amount count as equally large, so that the search is short. */
const NEARLY = 0.9

/** The amounts that callers use. All unknown callers together count as one caller. */
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
