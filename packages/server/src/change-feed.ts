/** Tells whoever listens that something is no longer what it was. */

import type { Change } from '@mcpx/protocol'

export interface ChangeFeed {
  /** Whether anybody listens. */
  readonly isHeard: boolean
  /** Calls every listener before it returns. */
  publish(change: Change): void
  /** Calls the listener with each change until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void
}

/** A listener that throws keeps no other from hearing; its error goes to `onError`. Default: nowhere. */
export function createChangeFeed(onError?: (error: unknown) => void): ChangeFeed {
  const entries = new Set<{ readonly listener: (change: Change) => void }>()
  return {
    get isHeard() {
      return entries.size > 0
    },
    publish(change) {
      for (const entry of [...entries]) {
        if (!entries.has(entry)) continue
        try {
          entry.listener(change)
        } catch (error) {
          onError?.(error)
        }
      }
    },
    subscribe(listener) {
      const entry = { listener }
      entries.add(entry)
      return () => {
        entries.delete(entry)
      }
    },
  }
}
