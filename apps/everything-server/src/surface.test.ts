/** Checks that this server uses every export and every option, or that the README gives the reason. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSurface } from './surface.fixture.ts'

const packages = join(import.meta.dirname, '../../../packages')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => read(import.meta.dirname, path))

/** The imports from the packages of this repository, as `package name`. */
const imported = new Set(
  sources
    .flatMap((text) => [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(@mcpx\/[^']+)'/g)])
    .flatMap(([, names = '', from]) => names.split(',').map((name) => `${from} ${name.trim().replace(/^type /, '')}`)),
)

interface Reason {
  readonly names: readonly string[]
  readonly reason: string
}

/** The table of the README: the unused names of each package or interface; `*` stands for all unused names. */
const reasons = new Map<string, Reason[]>()
for (const [, place = '', list = '', reason = ''] of read(import.meta.dirname, '../README.md').matchAll(
  /^\| `([^`]+)` +\| ([^|]+?) +\| ([^|]+?) +\|$/gm,
)) {
  const names = [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  reasons.set(place, [...(reasons.get(place) ?? []), { names: list === 'all others' ? ['*'] : names, reason }])
}

const exceptionsOf = (place: string) => (reasons.get(place) ?? []).flatMap(({ names }) => names)

/** Fails for names that are neither used nor in the table, and for table rows that are no longer true. */
function compare(place: string, unused: readonly string[]): void {
  const names = exceptionsOf(place)
  const coversAll = names.includes('*')
  expect(
    coversAll ? [] : unused.filter((name) => !names.includes(name)),
    `${place}: not used, and not in the table of the README`,
  ).toEqual([])
  const stale = names.filter((name) => (name === '*' ? unused.length === 0 : !unused.includes(name)))
  expect(stale, `${place}: in the table of the README, but used or removed`).toEqual([])
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

/** The packages for servers. Each of their unused names needs its own reason. */
const SERVER_PACKAGES =
  /^@mcpx\/(?:server|transport-http|transport-http\/node|transport-stdio|auth\/resource-server|testing\/authorization-server|json-schema|protocol\/(?:memory|uri-template))$/

describe('the server', () => {
  it.each(entries)('uses the exports of $name, except for those in the table', async ({ name, file }) => {
    const exported = Object.keys(await import(file))
    if (SERVER_PACKAGES.test(name)) expect(exceptionsOf(name)).not.toContain('*')
    compare(
      name,
      exported.filter((each) => !imported.has(`${name} ${each}`)),
    )
  })

  it('has no unknown package or interface in its table', () => {
    const known = [...entries.map(({ name }) => name), ...surface.members.keys()]
    expect([...reasons.keys()].filter((place) => !known.includes(place))).toEqual([])
  })
})

/** The public interfaces of the server packages, without excepted exports. */
const surface = readSurface(
  entries
    .filter(({ name }) => SERVER_PACKAGES.test(name))
    .map(({ name, file }) => ({ file, includes: (each) => !exceptionsOf(name).includes(each) })),
)

describe('the members of interfaces', () => {
  it.each([...surface.members])('of %s are used, except for those in the table', (place, members) => {
    compare(
      place,
      [...members].filter((member) => !surface.used.has(`${place}.${member}`)),
    )
  })

  it.each([
    ['ToolMembers', 'visible'],
    ['ResourceOptions', 'replace'],
    ['ApproveOptions', 'key'],
    ['RateLimitOptions', 'key'],
    ['BearerOptions', 'introspection'],
    ['IntrospectionOptions', 'maxEntries'],
    ['ApiKey', 'expiresAt'],
    ['HttpLimits', 'sessionStreams'],
    ['ServerLimits', 'listens'],
    ['DuplexLimits', 'pending'],
    ['Context', 'closeStream'],
    ['Server', 'removePrompt'],
  ])('of %s include %s', (place, member) => {
    expect(surface.members.get(place)).toContain(member)
  })
})
