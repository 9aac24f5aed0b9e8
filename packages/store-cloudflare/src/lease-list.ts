/** The list of leases of all tasks, which one object keeps. It says which tasks to look at; the tasks themselves decide. */

import type { ObjectStorage } from './platform.ts'

/** When a task is due to be looked at, and when it expires, in ms since 1970. */
const TABLE = `CREATE TABLE IF NOT EXISTS leases (
  id TEXT PRIMARY KEY, due_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
)`

export class LeaseList {
  readonly #storage: ObjectStorage

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Adds a task that is due after a time and expires after another, both in ms. Moves a task that is listed already. */
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

  /** Returns a task that is due, which is then due again after a time in ms, so that several processes get several tasks. */
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

  /** Deletes expired tasks. Returns when the next one expires, in ms since 1970, or null without a list. */
  expire(): number | null {
    if (!this.exists()) return null
    this.#sql('DELETE FROM leases WHERE expires_at <= ?', Date.now())
    return this.#soonestExpiry()
  }

  /** Objects that keep something else have no list. */
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
