/** Remembers which tarballs passed, so that what did not change is not checked again. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Tarball } from './tarball.ts'

/** An install takes the newest versions that fit from the registry, so a verdict does not hold for ever. */
const HOURS = 12

interface Verdict {
  readonly at: number
  readonly passed: number
  readonly line: string
}

export interface Verdicts {
  get(key: string): Verdict | undefined
  add(key: string, passed: number, line: string): void
}

/** Reads the verdicts that still hold from `file`; a file that cannot be read holds none. */
export function readVerdicts(file: string): Verdicts {
  const known = new Map(read(file).filter(([, { at }]) => Date.now() - at < HOURS * 3_600_000))
  return {
    get: (key) => known.get(key),
    add(key, passed, line) {
      known.set(key, { at: Date.now(), passed, line })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify([...known], undefined, 1))
    },
  }
}

function read(file: string): [string, Verdict][] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as [string, Verdict][]
  } catch {
    return []
  }
}

/** A key that changes with what is checked, the content of the tarballs, the tools, and these checks. */
export function verdictKey(what: string, tarballs: readonly Tarball[], root: string): string {
  const hash = createHash('sha256').update(`${what} ${process.version}`)
  for (const { files } of tarballs)
    for (const [name, bytes] of files) hash.update(`${name} ${bytes.length} `).update(bytes)
  hash.update(readFileSync(join(root, 'pnpm-lock.yaml')))
  for (const name of readdirSync(import.meta.dirname).sort()) hash.update(readFileSync(join(import.meta.dirname, name)))
  return hash.digest('hex')
}
