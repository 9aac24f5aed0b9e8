/** The database connection of the caller: its tables, transactions and errors. */

import type { SqliteStoreOptions } from './options.ts'

/** A value that the store passes to a statement. */
export type SqliteValue = string | number | null

/** The members of a prepared statement that the store uses. */
export interface SqliteStatement {
  /** Runs a statement that returns no rows. */
  run(...values: SqliteValue[]): unknown
  /** Returns the first row as an object. Without a row, drivers return undefined or null. */
  get(...values: SqliteValue[]): unknown
  /** Returns all rows as objects. */
  all(...values: SqliteValue[]): unknown[]
}

/**
 * The members of an open database that the store uses. `DatabaseSync` of `node:sqlite`, `Database` of `bun:sqlite` and
 * databases of better-sqlite3 have them.
 */
export interface SqliteDatabase {
  /** Runs statements that return no rows. */
  exec(sql: string): unknown
  /** Compiles a statement. */
  prepare(sql: string): SqliteStatement
}

/** SQLite refused a call, for example because another connection wrote for too long. The call has stored nothing. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError'
  /** Whether another connection was writing, so that the same call may succeed later. */
  readonly retryable: boolean

  constructor(message: string, { retryable = false, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryable = retryable
  }
}

/** The time of the clock of SQLite, in ms since 1970. It has the same value in the whole statement. */
export const NOW = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

/** Every table has a column `expires_at`, in ms since 1970 by the clock of SQLite, which is the clock of the host. */
const TABLES = {
  sessions: 'id TEXT PRIMARY KEY, state TEXT NOT NULL',
  records: 'id TEXT PRIMARY KEY, state TEXT NOT NULL',
  streams: 'id TEXT PRIMARY KEY, size INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0',
  // Ids of deleted messages must not be used again, because processes remember the last id that they have read.
  messages: 'id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, message TEXT NOT NULL',
  counters: 'id TEXT PRIMARY KEY, count INTEGER NOT NULL',
  replays: 'id TEXT PRIMARY KEY',
  tasks: 'id TEXT PRIMARY KEY, version INTEGER NOT NULL, data TEXT NOT NULL, owner TEXT, leased_until INTEGER NOT NULL',
}

/** The largest number of expired rows of each table that one call deletes. */
const CLEANING_BATCH = 20

/** How often expired rows are searched, in ms, unless the last search found a full batch. */
const CLEANING_INTERVAL = 1_000

const NO_DATABASE =
  'sqliteStore: expected an open database of node:sqlite, bun:sqlite or better-sqlite3 that returns rows as objects, got something else'

/** Runs the statements of a store. */
export class Database {
  /** The prefix of the name of every table. */
  readonly prefix: string
  readonly #connection: SqliteDatabase
  readonly #timeout: number
  readonly #statements = new Map<string, SqliteStatement>()
  #nextCleaning = 0
  #isClosed = false

  constructor(connection: SqliteDatabase, { prefix = 'mcpx_', timeout = 5_000 }: SqliteStoreOptions) {
    if (typeof connection?.exec !== 'function' || typeof connection.prepare !== 'function') {
      throw new TypeError(NO_DATABASE)
    }
    this.prefix = prefix
    this.#connection = connection
    this.#timeout = timeout
    this.within('sqliteStore', () => {
      // Set the timeout first, because reading also fails while another process creates the file.
      connection.exec(`PRAGMA busy_timeout = ${timeout}`)
      this.#useWriteAheadLog()
      connection.exec('PRAGMA synchronous = NORMAL')
    })
    if (this.get<{ one?: unknown }>('SELECT 1 AS one')?.one === undefined) throw new TypeError(NO_DATABASE)
    this.write('sqliteStore', () => this.#createTables())
  }

  /**
   * Switches the file to the write-ahead log. If two processes do this at the same time, SQLite refuses one of them
   * without waiting, because both hold a lock that the other one needs.
   */
  #useWriteAheadLog(): void {
    const end = performance.now() + this.#timeout
    for (;;) {
      try {
        this.#connection.exec('PRAGMA journal_mode = WAL')
        return
      } catch (error) {
        if (!isLocked(error) || performance.now() > end) throw error
        // A transaction waits for the other process.
        this.#connection.exec('BEGIN IMMEDIATE; COMMIT')
      }
    }
  }

