/** Bundles the programs of a case for the edge, and measures the size by package, and the start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { isCompiled } from './built.ts'
import type { Entry, Findings, SizeCase, Verdict } from './case.ts'
import { runImporter } from './driver/imports.ts'
import { expectSum } from './edge-call.ts'
import { fixed, median } from './statistics.ts'
import { summaryOf } from './summary.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** A bundle, in bytes. */
interface Bundle {
  readonly minified: number
  readonly gzipped: number
  /** The minified bytes of each package, the largest first; the rest is code of esbuild. */
  readonly shares: readonly (readonly [name: string, bytes: number])[]
}

interface Weight extends Bundle {
  /** The gzipped size without lazily loaded parts. */
  readonly atFirst: number
  /** The gzipped size with lazily loaded parts. */
  readonly inAll: number
  /** The processor time of loading the bundle in a new process, in ms. */
  readonly start: number
}

export async function measureSize(size: SizeCase): Promise<Findings> {
  const weights: [Entry, Weight][] = []
  for (const entry of size.entries) weights.push([entry, await weigh(entry)])
  const isZodServer = ({ isServer, says }: Entry) => !!isServer && !!says?.includes('zod')
  const lineOf = (
    what: string,
    isIn: (entry: Entry) => boolean,
    numberOf = ({ inAll }: Weight): number => inAll / 1000,
  ) =>
    summaryOf(
      what,
      weights.filter(([entry]) => isIn(entry)).map(([{ maker }, weight]) => ({ maker, value: numberOf(weight) })),
      0,
    )
  return {
    name: size.name,
    says: size.says,
    header: ['', 'program', 'at first kB', 'in all kB', 'minified kB', 'of which', 'start CPU ms', 'target'],
    rows: weights.map(([entry, weight]) => rowOf(entry, weight)),
    notes: [
      '1 kB is 1,000 bytes, gzipped where it does not say minified. The shares are minified kB, for gzip works on the ' +
        'whole; what they leave out is the list of exports. The start is the processor time of loading the bundle in a ' +
        'new process of Node.',
    ],
    verdicts: weights.flatMap(([entry, weight]) => verdictOf(size.name, entry, weight) ?? []),
    summary: [
      ...lineOf('edge server with a tool of zod, kB gzipped', isZodServer),
      ...lineOf('edge server with a tool of zod, CPU ms to start', isZodServer, ({ start }) => start),
      ...lineOf('the same with plain JSON Schema', ({ name }) =>
        /^edge server, (?:raw tool|bare|modern only)$/.test(name),
      ),
      ...lineOf('client over HTTP, kB gzipped', ({ name }) => name.startsWith('client')),
    ],
    data: Object.fromEntries(weights.map(([{ name }, weight]) => [name, weight])),
  }
}

/** The size that counts: for servers with lazily loaded parts, for imports without lazily loaded parts. */
async function weigh(entry: Entry): Promise<Weight> {
  const first = await bundle(entry, true)
  const whole = await bundle(entry, false)
  const both = { atFirst: first.weight.gzipped, inAll: whole.weight.gzipped }
  if (entry.isServer === undefined) {
    await load(entry.name, first.contents)
    return { ...first.weight, ...both, start: await measureStart(first.contents) }
  }
  const program = await load(entry.name, whole.contents)
  await expectSum(entry.name, program.fetch, entry.isServer)
  return { ...whole.weight, ...both, start: await measureStart(whole.contents) }
}

const STARTS = 5

async function measureStart(bundled: Uint8Array): Promise<number> {
  const temporary = await mkdtemp(join(tmpdir(), 'bundle-'))
  const file = join(temporary, 'bundle.mjs')
  try {
    await writeFile(file, bundled)
    const times: number[] = []
    while (times.length < STARTS) times.push((await runImporter('time', [file])).cpu ?? Number.NaN)
    return median(times)
  } finally {
    await rm(temporary, { recursive: true })
  }
}

async function bundle(
  { name, code, leaveOut = [] }: Entry,
  onlyFirst: boolean,
): Promise<{ weight: Bundle; contents: Uint8Array }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: folder, sourcefile: 'program.ts', loader: 'ts' },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2022',
    external: ['node:*', 'cloudflare:*', ...leaveOut],
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
    plugins: onlyFirst ? [withoutLaterParts] : [],
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`${name}: the bundler wrote no file`)
  const { contents } = file
  const gzipped = gzipSync(contents, { level: 9 }).length
  return { contents, weight: { minified: contents.length, gzipped, shares: sharesOf(metafile) } }
}

/** Excludes modules that are loaded lazily by `import()`. */
const withoutLaterParts: Plugin = {
  name: 'without later parts',
  setup(bundler) {
    bundler.onResolve({ filter: /^/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : null,
    )
  },
}

/** Checks that the bundle loads. */
async function load(name: string, contents: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(`data:text/javascript;base64,${Buffer.from(contents).toString('base64')}`)
  } catch (cause) {
    throw new Error(`${name}: the bundle does not load`, { cause })
  }
}

function sharesOf({ outputs }: Metafile): Bundle['shares'] {
  const shares = new Map<string, number>()
  for (const output of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      if (!isCompiled(path)) throw new Error(`${path} was bundled instead of its compiled form`)
      if (bytesInOutput > 0) shares.set(ownerOf(path), (shares.get(ownerOf(path)) ?? 0) + bytesInOutput)
    }
  }
  return [...shares].sort(([, a], [, b]) => b - a)
}

/** Returns the package of a bundled file. */
export function ownerOf(path: string): string {
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  if (installed !== undefined) return installed
  const own = /packages\/([\w-]+)\//.exec(path)?.[1]
  return own === undefined ? 'the program' : `@mcpx/${own}`
}

function rowOf({ name, code, says, atMost, isServer }: Entry, weight: Weight): string[] {
  const { minified, atFirst, inAll, shares, start } = weight
  const parts = shares.filter(([owner]) => owner !== 'the program').map(([owner, bytes]) => `${owner} ${kilo(bytes)}`)
  const target = atMost === undefined ? '' : `${isServer ? 'in all' : 'at first'} ≤ ${kilo(atMost)}`
  const program = says ?? `\`${code}\``
  const sizes = [kilo(atFirst), kilo(inAll), kilo(minified)]
  return [name, program, ...sizes, parts.slice(0, 5).join(', '), fixed(start, 1), target]
}

function verdictOf(caseName: string, { name, atMost }: Entry, { gzipped }: Weight): Verdict | undefined {
  if (atMost === undefined) return undefined
  const says = `${fixed(gzipped, 0)} bytes gzipped, target ≤ ${fixed(atMost, 0)}`
  return { name: `${caseName} ${name}`, met: gzipped <= atMost, says }
}

function kilo(bytes: number): string {
  return fixed(bytes / 1000, 1)
}
