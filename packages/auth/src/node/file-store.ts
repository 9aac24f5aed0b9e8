/** Keeps credentials and tokens in one file that only its owner can read. */

import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isObject } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import { type AuthStore, createQueues } from '../client/store.ts'
import { type FileLockOptions, withFileLock } from './file-lock.ts'

export interface FileStoreOptions {
  /**
   * How long one process waits for another that logs in or refreshes, in ms. Over: `AuthError`. Default: 360,000, which
   * is longer than a login takes.
   */
  readonly lockTimeout?: number | undefined
}

/** After how long a process that gave no sign of life is taken for dead, in ms. */
const STALE = 10_000

/** How long writing may take, in ms. */
const WRITING: FileLockOptions = { stale: STALE, timeout: 30_000 }

/** The largest file that is read, in bytes. */
const LARGEST_FILE = 2 ** 24

/**
 * Keeps everything in the file at `path`, readable by its owner only (0600), for any number of processes: each change
 * replaces the file as a whole, and what must not be done twice, such as refreshing a token, is done by one at a time.
 */
export function fileStore(path: string, { lockTimeout = 360_000 }: FileStoreOptions = {}): AuthStore {
  const file = resolve(path)
  const queue = createQueues()

  async function change(edit: (records: Record<string, unknown>) => void): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await queue('write', () =>
      withFileLock(`${file}.lock`, WRITING, async () => {
        const records = { ...(await read(file)) }
        edit(records)
        await write(file, records)
      }),
    )
  }

  return {
    async get(key) {
      const records = await read(file)
      return Object.hasOwn(records, key) ? records[key] : undefined
    },
    set: (key, value) =>
      change((records) => {
        records[key] = value
      }),
    delete: (key) =>
      change((records) => {
        delete records[key]
      }),
    async lock(key, run) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const name = createHash('sha256').update(key).digest('hex').slice(0, 16)
      const options = { stale: STALE, timeout: lockTimeout }
      return queue(`lock ${key}`, () => withFileLock(`${file}.${name}.lock`, options, run))
    },
  }
}

async function read(file: string): Promise<Readonly<Record<string, unknown>>> {
  const found = await stat(file).catch(ifGone(file))
  if (found === undefined) return {}
  if (found.size > LARGEST_FILE) {
    throw new AuthError(`${file} is over ${LARGEST_FILE} bytes`, {
      step: 'storage',
      hint: 'It is not a store, or was spoiled.',
    })
  }
  // Made by hand, or copied: others shall not read it from now on.
  if ((found.mode & 0o077) !== 0) await chmod(file, 0o600).catch(() => {})
  const text = await readFile(file, 'utf8').catch(ifGone(file))
  if (text === undefined) return {}
  const records = parse(text)
  if (records !== undefined) return records
  throw new AuthError(`${file} holds no records`, { step: 'storage', hint: 'Remove it, or name another file.' })
}

function ifGone(file: string) {
  return (cause: unknown): undefined => {
    if ((cause as { code?: string }).code === 'ENOENT') return undefined
    throw new AuthError(`${file} cannot be read`, { step: 'storage', hint: 'See who owns it.', cause })
  }
}

/** The parser's own words would quote what stands in the file. */
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) && isObject(parsed.records) ? parsed.records : undefined
  } catch {
    return undefined
  }
}

/** Whoever reads meanwhile sees the file of before. */
async function write(file: string, records: object): Promise<void> {
  const next = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(next, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ records })}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await replace(next, file)
  } catch (cause) {
    await unlink(next).catch(() => {})
    throw new AuthError(`${file} cannot be written`, {
      step: 'storage',
      hint: 'See who owns it and its folder.',
      cause,
    })
  }
}

/** Windows does not replace a file that somebody is just reading. */
async function replace(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(from, to)
    } catch (error) {
      const busy = ['EPERM', 'EACCES', 'EBUSY'].includes((error as { code?: string }).code ?? '')
      if (!busy || attempt === 10) throw error
      await wait(attempt * 10)
    }
  }
}
