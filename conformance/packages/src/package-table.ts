/** The table of packages on the front page: written from what was measured, and held against it ever after. */
import { table } from '@mcpx/conformance-interop/table'
import type { Tarball } from './tarball.ts'

/** What the front page says of a package beside what is measured; its order is the order there. */
const uses: Readonly<Record<string, readonly [what: string, when: string]>> = {
  '@mcpx/server': ['tools, resources, prompts, for clients of every revision', 'you offer something'],
  '@mcpx/client': ['calls servers of every revision in one way', 'you use servers, or test one'],
  '@mcpx/transport-stdio': ['serves a program, starts programs', 'a host starts your server'],
  '@mcpx/transport-http': ['serves on Node and as an app, reaches servers by URL', 'it has a URL'],
  '@mcpx/auth': ['a guard for servers, logins for clients', 'it is not for everybody'],
  '@mcpx/protocol': ['messages, shapes, revisions, the engine', 'you write a transport'],
  '@mcpx/sse': ['server-sent events as a codec', 'you need one'],
}

export interface Measured {
  readonly tarball: Tarball
  /** How many packages an install brings. */
  readonly packages: number
  readonly kilobytes: number
  readonly gzipped: number
}

/** What a line of a report says of sizes; nothing when the package was not installed. */
export function measuredIn(line: string, tarball: Tarball): Measured | undefined {
  const [, packages, kilobytes, gzipped] =
    /alone: (\d+) packages, (\d+) kB installed, ([\d.]+) kB gzipped/.exec(line) ?? []
  if (packages === undefined) return undefined
  return { tarball, packages: Number(packages), kilobytes: Number(kilobytes), gzipped: Number(gzipped) }
}

/** The section of the front page. Throws when a package has no words yet. */
export function packageTable(measured: readonly Measured[]): string {
  const names = Object.keys(uses)
  const missing = measured.find(({ tarball }) => !names.includes(tarball.manifest.name))
  if (missing !== undefined) throw new Error(`Say in package-table.ts what ${missing.tarball.manifest.name} is for`)
  const sorted = measured.toSorted(
    (a, b) => names.indexOf(a.tarball.manifest.name) - names.indexOf(b.tarball.manifest.name),
  )
  const rows = sorted.map(({ tarball, packages, kilobytes, gzipped }) => {
    const { name, dependencies = {} } = tarball.manifest
    const [what = '', when = ''] = uses[name] ?? []
    const folder = `packages/${name.replace('@mcpx/', '')}/README.md`
    const needs = Object.keys(dependencies).map((each) => `\`${each}\``)
    return [`[\`${name}\`](${folder})`, what, when, `${kilobytes} kB`, `${packages}`, `${gzipped} kB`, needs.join(', ')]
  })
  const head = ['package', 'what it is', 'take it when', 'installed', 'packages', 'gzipped', 'depends on']
  return [
    table([head, ...rows]),
    '\nInstalled: what `npm install` of it alone puts into `node_modules`, types included, and how many packages that are. Gzipped: all of its',
    'entries and all they load, bundled and minified; most programs use a part. Measured by `npm run check -- --write`.',
  ].join('\n')
}

/** How far a number on the front page may be from what is measured now. */
const TOLERANCE = 0.1

/** What the front page says that is not so. */
export function staleNumbers(readme: string, measured: readonly Measured[]): string[] {
  return measured.flatMap(({ tarball: { manifest }, packages, kilobytes, gzipped }) => {
    const row = readme.split('\n').find((line) => line.startsWith(`| [\`${manifest.name}\`]`))
    if (row === undefined) return [`README.md has no line for ${manifest.name}`]
    const cells = row.split('|').map((cell) => cell.trim())
    const said = [cells[4], cells[5], cells[6]].map((cell) => Number.parseFloat(cell ?? ''))
    const now = [kilobytes, packages, gzipped]
    const isFar = now.some((value, index) => !(Math.abs((said[index] ?? 0) - value) <= value * TOLERANCE))
    return isFar ? [`README.md says of ${manifest.name} ${said.join(', ')}; it is ${now.join(', ')}`] : []
  })
}
