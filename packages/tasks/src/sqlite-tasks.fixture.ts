/** A store of tasks in a SQLite file, which several processes of the tests share. */

import { DatabaseSync } from 'node:sqlite'
import type { Store, StoredTask, TaskStore } from '@mcpx/protocol'
import { sqliteStore } from '@mcpx/store-sqlite'

/** The time of the database, in whole ms since 1970. */
const NOW = "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)"
const ROW = `id, version, data, owner, expires_at - ${NOW} AS ttl`

export function openSqliteStore(file: string): Store {
  const database = new DatabaseSync(file)
  const store = sqliteStore(database, { pollInterval: 20 })
  database.exec(`CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, data TEXT NOT NULL, owner TEXT,
    leased_until INTEGER NOT NULL, expires_at INTEGER NOT NULL
  )`)
  return { ...store, tasks: createTaskStore(database), close: () => store.close?.() }
}

function createTaskStore(database: DatabaseSync): TaskStore {
  const removeExpired = database.prepare(`DELETE FROM tasks WHERE expires_at <= ${NOW}`)
  const insert = database.prepare(`INSERT INTO tasks VALUES (?, 1, ?, ?, ${NOW} + ?, ${NOW} + ?)`)
  const select = database.prepare(`SELECT ${ROW} FROM tasks WHERE id = ? AND expires_at > ${NOW}`)
  const replace = database.prepare(
    `UPDATE tasks SET version = version + 1, data = ?, owner = CASE WHEN ? THEN NULL ELSE owner END
    WHERE id = ? AND version = ? AND expires_at > ${NOW}`,
  )
  const renew = database.prepare(
    `UPDATE tasks SET leased_until = ${NOW} + ? WHERE id = ? AND owner = ? AND expires_at > ${NOW} RETURNING version`,
  )
  const claim = database.prepare(
    `UPDATE tasks SET version = version + 1, owner = ?, leased_until = ${NOW} + ? WHERE id = (
      SELECT id FROM tasks WHERE owner IS NOT NULL AND leased_until <= ${NOW} AND expires_at > ${NOW}
      ORDER BY leased_until LIMIT 1
    ) RETURNING ${ROW}`,
  )
  return {
    create(id, data, ttl, lease) {
      removeExpired.run()
      insert.run(id, data, lease?.owner ?? null, lease?.duration ?? 0, ttl)
    },
    get: (id) => toTask(select.get(id)),
    update: (id, version, data, ends = false) => replace.run(data, ends ? 1 : 0, id, version).changes === 1,
    renew: (id, { owner, duration }) => renew.get(duration, id, owner)?.version as number | undefined,
    claim: ({ owner, duration }) => toTask(claim.get(owner, duration)),
  }
}

function toTask(row: object | undefined): StoredTask | undefined {
  const task = row as (StoredTask & { owner: string | null }) | undefined
  return task && { ...task, owner: task.owner ?? undefined }
}
