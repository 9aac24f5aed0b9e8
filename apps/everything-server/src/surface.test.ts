/** Every export and every option is used by this server, or the README says why not. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSurface } from './surface.fixture.ts'

const packages = join(import.meta.dirname, '../../../packages')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => read(import.meta.dirname, path))

/** What the sources import from packages of ours, as `package name`. */
const imported = new Set(
  sources
    .flatMap((text) => [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(@mcpx\/[^']+)'/g)])
    .flatMap(([, names = '', from]) => names.split(',').map((name) => `${from} ${name.trim().replace(/^type /, '')}`)),
)

interface Reason {
  readonly names: readonly string[]
  readonly reason: string
}

/** The table of the README: for each place, which of its names are not used; `*` stands for all that are not. */
const reasons = new Map<string, Reason[]>()
for (const [, place = '', list = '', reason = ''] of read(import.meta.dirname, '../README.md').matchAll(
  /^\| `([^`]+)` +\| ([^|]+?) +\| ([^|]+?) +\|$/gm,
)) {
  const names = [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  reasons.set(place, [...(reasons.get(place) ?? []), { names: list === 'all others' ? ['*'] : names, reason }])
}

const excused = (place: string) => (reasons.get(place) ?? []).flatMap(({ names }) => names)

/** Fails for what is neither used nor in the table, and for what is in the table and used, or gone. */
function compare(place: string, unused: readonly string[]): void {
  const names = excused(place)
  const isRest = names.includes('*')
  expect(isRest ? [] : unused.filter((name) => !names.includes(name)), `${place}: not used, and no reason why`).toEqual(
    [],
  )
  const stale = names.filter((name) => (name === '*' ? unused.length === 0 : !unused.includes(name)))
  expect(stale, `${place}: in the table for nothing`).toEqual([])
}

interface Entry {
  readonly name: string
  readonly file: string
}

const entries: Entry[] = readdirSync(packages).flatMap((folder) => {
  const manifest = JSON.parse(read(packages, folder, 'package.json'))
  if (manifest.private === true) return []
  return Object.entries<{ source?: string }>(manifest.exports)
    .filter(([, { source }]) => source !== undefined)
    .map(([path, { source }]) => ({
      name: join(manifest.name, path),
      file: join(packages, folder, source as string),
    }))
})

/** Those of which everything belongs to a server: each of their names needs a reason of its own. */
const OURS =
  /^@mcpx\/(?:server|transport-http|transport-http\/node|transport-stdio|auth\/resource-server|testing\/authorization-server|json-schema|protocol\/(?:memory|uri-template))$/

describe('the exports', () => {
  it.each(entries)('of $name are used, or have a reason', async ({ name, file }) => {
    const exported = Object.keys(await import(file))
    if (OURS.test(name)) expect(excused(name)).not.toContain('*')
    compare(
      name,
      exported.filter((each) => !imported.has(`${name} ${each}`)),
    )
  })

  it('that the table speaks of are there', () => {
    const known = [...entries.map(({ name }) => name), ...surface.offered.keys()]
    expect([...reasons.keys()].filter((place) => !known.includes(place))).toEqual([])
  })
})

/** What is not for this server takes nothing that it could write. */
const surface = readSurface(
  entries
    .filter(({ name }) => OURS.test(name))
    .map(({ name, file }) => ({ file, includes: (each) => !excused(name).includes(each) })),
)

describe('the options and members', () => {
  it.each([...surface.offered])('of %s are used, or have a reason', (place, members) => {
    compare(
      place,
      [...members].filter((member) => !surface.used.has(`${place}.${member}`)),
    )
  })

  it.each([
    ['ToolOptions', 'visible'],
    ['ResourceOptions', 'replace'],
    ['ApproveOptions', 'key'],
    ['RateLimitOptions', 'key'],
    ['BearerOptions', 'introspection'],
    ['IntrospectionOptions', 'maxKept'],
    ['ApiKey', 'expiresAt'],
    ['HttpLimits', 'sessionStreams'],
    ['ServerLimits', 'listens'],
    ['DuplexLimits', 'pending'],
    ['Context', 'closeStream'],
    ['Server', 'removePrompt'],
  ])('of %s include %s, which is looked at there and nowhere else', (place, member) => {
    expect(surface.offered.get(place)).toContain(member)
  })
})
