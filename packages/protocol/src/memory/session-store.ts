/** Sessions of one process. */

import type { SessionState } from '../ports/session.ts'
import type { SessionStore } from '../ports/stores.ts'
import { createExpiringMap } from './expiring-map.ts'

export interface MemorySessionStoreOptions {
  /** How many sessions are kept; the one that was not used for longest gives way. Default: 10,000. */
  maxSessions?: number
  /** Hears of each session that died of age or gave way to another. */
  onEvict?: (id: string) => void
}

/** Records are replaced, never changed: what was handed out stays as it was, without a copy for each reader. */
export function createMemorySessionStore({
  maxSessions = 10_000,
  onEvict,
}: MemorySessionStoreOptions = {}): SessionStore {
  const sessions = createExpiringMap<{ state: SessionState }>(maxSessions, (id) => onEvict?.(id))
  return {
    create(id, state, ttlMs) {
      if (sessions.get(id)) throw new Error('A session with this id exists already')
      sessions.set(id, { state: Object.freeze(copyOf(state)) }, ttlMs)
    },
    get: (id, ttlMs) => sessions.get(id, ttlMs)?.state,
    update(id, change) {
      const stored = sessions.get(id)
      if (!stored) return undefined
      const state = copyOf(stored.state)
      change(state)
      stored.state = Object.freeze(state)
      return state
    },
    delete: (id) => sessions.get(id) !== undefined && sessions.delete(id),
  }
}

/** Records are plain JSON: to copy them by hand costs a tenth of what a structured clone does. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf) as T
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = copyOf((value as Record<string, unknown>)[key])
  return copy as T
}
