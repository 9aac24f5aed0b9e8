/** Remembers which proofs were used: each is good for one request. */

import type { Awaitable } from '@mcpx/protocol'
import { createExpiringMap } from '../expiring-map.ts'

/** One for each endpoint; processes that serve the same one share it. */
export interface ReplayStore {
  /**
   * Remembers an id for this many ms, as one step; whether it was new. Throws where it cannot be remembered: a proof that
   * nobody remembers is refused.
   */
  add(id: string, ttl: number): Awaitable<boolean>
}

export interface MemoryReplayStoreOptions {
  /** How many ids are remembered; with more at once, proofs are refused until some have died. Default: 100,000. */
  readonly maxIds?: number | undefined
}

/** Remembers the proofs of one process. */
export function createMemoryReplayStore({ maxIds = 100_000 }: MemoryReplayStoreOptions = {}): ReplayStore {
  const seen = createExpiringMap<true>(maxIds, 'refuse')
  return {
    add(id, ttl) {
      if (seen.get(id) === true) return false
      if (!seen.set(id, true, ttl)) throw new Error(`More than ${maxIds} proofs at once (maxIds)`)
      return true
    },
  }
}
