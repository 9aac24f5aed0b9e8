/** Counts that are forgotten after a while; where several processes serve one endpoint, they share a store. */

import type { Awaitable } from '@mcpx/protocol'

export interface Count {
  /** How often the key was counted since its window began, this time included. */
  readonly count: number
  /** When the window ends, of `Date.now()`. */
  readonly resetsAt: number
}

export interface CounterStore {
  /** Counts once more, as one step. The first count of a key begins a window. */
  increment(key: string, windowMs: number): Awaitable<Count>
}

export interface MemoryCounterStoreOptions {
  /** How many keys are counted at once; the one whose window began first is forgotten. Default: 10,000. */
  readonly maxKeys?: number | undefined
}

/** Counts of this process. */
export function createMemoryCounterStore({ maxKeys = 10_000 }: MemoryCounterStoreOptions = {}): CounterStore {
  if (!(maxKeys >= 1)) throw new RangeError(`maxKeys: expected 1 or more, got ${maxKeys}`)
  const windows = new Map<string, { count: number; resetsAt: number }>()

  function makeRoom(now: number): void {
    for (const [key, { resetsAt }] of windows) {
      if (resetsAt > now && windows.size < maxKeys) return
      windows.delete(key)
    }
  }

  return {
    increment(key, windowMs) {
      const now = Date.now()
      const known = windows.get(key)
      if (known !== undefined && known.resetsAt > now) {
        known.count += 1
        return { count: known.count, resetsAt: known.resetsAt }
      }
      // Not where it stood: the first entries are those whose windows began first.
      windows.delete(key)
      makeRoom(now)
      const fresh = { count: 1, resetsAt: now + windowMs }
      windows.set(key, fresh)
      return { ...fresh }
    },
  }
}
