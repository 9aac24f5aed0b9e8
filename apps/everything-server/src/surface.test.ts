/** Every export and every option is used by this server, or the README says why not. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const packages = join(import.meta.dirname, '../../../packages')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => read(import.meta.dirname, path))

/** What the sources import from packages of ours. */
const imported = new Set(
  sources
    .flatMap((text) => [...text.matchAll(/import (?:type )?\{([^}]*)\} from '@mcpx\//g)])
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim().replace(/^type /, ''))),
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
  /^@mcpx\/(?:server|transport-http|transport-http\/node|transport-stdio|auth|auth\/resource-server|protocol\/(?:memory|json-schema|uri-template))$/

describe('the exports', () => {
  it.each(entries)('of $name are used, or have a reason', async ({ name, file }) => {
    const exported = Object.keys(await import(file))
    if (OURS.test(name)) expect(excused(name)).not.toContain('*')
    compare(
      name,
      exported.filter((each) => !imported.has(each)),
    )
  })

  it('that the table speaks of are there', () => {
    const known = [...entries.map(({ name }) => name), ...Object.keys(options)]
    expect([...reasons.keys()].filter((place) => place.startsWith('@') && !known.includes(place))).toEqual([])
  })
})

/** The interfaces of each call that takes options, by package. */
const options: Readonly<Record<string, readonly (readonly [folder: string, ...names: string[]])[]>> = {
  'createServer()': [
    ['server', 'ServerOptions'],
    ['protocol', 'ToolHandler', 'ResourceHandler', 'SubscriptionHandler', 'PromptHandler', 'OtherHandler'],
  ],
  'server.tool()': [['server', 'ToolOptions', 'VisibilityOptions']],
  'server.resource()': [['server', 'ResourceOptions']],
  'server.prompt()': [['server', 'PromptOptions']],
  'mcp()': [['transport-http', 'EndpointOptions', 'SessionOptions']],
  'serveHttp()': [['transport-http', 'ServeHttpOptions', 'ArrivalLimits']],
  'serveStdio()': [['transport-stdio', 'ServeStdioOptions', 'StreamLimits']],
  server: [['server', 'Server']],
  ctx: [['protocol', 'Context']],
}

const textOf = (folder: string) =>
  readdirSync(join(packages, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => read(packages, folder, 'src', path))
    .join('\n')

/** The members of an interface, as it is written. */
function membersOf(text: string, name: string): string[] {
  const [, body = ''] = new RegExp(`^export interface ${name}\\b[^]*?\\{\\n([^]*?)^\\}`, 'm').exec(text) ?? []
  const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)(?:\?|<[^>]*>)?[(:?<]/gm)].map(([, member = '']) => member)
  expect(members, `the members of ${name}`).not.toEqual([])
  return members
}

const text = sources.join('\n')
/** Members are called or read; options are written. */
const usedAs = (place: string, member: string) =>
  place === 'server' || place === 'ctx'
    ? new RegExp(`\\.${member}\\b|\\{[^}]*\\b${member}\\b[^}]*\\}`).test(text)
    : new RegExp(`(?:[{,]|^) *(?:async )?${member}(?::|,| *\\}|\\()`, 'm').test(text)

describe('the options and members', () => {
  it.each(Object.entries(options))('of %s are used, or have a reason', (place, interfaces) => {
    const members = interfaces.flatMap(([folder, ...names]) => {
      const text = textOf(folder)
      return names.flatMap((name) => membersOf(text, name))
    })
    compare(
      place,
      members.filter((member) => !usedAs(place, member)),
    )
  })
})
