/** A set of strings and other values that takes linear time for many long strings too. */

import { type Evaluation, spendSteps } from './evaluate.ts'

/** V8 hashes longer strings by their length only, so that a `Set` compares each with all others of its length. */
const MAX_HASHED_LENGTH = 16_383

/** The chunks of strings, each below the chunks before it. */
interface Chunks extends Map<string, Chunks> {}

export class ValueSet {
  /** Values. In the place of a longer string, the `Chunks` below its last chunk. */
  readonly #keys = new Set<unknown>()
  readonly #chunks: Chunks = new Map()

  /** Longer strings cost steps of the evaluation. Default: none, for the values of a schema. */
  constructor(values: readonly unknown[], evaluation?: Evaluation) {
    for (const value of values) this.#keys.add(this.#keyOf(value, evaluation, true))
  }

  get size(): number {
    return this.#keys.size
  }

  /** Longer strings cost steps of the evaluation. */
  has(value: unknown, evaluation: Evaluation): boolean {
    return this.#keys.has(this.#keyOf(value, evaluation, false))
  }

  #keyOf(value: unknown, evaluation: Evaluation | undefined, mayAdd: boolean): unknown {
    if (typeof value !== 'string' || value.length <= MAX_HASHED_LENGTH) return value
    if (evaluation) spendSteps(evaluation, value.length >> 4)
    let key = this.#chunks
    for (let start = 0; start < value.length; start += MAX_HASHED_LENGTH) {
      const chunk = value.slice(start, start + MAX_HASHED_LENGTH)
      const next: Chunks = key.get(chunk) ?? new Map()
      if (mayAdd) key.set(chunk, next)
      key = next
    }
    return key
  }
}
