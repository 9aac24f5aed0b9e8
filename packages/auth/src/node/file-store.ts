/** Stores credentials and tokens in one file that only its owner can read, with locks between processes. */

import { createHash, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rename, stat, unlink, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isObject, refuseUnknownOption } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import { type AuthStore, createQueues } from '../client/store.ts'

/** Options of `fileStore`. */
export interface FileStoreOptions {
  /**
   * How long to wait while another process logs in or refreshes a token, in ms. After this time, the call rejects with
   * `AuthError`. Default: 360,000, which is longer than a login may take.
   */
  readonly lockTimeout?: number | undefined
}

/** How long the lock of a running process stays valid if the process does not update it, in ms. */
const STALE = 10_000

/** How long to wait while another process writes the file, in ms. */
const WRITE_TIMEOUT = 30_000

/** The maximum size of the file, in bytes. */
const MAX_FILE_SIZE = 16_777_216

type Records = Readonly<Record<string, unknown>>

/**
 * Stores records in the file at `path`. Only the owner of the file can read it (mode 0600), and any number of processes
 * can share it. Each change replaces the whole file. A lock ensures that only one process at a time refreshes a token
 * or logs in.
 */
export function fileStore(path: string, options: FileStoreOptions = {}): AuthStore {
  refuseUnknownOption('fileStore', options, ['lockTimeout'])
  const { lockTimeout = 360_000 } = options
  if (!(lockTimeout > 0)) throw new RangeError(`lockTimeout: expected a positive number of ms, got ${lockTimeout}`)
  const file = resolve(path)
  const queue = createQueues()

  async function change(edit: (records: Record<string, unknown>) => void): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await queue('write', () =>
      withFileLock(`${file}.lock`, { stale: STALE, timeout: WRITE_TIMEOUT }, async () => {
        const records = { ...(await readRecords(file)) }
        edit(records)
        await writeRecords(file, records)
      }),
    )
  }

  return {
    async get(key) {
      const records = await readRecords(file)
      return Object.hasOwn(records, key) ? records[key] : undefined
    },
    set: (key, value) => change((records) => void Object.assign(records, { [key]: value })),
    delete: (key) => change((records) => void delete records[key]),
    async lock(key, run) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const name = createHash('sha256').update(key).digest('hex').slice(0, 16)
      const options = { stale: STALE, timeout: lockTimeout }
      return queue(`lock ${key}`, () => withFileLock(`${file}.${name}.lock`, options, run))
    },
  }
}

async function readRecords(file: string): Promise<Records> {
  try {
    const { size, mode } = await stat(file)
    if (size > MAX_FILE_SIZE) {
      const hint = 'It is damaged, or not a store: delete it or name another file.'
      throw new AuthError(`${file} is over ${MAX_FILE_SIZE} bytes`, { step: 'storage', hint })
    }
    // A file that was copied or created by hand may be readable by others.
    if ((mode & 0o077) !== 0) await chmod(file, 0o600).catch(() => {})
    return parseRecords(file, await readFile(file, 'utf8'))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return {}
    if (cause instanceof AuthError) throw cause
    throw new AuthError(`${file} cannot be read`, { step: 'storage', hint: 'Check its owner.', cause })
  }
}

/** Parses the file. The error has no `cause`, because messages of the parser quote the file. */
function parseRecords(file: string, text: string): Records {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = undefined
  }
  if (isObject(parsed) && isObject(parsed.records)) return parsed.records
  const hint = 'Delete it, or name another file.'
  throw new AuthError(`${file} contains no records`, { step: 'storage', hint })
}

/** Writes the file atomically: concurrent readers see either the old or the new file. */
async function writeRecords(file: string, records: Records): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ records })}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await replaceFile(temporary, file)
  } catch (cause) {
    await unlink(temporary).catch(() => {})
    const hint = 'Check the owner of the file and its folder.'
    throw new AuthError(`${file} cannot be written`, { step: 'storage', hint, cause })
  }
}

