/** The size of an installation: packages and kilobytes, counted in this repository. */
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Findings, Maker, OwnCase } from '../case.ts'
import { fixed } from '../statistics.ts'
import { summaryOf } from '../summary.ts'

const folder = fileURLToPath(new URL('../..', import.meta.url))

type Installation = readonly [name: string, maker: Maker, packages: readonly string[]]

const hono = ['hono', '@hono/node-server']
const sets: readonly Installation[] = [
  ['zod alone', 'bare', ['zod']],
  ['stdio server', 'ours', ['@mcpx/server', '@mcpx/transport-stdio', 'zod']],
  ['HTTP server', 'ours', ['@mcpx/server', '@mcpx/transport-http', 'zod']],
  ['HTTP server with Hono', 'ours', ['@mcpx/server', '@mcpx/transport-http', 'zod', ...hono]],
  ['client over HTTP', 'ours', ['@mcpx/client', '@mcpx/transport-http']],
  ['official 2, stdio server', 'official 2', ['@modelcontextprotocol/server', 'zod']],
  ['official 2, HTTP server', 'official 2', ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod']],
  ['official 2, client', 'official 2', ['@modelcontextprotocol/client']],
  ['official 1, everything', 'official 1', ['@modelcontextprotocol/sdk', 'zod']],
  ['mcp-lite with Hono', 'mcp-lite', ['mcp-lite', 'zod', ...hono]],
  ['tmcp, stdio server', 'tmcp', ['tmcp', '@tmcp/transport-stdio', '@tmcp/adapter-zod', 'zod']],
  ['tmcp with Hono', 'tmcp', ['tmcp', '@tmcp/transport-http', '@tmcp/adapter-zod', 'zod', ...hono]],
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

interface Footprint {
  readonly packages: readonly string[]
  readonly bytes: number
}

export const footprint: OwnCase = {
  kind: 'own',
  name: 'footprint',
  says: 'The packages that an installation needs, with all dependencies and all required peers.',
  find: async () => find(),
}

function find(): Findings {
  const found = sets.map(([name, maker, packages]) => ({ name, maker, packages, ...measure(packages) }))
  return {
    name: footprint.name,
    says: footprint.says,
    header: ['', 'installed', 'packages', 'kB'],
    rows: found.map(({ name, packages, all, bytes }) => [
      name,
      packages.map((each) => `\`${each}\``).join(', '),
      fixed(all.length, 0),
      fixed(bytes / 1000, 0),
    ]),
    notes: ['1 kB is 1,000 bytes of published files. Binaries for one platform are left out.'],
    verdicts: [],
    summary: [
      ...summaryOf(
        'packages installed',
        found.map(({ maker, all }) => ({ maker, value: all.length })),
        0,
      ),
      ...summaryOf(
        'kB installed',
        found.map(({ maker, bytes }) => ({ maker, value: bytes / 1000 })),
        0,
      ),
    ],
    data: Object.fromEntries(found.map(({ name, all, bytes }) => [name, { packages: all, bytes }])),
  }
}

function measure(names: readonly string[]): { readonly all: readonly string[]; readonly bytes: number } {
  const found = new Map<string, Footprint>()
  for (const name of names) collect(name, folder, found)
  const each = [...found.values()]
  return {
    all: each.flatMap(({ packages }) => packages).sort(),
    bytes: each.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Adds a package and its dependencies, each once. */
function collect(name: string, from: string, found: Map<string, Footprint>): void {
  const path = locate(name, from)
  if (path === undefined || found.has(path)) return
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest
  found.set(path, { packages: [`${manifest.name}@${manifest.version}`], bytes: bytesOf(path, manifest) })
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (peer) => !manifest.peerDependenciesMeta?.[peer]?.optional,
  )
  for (const needed of [...Object.keys(manifest.dependencies ?? {}), ...peers]) collect(needed, path, found)
}

/** Resolves a package like Node: in the nearest node_modules above. */
function locate(name: string, from: string): string | undefined {
  const candidate = join(from, 'node_modules', name)
  if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate)
  const above = dirname(from)
  return above === from ? undefined : locate(name, above)
}

const packed = new Map<string, number>()

/** Returns the size of a package: of the installed files, or for a package of this repository of the packed files. */
function bytesOf(path: string, { name }: Manifest): number {
  if (!name.startsWith('@mcpx/')) return sizeOf(path)
  const known = packed.get(path)
  if (known !== undefined) return known
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: path,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [pack] = JSON.parse(said) as { unpackedSize: number }[]
  packed.set(path, pack?.unpackedSize ?? Number.NaN)
  return packed.get(path) ?? Number.NaN
}

function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const inside = join(path, entry.name)
    if (entry.name === 'node_modules') return sum
    return sum + (entry.isDirectory() ? sizeOf(inside) : entry.isFile() ? lstatSync(inside).size : 0)
  }, 0)
}
