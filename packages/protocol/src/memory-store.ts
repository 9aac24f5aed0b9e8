/** The stores for counts and used ids in the memory of one process, and the store that combines all parts. */

import {
  createMemoryEventBus,
  createMemoryEventStore,
  createMemoryRecordStore,
  createMemorySessionStore,
} from './memory-stores.ts'
import { createMemoryTaskStore } from './memory-task-store.ts'
import { checkNumbers, refuseUnknownOption } from './options.ts'
import type { CounterStore, ReplayStore, Store } from './stores.ts'

// Counts

/** Options of `createMemoryCounterStore`. */
export interface MemoryCounterStoreOptions {
  /** The largest number of keys that are counted. Above this number, the oldest window is dropped. Default: 10,000. */
  readonly maxKeys?: number | undefined
}

/** Creates a counter store in the memory of this process. */
export function createMemoryCounterStore(options: MemoryCounterStoreOptions = {}): CounterStore {
  refuseUnknownOption('createMemoryCounterStore', options, ['maxKeys'])
  const { maxKeys = 10_000 } = options
  if (!(maxKeys >= 1)) throw new RangeError(`maxKeys: expected 1 or more, got ${maxKeys}`)
  const windows = new Map<string, { count: number; resetsAt: number }>()

  function makeRoom(now: number): void {
    for (const [key, { resetsAt }] of windows) {
      if (resetsAt > now && windows.size < maxKeys) return
      windows.delete(key)
    }
  }

  return {
    increment(key, window) {
      const now = Date.now()
      const known = windows.get(key)
      if (known !== undefined && known.resetsAt > now) {
        known.count += 1
        return { count: known.count, resetsAt: known.resetsAt }
      }
      // Delete the old entry first, so that entries stay in the order in which their windows began.
      windows.delete(key)
      makeRoom(now)
      const fresh = { count: 1, resetsAt: now + window }
      windows.set(key, fresh)
      return { ...fresh }
    },
  }
}

// Used ids

/** Options of `createMemoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /** How many ids are stored. If the store is full, proofs are refused until ids expire. Default: 100,000. */
  readonly maxIds?: number | undefined
}

/** The shortest time between two searches for expired ids in a full store, in ms. */
const SWEEP_INTERVAL = 1_000

/** Creates a store of used ids in the memory of this process. */
export function createMemoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  refuseUnknownOption('createMemoryReplayStore', options, ['maxIds'])
  const { maxIds = 100_000 } = options
  checkNumbers('createMemoryReplayStore: ', { maxIds })
  /** The expiry of each id in ms since 1970, in the order of insertion. */
  const ids = new Map<string, number>()
  let nextSweep = 0

  function makeRoom(now: number): void {
    // Usually the oldest ids expire first, so the search ends at the first id that has not expired.
    const searchesAll = ids.size >= maxIds && now >= nextSweep
    if (searchesAll) nextSweep = now + SWEEP_INTERVAL
    for (const [id, expiresAt] of ids) {
      if (expiresAt <= now) ids.delete(id)
      else if (!searchesAll) return
    }
  }

  return {
    add(id, ttl) {
      const now = Date.now()
      if ((ids.get(id) ?? 0) > now) return false
      ids.delete(id)
      makeRoom(now)
      if (ids.size >= maxIds) throw new Error(`maxIds: there are more than ${maxIds} proofs at once`)
      ids.set(id, now + ttl)
      return true
    },
  }
}

// The whole store

/**
 * Creates a store in the memory of this process, with the default limits of each part. Several servers in this process
 * can use it to share their state, as several processes do with a store such as Redis.
 */
export function memoryStore(): Store {
  return {
    sessions: createMemorySessionStore(),
    records: createMemoryRecordStore(),
    events: createMemoryEventStore(),
    bus: createMemoryEventBus(),
    counters: createMemoryCounterStore(),
    replays: createMemoryReplayStore(),
    tasks: createMemoryTaskStore(),
  }
}