/**
 * Replaces a file. Tries again if the file is busy, because Windows does not replace a file while another process reads
 * it.
 */
async function replaceFile(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(from, to)
    } catch (error) {
      const isBusy = ['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(error) ?? '')
      if (!isBusy || attempt === 10) throw error
      await wait(attempt * 10)
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}

// Locks

interface FileLockOptions {
  /** How long the lock stays valid without an update, in ms. */
  readonly stale: number
  /** How long to wait for the lock, in ms. After this time, the call rejects with `AuthError`. */
  readonly timeout: number
}

/** The shortest time between two attempts to create a lock, in ms. The longest time is twice as long. */
const LOCK_INTERVAL = 25

/** The content of a lock file. */
interface LockHolder {
  readonly token: string
  readonly pid: number
  readonly host: string
}

/**
 * Creates the lock file at `path`, calls `run`, and deletes the file afterwards. Updates the modification time of the
 * file while `run` is pending. A process that already holds the lock of a path must not call this function for the path
 * again.
 */
export async function withFileLock<T>(path: string, options: FileLockOptions, run: () => Promise<T>): Promise<T> {
  const holder: LockHolder = { token: randomUUID(), pid: process.pid, host: hostname() }
  await acquireLock(path, holder, options)
  const timer = setInterval(() => {
    const now = new Date()
    // This fails if another process has removed the lock file. The failure has no effect: the file is deleted below only
    // if it contains our token.
    utimes(path, now, now).catch(() => {})
  }, options.stale / 5)
  timer.unref()
  try {
    return await run()
  } finally {
    clearInterval(timer)
    if ((await readHolder(path))?.token === holder.token) await unlink(path).catch(() => {})
  }
}

async function acquireLock(path: string, holder: LockHolder, { stale, timeout }: FileLockOptions): Promise<void> {
  const deadline = performance.now() + timeout
  while (!(await createLock(path, holder))) {
    await breakAbandonedLock(path, stale)
    if (performance.now() > deadline) {
      const hint = `Another process seems to hold the lock. If no other process uses the store, delete ${path}.`
      throw new AuthError(`The lock of the store was not released within ${timeout} ms`, { step: 'storage', hint })
    }
    await wait(LOCK_INTERVAL + Math.random() * LOCK_INTERVAL)
  }
}

async function createLock(path: string, holder: LockHolder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(JSON.stringify(holder))
    await file.close()
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    const hint = 'Check that the folder exists and can be written.'
    throw new AuthError(`The lock file ${path} cannot be created`, { step: 'storage', hint, cause })
  }
}

/**
 * Removes an abandoned lock. Renames its file first: if several processes try this, only one succeeds. Just before the
 * rename, another process may have replaced the abandoned lock with a new one. In that case, the new lock is put back.
 */
async function breakAbandonedLock(path: string, stale: number): Promise<void> {
  const holder = await readHolder(path)
  if (holder === undefined || !(await isAbandoned(path, holder, stale))) return
  const moved = `${path}.${randomUUID()}`
  try {
    await rename(path, moved)
    if ((await readHolder(moved))?.token !== holder.token) await link(moved, path).catch(() => {})
    await unlink(moved)
  } catch {
    // Another process was faster.
  }
}

async function isAbandoned(path: string, { pid, host }: LockHolder, stale: number): Promise<boolean> {
  if (host === hostname() && pid > 0 && !isRunning(pid)) return true
  const times = await stat(path).catch(() => undefined)
  return times !== undefined && Date.now() - times.mtimeMs > stale
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

const UNKNOWN_HOLDER: LockHolder = { token: '', pid: 0, host: '' }

/**
 * Reads the holder of a lock. Returns undefined if there is no file. While the file is being written, the holder is
 * unknown.
 */
async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(holder) ? (holder as unknown as LockHolder) : UNKNOWN_HOLDER
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : UNKNOWN_HOLDER
  }
}
