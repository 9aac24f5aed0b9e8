/** Opens databases with each driver that tests use, each in a separate file. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import BetterSqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStore } from './index.ts'

/** Opens a file by each driver. */
export const openBy: Readonly<Record<'node:sqlite' | 'better-sqlite3', (file: string) => OpenDatabase>> = {
  'node:sqlite': (file) => new DatabaseSync(file),
  'better-sqlite3': (file) => new BetterSqlite(file),
}

export interface OpenDatabase extends SqliteDatabase {
  close(): unknown
}

/** A folder for database files. */
export interface Folder {
  /** Opens a connection, which `remove` closes. */
  open(driver: keyof typeof openBy, file?: string): OpenDatabase
  /** Returns the path of a file. */
  path(file: string): string
  remove(): void
}

export function makeFolder(): Folder {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
  const opened: OpenDatabase[] = []
  const path = (file: string) => join(folder, file)
  return {
    open(driver, file = 'state.db') {
      const database = openBy[driver](file === ':memory:' ? file : path(file))
      opened.push(database)
      return database
    },
    path,
    remove() {
      for (const database of opened) database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves to the data of all events that following yields. */
export async function collect(store: SqliteStore, lastEventId: string): Promise<string[]> {
  const received: string[] = []
  for await (const { data } of store.events.follow(lastEventId, new AbortController().signal)) received.push(data)
  return received
}
