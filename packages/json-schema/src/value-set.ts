/** A set of strings and other values that takes linear time, even for many long strings. */

import { type Evaluation, spendSteps } from './evaluate.ts'

/**
 * The longest string that V8 hashes by its content. A `Set` compares a longer string with all other strings of the same
 * length.
 */
const MAX_HASHED_LENGTH = 16_383

/** A tree of the chunks of long strings. Each level contains the chunks that follow the same previous chunks. */
interface Chunks extends Map<string, Chunks> {}

export class ValueSet {
  /** The values. A longer string is represented by the `Chunks` node of its last chunk. */
  readonly #keys = new Set<unknown>()
  readonly #chunks: Chunks = new Map()

  /** @param evaluation counts steps for long strings. Default: none, for the values of a schema */
  constructor(values: readonly unknown[], evaluation?: Evaluation) {
    for (const value of values) this.#keys.add(this.#keyOf(value, evaluation, true))
  }

  get size(): number {
    return this.#keys.size
  }

  /** Returns whether the set has a value. Long strings cost steps. */
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
