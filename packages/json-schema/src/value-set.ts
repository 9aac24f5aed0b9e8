/** A set of values. Adding or finding a string takes time linear in its length, even with many long strings. */

import { type Evaluation, spendSteps } from './evaluate.ts'

/**
 * The longest string that V8 hashes by its content. A `Set` compares a longer string with all other strings of the same
 * length.
 */
const MAX_HASHED_LENGTH = 16_383

/** A prefix tree of long strings that are split into chunks. A node maps each possible next chunk to the next node. */
interface Chunks extends Map<string, Chunks> {}

export class ValueSet {
  /** The values. A longer string is represented by the `Chunks` node of its last chunk. */
  readonly #keys = new Set<unknown>()
  readonly #chunks: Chunks = new Map()

  /** @param evaluation counts steps for long strings. Omit it for the values of a schema, which cost no steps */
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
