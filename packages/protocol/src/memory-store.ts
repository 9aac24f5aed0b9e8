/** The stores for counts and used ids in the memory of one process, and the store that combines all parts. */

import { createMemoryRecordStore, createMemorySessionStore } from './memory-records.ts'
import { createMemoryEventBus, createMemoryEventStore } from './memory-stores.ts'
import { createMemoryTaskStore } from './memory-task-store.ts'
import { checkNumbers, refuseUnknownOption } from './options.ts'
import { SharedLimit } from './shared-limit.ts'
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
  /**
   * The share of `maxIds`, from 0 to 1, that one caller can always use. A caller can store more ids than that only while
   * as many places are free, so that it cannot fill the store. Default: 0.25.
   */
  readonly perCaller?: number | undefined
}

/** The shortest time between two searches for expired ids in a full store, in ms. */
const SWEEP_INTERVAL = 1_000

/** Creates a store of used ids in the memory of this process. */
export function createMemoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  refuseUnknownOption('createMemoryReplayStore', options, ['maxIds', 'perCaller'])
  const { maxIds = 100_000, perCaller } = options
  checkNumbers('createMemoryReplayStore: ', { maxIds, perCaller })
  /** The ids in the order of insertion. `expiresAt` is in ms since 1970. */
  const ids = new Map<string, { readonly expiresAt: number; readonly holder: string | undefined }>()
  const limit = new SharedLimit(maxIds, perCaller)
  let nextSweep = 0

  function makeRoom(now: number): void {
    // Usually the oldest ids expire first, so the search ends at the first id that has not expired.
    const searchesAll = ids.size >= maxIds && now >= nextSweep
    if (searchesAll) nextSweep = now + SWEEP_INTERVAL
    for (const [id, { expiresAt }] of ids) {
      if (expiresAt <= now) drop(id)
      else if (!searchesAll) return
    }
  }

  function drop(id: string): void {
    const known = ids.get(id)
    if (known !== undefined) limit.release(known.holder)
    ids.delete(id)
  }

  return {
    add(id, ttl, caller) {
      const now = Date.now()
      if ((ids.get(id)?.expiresAt ?? 0) > now) return false
      drop(id)
      makeRoom(now)
      let holder = caller
      let exceeded = limit.acquire(holder)
      if (exceeded === 'caller' && ids.size < maxIds - limit.perCaller) {
        // Above the share, an id counts for no caller.
        holder = undefined
        exceeded = limit.acquire(holder)
      }
      if (exceeded === 'total') throw new Error(`maxIds: there are more than ${maxIds} proofs at once`)
      if (exceeded === 'caller') {
        throw new Error(`maxIds: there are more than ${limit.perCaller} proofs of one caller at once (perCaller)`)
      }
      ids.set(id, { expiresAt: now + ttl, holder })
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
