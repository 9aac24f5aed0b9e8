/** Reproducible random numbers. */

/** Random numbers of one sequence. */
export interface Random {
  /** Returns a number from 0 to 1. */
  next(): number
  /** Returns an integer from 0 to below the limit. */
  below(limit: number): number
  pick<Item>(items: readonly Item[]): Item
}

/** Creates the sequence of a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, pick: (items) => items[below(items.length)] as (typeof items)[number] }
}
