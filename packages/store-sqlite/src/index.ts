/** Stores the state that the processes of a server share, in a SQLite file. */

import type { CounterStore, RecordStore, ReplayStore, Store, TaskStore } from '@mcpx/protocol'
import { SqliteEventBus } from './bus.ts'
import { Database, NOW, type SqliteDatabase, SqliteStoreError } from './database.ts'
import { SqliteEventStore } from './events.ts'
import { checkOptions, type SqliteStoreOptions } from './options.ts'
import { taskStore } from './tasks.ts'

export { type SqliteDatabase, type SqliteStatement, SqliteStoreError, type SqliteValue } from './database.ts'
export type { SqliteStoreOptions } from './options.ts'

/** A store in SQLite. */
export interface SqliteStore extends Store {
  /** Tasks. */
  readonly tasks: TaskStore
  /** Ends all subscriptions, and all loops over `events.follow`. The database stays open. */
  close(): Promise<void>
}

/**
 * Creates a store in a SQLite file, which several processes on one machine share. Creates its tables if they do not exist.
 *
 * @param database An open database of `node:sqlite`, `bun:sqlite` or better-sqlite3, for the store alone.
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  checkOptions(options)
  const opened = new Database(database, options)
  const bus = new SqliteEventBus(opened, options)
  const events = new SqliteEventStore(opened, bus, options)
  return {
    sessions: recordStore(opened, 'sessions'),
    records: recordStore(opened, 'records'),
    events,
    bus,
    counters: counterStore(opened),
    replays: replayStore(opened),
    tasks: taskStore(opened),
    async close() {
      events.close()
      bus.close()
      opened.close()
    },
  }
}

/** How often other processes may change a record during one update of it. */
const MAX_CONFLICTS = 1_000

function recordStore<T extends object>(database: Database, name: 'sessions' | 'records'): RecordStore<T> {
  const table = `${database.prefix}${name}`
  const read = (id: string) =>
    database.within('get', () =>
      database.get<{ state: string }>(`SELECT state FROM ${table} WHERE id = ? AND expires_at > ${NOW}`, id),
    )

  /** Returns the record and restarts its time to live. */
  function use(id: string, ttl: number): { state: string } | undefined {
    return database.write('get', () =>
      database.get<{ state: string }>(
        `UPDATE ${table} SET expires_at = ${NOW} + ? WHERE id = ? AND expires_at > ${NOW} RETURNING state`,
        ttl,
        id,
      ),
    )
  }

  /** Replaces a record if it has the expected content. Returns whether it was replaced. */
  function replace(id: string, expected: string, state: string): boolean {
    return database.write('update', () => {
      const replaced = database.get(
        `UPDATE ${table} SET state = ? WHERE id = ? AND state = ? AND expires_at > ${NOW} RETURNING 1`,
        state,
        id,
        expected,
      )
      return replaced !== undefined
    })
  }

  return {
    async create(id, state, ttl) {
      const created = database.write('create', () => {
        database.run(`DELETE FROM ${table} WHERE id = ? AND expires_at <= ${NOW}`, id)
        return database.get(
          `INSERT INTO ${table} (id, state, expires_at) VALUES (?, ?, ${NOW} + ?) ON CONFLICT DO NOTHING RETURNING 1`,
          id,
          JSON.stringify(state),
          ttl,
        )
      })
      if (created === undefined) throw new Error('A record with this id exists already')
    },
    async get(id, ttl) {
      const row = ttl === undefined ? read(id) : use(id, ttl)
      return row && JSON.parse(row.state)
    },
    async update(id, change) {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        const row = read(id)
        if (row === undefined) return undefined
        const state: T = JSON.parse(row.state)
        change(state)
        if (replace(id, row.state, JSON.stringify(state))) return state
      }
      throw new SqliteStoreError(`update: a record was changed ${MAX_CONFLICTS} times by others during one update`, {
        retryable: true,
      })
    },
    async delete(id) {
      const deleted = database.write('delete', () =>
        database.get<{ existed: number | bigint }>(
          `DELETE FROM ${table} WHERE id = ? RETURNING expires_at > ${NOW} AS existed`,
          id,
        ),
      )
      return Number(deleted?.existed ?? 0) === 1
    },
  }
}

function counterStore(database: Database): CounterStore {
  const table = `${database.prefix}counters`
  return {
    async increment(key, window) {
      const row = database.write('increment', () => {
        database.run(`DELETE FROM ${table} WHERE id = ? AND expires_at <= ${NOW}`, key)
        return database.get<{ count: number | bigint; rest: number | bigint }>(
          `INSERT INTO ${table} (id, count, expires_at) VALUES (?, 1, ${NOW} + ?)
          ON CONFLICT (id) DO UPDATE SET count = count + 1 RETURNING count, expires_at - ${NOW} AS rest`,
          key,
          window,
        )
      })
      return { count: Number(row?.count), resetsAt: Date.now() + Number(row?.rest) }
    },
  }
}

function replayStore(database: Database): ReplayStore {
  const table = `${database.prefix}replays`
  return {
    async add(id, ttl) {
      return database.write('add', () => {
        database.run(`DELETE FROM ${table} WHERE id = ? AND expires_at <= ${NOW}`, id)
        const added = database.get(
          `INSERT INTO ${table} (id, expires_at) VALUES (?, ${NOW} + ?) ON CONFLICT DO NOTHING RETURNING 1`,
          id,
          ttl,
        )
        return added !== undefined
      })
    },
  }
}
