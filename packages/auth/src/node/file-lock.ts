/** Lets one process at a time do something: whoever made the lock file has the lock, and keeps it alive while it works. */

import { randomUUID } from 'node:crypto'
import { link, open, readFile, rename, stat, unlink, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isObject } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'

export interface FileLockOptions {
  /** After how long without a sign of life a lock counts as left behind, in ms. */
  readonly stale: number
  /** How long to wait for the lock, in ms. Over: `AuthError`. */
  readonly timeout: number
}

/** How often is looked whether the lock is free, in ms. */
const LOOK = 25

/** What stands in a lock file. */
interface Holder {
  readonly token: string
  readonly pid: number
  readonly host: string
}

/** Runs `run` while this process has the lock. Within a process, callers must queue by themselves. */
export async function withFileLock<T>(path: string, options: FileLockOptions, run: () => Promise<T>): Promise<T> {
  const holder: Holder = { token: randomUUID(), pid: process.pid, host: hostname() }
  await acquire(path, holder, options)
  const alive = setInterval(() => {
    const now = new Date()
    // A lock that is gone by now is found out at the end.
    utimes(path, now, now).catch(() => {})
  }, options.stale / 5)
  alive.unref()
  try {
    return await run()
  } finally {
    clearInterval(alive)
    if ((await readHolder(path))?.token === holder.token) await unlink(path).catch(() => {})
  }
}

async function acquire(path: string, holder: Holder, { stale, timeout }: FileLockOptions): Promise<void> {
  const until = performance.now() + timeout
  for (;;) {
    if (await create(path, holder)) return
    await breakIfLeft(path, stale)
    if (performance.now() > until) {
      const hint = `Another process holds ${path}; remove it if there is none.`
      throw new AuthError(`The store was not free within ${timeout} ms`, { step: 'storage', hint })
    }
    await wait(LOOK + Math.random() * LOOK)
  }
}

async function create(path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(JSON.stringify(holder))
    await file.close()
    return true
  } catch (cause) {
    if ((cause as { code?: string }).code === 'EEXIST') return false
    const hint = 'See that the folder exists and can be written.'
    throw new AuthError(`The lock file ${path} cannot be made`, { step: 'storage', hint, cause })
  }
}

/** Moving a file away succeeds for one process only; what was moved by mistake is put back. */
async function breakIfLeft(path: string, stale: number): Promise<void> {
  const before = await readHolder(path)
  if (before === undefined || !(await isLeft(path, before, stale))) return
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
    if ((await readHolder(aside))?.token !== before.token) await link(aside, path).catch(() => {})
    await unlink(aside)
  } catch {
    // Somebody else was faster.
  }
}

async function isLeft(path: string, { pid: owner, host }: Holder, stale: number): Promise<boolean> {
  if (host === hostname() && owner > 0 && !isRunning(owner)) return true
  const times = await stat(path).catch(() => undefined)
  return times !== undefined && Date.now() - times.mtimeMs > stale
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

const UNKNOWN: Holder = { token: '', pid: 0, host: '' }

/** A file that is just being written has no holder that could be read: it is as good as any, until it is stale. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(holder) ? (holder as unknown as Holder) : UNKNOWN
  } catch (error) {
    const isGone = (error as { code?: string }).code === 'ENOENT'
    return isGone ? undefined : UNKNOWN
  }
}