  #createTables(): void {
    const { prefix } = this
    for (const [name, columns] of Object.entries(TABLES)) {
      this.#connection.exec(
        `CREATE TABLE IF NOT EXISTS ${prefix}${name} (${columns}, expires_at INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS ${prefix}${name}_expiry ON ${prefix}${name} (expires_at)`,
      )
    }
    // Events expire with their stream.
    this.#connection.exec(
      `CREATE INDEX IF NOT EXISTS ${prefix}tasks_leases ON ${prefix}tasks (leased_until) WHERE owner IS NOT NULL;
      CREATE TABLE IF NOT EXISTS ${prefix}events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, stream TEXT NOT NULL, data TEXT NOT NULL
      );
      CREATE INDEX IF NOT EXISTS ${prefix}events_stream ON ${prefix}events (stream);
      CREATE TRIGGER IF NOT EXISTS ${prefix}streams_delete AFTER DELETE ON ${prefix}streams
      BEGIN
        DELETE FROM ${prefix}events WHERE stream = OLD.id;
      END`,
    )
  }

  /** Runs a statement that returns no rows. */
  run(sql: string, ...values: SqliteValue[]): void {
    this.#prepare(sql).run(...values)
  }

  /** Returns the first row of a statement. */
  get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined {
    return (this.#prepare(sql).get(...values) as Row | null | undefined) ?? undefined
  }

  /** Returns all rows of a statement. */
  all<Row>(sql: string, ...values: SqliteValue[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[]
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs the statements of a call in one transaction, which begins when no other connection writes. */
  write<T>(place: string, body: () => T): T {
    return this.within(place, () => {
      this.run('BEGIN IMMEDIATE')
      try {
        const result = body()
        this.#clean()
        this.run('COMMIT')
        return result
      } catch (error) {
        this.#rollback()
        throw error
      }
    })
  }

  #rollback(): void {
    try {
      this.run('ROLLBACK')
    } catch {
      // SQLite has ended the transaction, for example because the disk is full.
    }
  }

  /** Deletes some expired rows within the transaction of a call. */
  #clean(): void {
    const now = Date.now()
    if (now < this.#nextCleaning) return
    this.#nextCleaning = now + CLEANING_INTERVAL
    for (const name of Object.keys(TABLES)) {
      const table = this.prefix + name
      const deleted = this.all(
        `DELETE FROM ${table}
        WHERE rowid IN (SELECT rowid FROM ${table} WHERE expires_at <= ${NOW} LIMIT ${CLEANING_BATCH}) RETURNING 1`,
      )
      if (deleted.length === CLEANING_BATCH) this.#nextCleaning = now
    }
  }

  /** Runs statements. Throws a `SqliteStoreError` that names the place if SQLite refuses one. */
  within<T>(place: string, operate: () => T): T {
    if (this.#isClosed) throw new SqliteStoreError(`${place}: the store was closed`)
    try {
      return operate()
    } catch (cause) {
      const message = messageOf(cause)
      const options = { retryable: isLocked(cause), cause }
      throw new SqliteStoreError(`${place}: ${message}${this.#remedyFor(message)}`, options)
    }
  }

  #remedyFor(message: string): string {
    if (message.includes('is locked')) {
      return `. Another connection wrote for more than ${this.#timeout} ms: end its transactions sooner, or raise \`timeout\``
    }
    if (message.includes('within a transaction')) return '. Open a connection for the store alone'
    return ''
  }

  /** Refuses all later calls. The connection of the caller stays open. */
  close(): void {
    this.#isClosed = true
    this.#statements.clear()
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isLocked(error: unknown): boolean {
  return messageOf(error).includes('is locked')
}
