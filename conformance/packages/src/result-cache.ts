/** Caches the results of unchanged tarballs. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Tarball } from './tarball.ts'

/** Results expire, because an install uses the newest matching versions of the registry. */
const MAX_AGE_HOURS = 12

interface CachedResult {
  readonly at: number
  readonly passed: number
  readonly line: string
}

export interface ResultCache {
  get(key: string): CachedResult | undefined
  add(key: string, passed: number, line: string): void
}

/** Reads the results in `file` that have not expired; an unreadable file is empty. */
export function readResultCache(file: string): ResultCache {
  const known = new Map(read(file).filter(([, { at }]) => Date.now() - at < MAX_AGE_HOURS * 3_600_000))
  return {
    get: (key) => known.get(key),
    add(key, passed, line) {
      known.set(key, { at: Date.now(), passed, line })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify([...known], undefined, 1))
    },
  }
}

function read(file: string): [string, CachedResult][] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as [string, CachedResult][]
  } catch {
    return []
  }
}

/** Returns a key that depends on the check, the tarballs, the tools, and the sources of the checks. */
export function resultKey(check: string, tarballs: readonly Tarball[], root: string): string {
  const hash = createHash('sha256').update(`${check} ${process.version}`)
  for (const { files } of tarballs)
    for (const [name, bytes] of files) hash.update(`${name} ${bytes.length} `).update(bytes)
  hash.update(readFileSync(join(root, 'pnpm-lock.yaml')))
  for (const name of readdirSync(import.meta.dirname).sort()) hash.update(readFileSync(join(import.meta.dirname, name)))
  return hash.digest('hex')
}
