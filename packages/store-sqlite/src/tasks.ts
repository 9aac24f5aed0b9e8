/** The task store: a table of tasks with their leases. */

import type { StoredTask, TaskStore } from '@mcpx/protocol'
import { type Database, NOW } from './database.ts'

interface TaskRow {
  readonly id: string
  readonly version: number | bigint
  readonly data: string
  readonly owner: string | null
  readonly ttl: number | bigint
}

/** Stores tasks. The clock of SQLite, which is the clock of the host, measures all times. */
export function taskStore(database: Database): TaskStore {
  const table = `${database.prefix}tasks`
  const columns = `id, version, data, owner, expires_at - ${NOW} AS ttl`
  const selectLapsed = `SELECT id FROM ${table}
    WHERE owner IS NOT NULL AND leased_until <= ${NOW} AND expires_at > ${NOW} ORDER BY leased_until LIMIT 1`

  return {
    async create(id, data, ttl, lease) {
      const created = database.write('create', () => {
        database.run(`DELETE FROM ${table} WHERE id = ? AND expires_at <= ${NOW}`, id)
        return database.get(
          `INSERT INTO ${table} (id, version, data, owner, leased_until, expires_at)
          VALUES (?, 1, ?, ?, ${NOW} + ?, ${NOW} + ?) ON CONFLICT DO NOTHING RETURNING 1`,
          id,
          data,
          lease?.owner ?? null,
          lease?.duration ?? 0,
          ttl,
        )
      })
      if (created === undefined) throw new Error('A task with this id exists already')
    },
    async get(id) {
      const sql = `SELECT ${columns} FROM ${table} WHERE id = ? AND expires_at > ${NOW}`
      return toTask(database.within('get', () => database.get<TaskRow>(sql, id)))
    },
    async update(id, version, data, ends = false) {
      const updated = database.write('update', () =>
        database.get(
          `UPDATE ${table} SET version = version + 1, data = ?, owner = CASE WHEN ? THEN NULL ELSE owner END
          WHERE id = ? AND version = ? AND expires_at > ${NOW} RETURNING 1`,
          data,
          ends ? 1 : 0,
          id,
          version,
        ),
      )
      return updated !== undefined
    },
    async renew(id, { owner, duration }) {
      const renewed = database.write('renew', () =>
        database.get<{ version: number | bigint }>(
          `UPDATE ${table} SET leased_until = ${NOW} + ?
          WHERE id = ? AND owner = ? AND expires_at > ${NOW} RETURNING version`,
          duration,
          id,
          owner,
        ),
      )
      return renewed && Number(renewed.version)
    },
    async claim({ owner, duration }) {
      // Usually no lease has lapsed. Reading does not wait for other connections.
      if (database.within('claim', () => database.get(selectLapsed)) === undefined) return undefined
      const claimed = database.write('claim', () =>
        database.get<TaskRow>(
          `UPDATE ${table} SET version = version + 1, owner = ?, leased_until = ${NOW} + ?
          WHERE id = (${selectLapsed}) RETURNING ${columns}`,
          owner,
          duration,
        ),
      )
      return toTask(claimed)
    },
  }
}

function toTask(row: TaskRow | undefined): StoredTask | undefined {
  if (row === undefined) return undefined
  const { id, version, data, owner, ttl } = row
  return { id, version: Number(version), data, owner: owner ?? undefined, ttl: Number(ttl) }
}
