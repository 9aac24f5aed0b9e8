/** Where credentials and tokens are kept: three methods over JSON, and a lock where several share one store. */

import type { Awaitable } from './fetch.ts'

/**
 * Keeps JSON objects by key. What it holds are secrets: it belongs to one user.
 *
 * Several stores can lie in one place if each puts a prefix of its own before the keys.
 */
export interface AuthStore {
  get(key: string): Awaitable<unknown>
  set(key: string, value: object): Awaitable<void>
  delete(key: string): Awaitable<void>
  /**
   * Runs `run` while nobody else who shares the store runs anything under this key. Without it, two processes may
   * refresh the same token at the same time, and a server that rotates them takes that for theft. `run` may lock another
   * key: one lock for all keys would wait for itself.
   */
  lock?<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** Turns callers into a queue, each key by itself. */
export function createQueues(): <T>(key: string, run: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, run) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(run, run)
    // Whoever comes next waits for the end, whatever it is.
    const end = turn.then(
      () => {},
      () => {},
    )
    last.set(key, end)
    void end.then(() => {
      if (last.get(key) === end) last.delete(key)
    })
    return turn
  }
}

/** Keeps everything until the process ends. The default. */
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
