/**
 * The list of the leases of all tasks. One object stores the list. The list shows which leases may have lapsed; the
 * object of a task decides whether its lease has lapsed.
 */

import type { ObjectStorage } from './platform.ts'

/** The time at which the lease of a task may have lapsed, and the time at which the task expires, both in ms since 1970. */
const TABLE = `CREATE TABLE IF NOT EXISTS leases (
  id TEXT PRIMARY KEY, due_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
)`

export class LeaseList {
  readonly #storage: ObjectStorage

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Adds a task, whose lease may lapse after `time` ms and which expires after `ttl` ms. Moves a task that is already listed. */
  add(id: string, time: number, ttl: number): void {
    this.#sql(TABLE)
    this.#sql('CREATE INDEX IF NOT EXISTS leases_due ON leases (due_at)')
    const now = Date.now()
    const soonest = this.#soonestExpiry()
    this.#sql('INSERT OR REPLACE INTO leases (id, due_at, expires_at) VALUES (?, ?, ?)', id, now + time, now + ttl)
    if (soonest === null || now + ttl < soonest) void this.#storage.setAlarm(now + ttl)
  }

  remove(id: string): void {
    if (this.exists()) this.#sql('DELETE FROM leases WHERE id = ?', id)
  }

  /** Returns a task whose lease may have lapsed, and moves it by `time` ms, so that each process receives a different task. */
  next(time: number): string | null {
    if (!this.exists()) return null
    const now = Date.now()
    const rows = this.#sql<{ id: string }>(
      `UPDATE leases SET due_at = ? WHERE id = (
        SELECT id FROM leases WHERE due_at <= ? AND expires_at > ? ORDER BY due_at LIMIT 1
      ) RETURNING id`,
      now + time,
      now,
      now,
    )
    return rows[0]?.id ?? null
  }

  /**
   * Deletes expired tasks. Returns the time at which the next task expires, in ms since 1970, or null without a list.
   */
  expire(): number | null {
    if (!this.exists()) return null
    this.#sql('DELETE FROM leases WHERE expires_at <= ?', Date.now())
    return this.#soonestExpiry()
  }

  /** Returns whether this object has the list. Objects for other purposes have none. */
  exists(): boolean {
    return this.#sql("SELECT 1 FROM sqlite_master WHERE name = 'leases'").length > 0
  }

  #soonestExpiry(): number | null {
    return this.#sql<{ soonest: number | null }>('SELECT min(expires_at) AS soonest FROM leases')[0]?.soonest ?? null
  }

  #sql<T>(query: string, ...values: (string | number)[]): T[] {
    return this.#storage.sql.exec(query, ...values).toArray() as T[]
  }
}
