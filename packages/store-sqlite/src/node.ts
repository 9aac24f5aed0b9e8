/** Keeps the state and the secrets of a server in a folder of the user, for servers that a host starts as a program. */

import { closeSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from './index.ts'

/** Options of `openLocalState`: the options of `sqliteStore`, and the folder. */
export interface LocalStateOptions extends SqliteStoreOptions {
  /**
   * The folder of the files, which is created for this user alone. Default: a folder with the name of the server in
   * `$XDG_STATE_HOME/mcpx` or `~/.local/state/mcpx`, on macOS `~/Library/Application Support/mcpx`, on Windows
   * `%LOCALAPPDATA%\mcpx`.
   */
  readonly folder?: string | undefined
}

/** Two options of `createServer`, which all processes of a server on this host share. */
export interface LocalState {
  /** The store in the file `state.db`. Its `close()` also closes the file. */
  readonly store: SqliteStore
  /** One random secret, in the file `secret`. */
  readonly secrets: readonly [string]
}

/** A name that is a folder on every platform. */
const NAME = /^[\w-][\w.-]{0,63}$/

/**
 * Opens the state of a server in a folder of the user. The first call creates the state. The tasks of a server over
 * stdio then outlive its process: the next process continues them. Several processes can use the same state at once.
 *
 * ```ts
 * const server = createServer({ name: 'films', version: '1.0.0' }, { ...openLocalState('films'), extensions: [tasks()] })
 * ```
 *
 * Only the user can read the files. They are not protected from other programs of the same user.
 *
 * @param name The name of the server: up to 64 letters, digits, dots, underscores and hyphens. Servers with the same
 * name share their state.
 * @throws TypeError for an invalid name or option, and Error on a Node without `node:sqlite`, which is older than 22.5
 */
export function openLocalState(name: string, options: LocalStateOptions = {}): LocalState {
  if (typeof name !== 'string' || !NAME.test(name)) {
    const expected = 'expected up to 64 letters, digits, dots, underscores and hyphens, without a dot at the beginning'
    throw new TypeError(`openLocalState: name: ${expected}, got ${JSON.stringify(name)}`)
  }
  const { folder = join(stateFolder(), 'mcpx', name), ...others } = options
  if (typeof folder !== 'string') throw new TypeError(`openLocalState: folder: expected a string, got ${typeof folder}`)
  // Loads the module here, so that the error on an older Node names the remedy.
  const sqlite = process.getBuiltinModule?.('node:sqlite') as typeof import('node:sqlite') | undefined
  if (sqlite === undefined) {
    const remedy = 'Update Node, or pass a database of better-sqlite3 to sqliteStore'
    throw new Error(`openLocalState: expected Node 22.5 or newer, got ${process.versions.node}. ${remedy}`)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const secrets = [readSecret(join(folder, 'secret'))] as const
  const file = join(folder, 'state.db')
  // SQLite would create a file that other users can read. Its additional files get the permissions of this file.
  closeSync(openSync(file, 'a', 0o600))
  const database = new sqlite.DatabaseSync(file)
  const store = openStore(database, others)
  return {
    store: {
      ...store,
      async close() {
        await store.close()
        if (database.isOpen) database.close()
      },
    },
    secrets,
  }
}

function openStore(database: import('node:sqlite').DatabaseSync, options: SqliteStoreOptions): SqliteStore {
  try {
    return sqliteStore(database, options)
  } catch (error) {
    database.close()
    throw error
  }
}

/** Returns the folder in which programs of the user keep their state. */
function stateFolder(): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  return XDG_STATE_HOME || join(homedir(), '.local', 'state')
}

/** Reads the secret of a file. The first process creates the file; a link is created atomically, and only once. */
function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const own = `${file}.${crypto.randomUUID()}`
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
  writeFileSync(own, secret, { mode: 0o600 })
  try {
    linkSync(own, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
  return readFileSync(file, 'utf8')
}
