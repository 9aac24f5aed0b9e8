/** Keeps credentials and tokens in a browser's `localStorage`. */

import { failure } from './failure.ts'
import { type AuthStore, createQueues } from './store.ts'

/** The part of a browser's storage that is used. */
export interface WebStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export interface LocalStorageStoreOptions {
  /** Goes before each key. Default: `mcpx-auth:`. */
  readonly prefix?: string | undefined
  /** Default: `localStorage`. `sessionStorage` forgets when the tab is closed. */
  readonly storage?: WebStorage | undefined
}

/**
 * Keeps everything in the browser, for all tabs of the origin; they take turns by Web Locks. Any script of the page can
 * read it: where that is not good enough, leave tokens to a server, or keep them in memory.
 *
 * @throws TypeError where there is no `localStorage`
 */
export function localStorageStore({ prefix = 'mcpx-auth:', storage }: LocalStorageStoreOptions = {}): AuthStore {
  const { localStorage, navigator } = globalThis as {
    localStorage?: WebStorage
    navigator?: { locks?: LockManager }
  }
  const kept = storage ?? localStorage
  if (kept === undefined) throw new TypeError('localStorageStore: there is no localStorage here; pass another storage')
  const queue = createQueues()
  const { locks } = navigator ?? {}
  return {
    get(key) {
      const record = kept.getItem(prefix + key)
      return record === null ? undefined : parse(key, record)
    },
    set(key, value) {
      try {
        kept.setItem(prefix + key, JSON.stringify(value))
      } catch (cause) {
        const hint = 'The browser keeps no more, or keeps nothing for this page.'
        throw failure('storage', 'A record could not be saved', { hint, cause })
      }
    },
    delete: (key) => kept.removeItem(prefix + key),
    lock: (key, run) =>
      queue(key, locks === undefined ? run : () => locks.request(prefix + key, run) as ReturnType<typeof run>),
  }
}

function parse(key: string, record: string): unknown {
  try {
    return JSON.parse(record)
  } catch {
    throw failure('storage', `The record ${key} is no JSON`, { hint: 'Remove it from localStorage and log in again.' })
  }
}
