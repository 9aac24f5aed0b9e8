/** Stores for credentials and tokens: in memory, and in the storage of a browser. */

import { type Awaitable, refuseUnknownOption } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'

/**
 * Stores JSON objects by key. They contain secrets and belong to one user.
 *
 * Several users can share one storage if each store adds a different prefix to the keys.
 */
export interface AuthStore {
  /** Returns the record, or undefined. */
  get(key: string): Awaitable<unknown>
  /** Stores a record. Replaces an earlier one with the same key. */
  set(key: string, value: object): Awaitable<void>
  /** Deletes a record if there is one. */
  delete(key: string): Awaitable<void>
  /**
   * Calls `run` while no other caller or process holds the lock of this key. Without `lock`, two processes may refresh
   * the same token at the same time; an authorization server that rotates refresh tokens treats this as theft. `run`
   * may lock another key, so one lock for all keys would deadlock.
   */
  lock?<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** Calls `run` under the lock of a store, or immediately if the store has no lock. */
export async function withLock<T>(store: AuthStore, key: string, run: () => Promise<T>): Promise<T> {
  return store.lock === undefined ? run() : store.lock(key, run)
}

/** Returns a function that runs callers one after the other, per key. */
export function createQueues(): <T>(key: string, run: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, run) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(run)
    const end = () => {
      if (last.get(key) === ended) last.delete(key)
    }
    const ended = turn.then(end, end)
    last.set(key, ended)
    return turn
  }
}

/** Stores records until the process ends. The default store. */
export function memoryStore(): AuthStore {
  const records = new Map<string, string>()
  return {
    get(key) {
      const record = records.get(key)
      return record === undefined ? undefined : JSON.parse(record)
    },
    set: (key, value) => void records.set(key, JSON.stringify(value)),
    delete: (key) => void records.delete(key),
    lock: createQueues(),
  }
}

/** The members of a browser's `Storage` that are used. */
export interface WebStorage {
  /** Returns the item, or null. */
  getItem(key: string): string | null
  /** Stores an item; throws when the storage is full. */
  setItem(key: string, value: string): void
  /** Deletes an item. */
  removeItem(key: string): void
}

/** Options of `localStorageStore`. */
export interface LocalStorageStoreOptions {
  /** Prefix of each key. Default: `mcpx-auth:`. */
  readonly prefix?: string | undefined
  /** Where records are stored. Default: `localStorage`. `sessionStorage` is cleared when the tab is closed. */
  readonly storage?: WebStorage | undefined
}

/**
 * Stores records in the browser, for all tabs of the origin; Web Locks synchronize them. Every script of the page can
 * read the records. If that is not acceptable, use `memoryStore()`, or let a server hold the tokens.
 *
 * @throws TypeError if there is no `localStorage`
 */
export function localStorageStore(options: LocalStorageStoreOptions = {}): AuthStore {
  refuseUnknownOption('localStorageStore', options, ['prefix', 'storage'])
  const { prefix = 'mcpx-auth:', storage } = options
  const browser = globalThis as { localStorage?: WebStorage; navigator?: { locks?: LockManager } }
  const records = storage ?? browser.localStorage
  if (records === undefined) {
    throw new TypeError('localStorageStore: there is no localStorage here; pass another storage')
  }
  const queue = createQueues()
  const locks = browser.navigator?.locks
  return {
    get(key) {
      const record = records.getItem(prefix + key)
      return record === null ? undefined : parseRecord(key, record)
    },
    set(key, value) {
      try {
        records.setItem(prefix + key, JSON.stringify(value))
      } catch (cause) {
        const hint = 'The storage of the browser is full, or disabled for this page.'
        throw new AuthError('A record could not be stored', { step: 'storage', hint, cause })
      }
    },
    delete: (key) => records.removeItem(prefix + key),
    lock: (key, run) =>
      queue(key, locks === undefined ? run : () => locks.request(prefix + key, run) as ReturnType<typeof run>),
  }
}

/** Parses a record. The error has no cause, because messages of the parser quote the record. */
function parseRecord(key: string, record: string): unknown {
  try {
    return JSON.parse(record)
  } catch {
    const hint = 'Delete it from localStorage and log in again.'
    throw new AuthError(`The record ${key} is not JSON`, { step: 'storage', hint })
  }
}
