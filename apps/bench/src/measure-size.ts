/** Bundles the programs of a case as for the edge, and weighs what comes out and whose it is. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { isCompiled } from './built.ts'
import type { Entry, Findings, SizeCase, Verdict } from './case.ts'
import { fixed } from './statistics.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** A bundle, in bytes. */
interface Weight {
  readonly minified: number
  readonly gzipped: number
  /** Minified bytes of each package, the largest first; what remains is esbuild's own glue. */
  readonly shares: readonly (readonly [name: string, bytes: number])[]
}

export async function measureSize(size: SizeCase): Promise<Findings> {
  const weights: [Entry, Weight][] = []
  for (const entry of size.entries) weights.push([entry, await weigh(entry)])
  return {
    name: size.name,
    says: size.says,
    header: ['', 'program', 'gzipped kB', 'minified kB', 'of which', 'target'],
    rows: weights.map(([entry, weight]) => rowOf(entry, weight)),
    notes: [
      '1 kB is 1,000 bytes. The shares are minified kB, for gzip works on the whole; ' +
        'what they leave out is the list of exports.',
    ],
    verdicts: weights.flatMap(([entry, weight]) => verdictOf(size.name, entry, weight) ?? []),
    data: Object.fromEntries(weights.map(([{ name }, weight]) => [name, weight])),
  }
}

async function weigh({ name, code }: Entry): Promise<Weight> {
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
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
    plugins: [withoutLaterParts],
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`${name}: the bundler wrote nothing`)
  await expectLoads(name, file.contents)
  return {
    minified: file.contents.length,
    gzipped: gzipSync(file.contents, { level: 9 }).length,
    shares: sharesOf(metafile),
  }
}

/** What a program loads by `import()` when it needs it is not part of what it weighs at first. */
const withoutLaterParts: Plugin = {
  name: 'without later parts',
  setup(bundler) {
    bundler.onResolve({ filter: /^/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : null,
    )
  },
}

/** What is weighed must be a program that starts. */
async function expectLoads(name: string, contents: Uint8Array): Promise<void> {
  try {
    await import(`data:text/javascript;base64,${Buffer.from(contents).toString('base64')}`)
  } catch (cause) {
    throw new Error(`${name}: the bundle does not load`, { cause })
  }
}

function sharesOf({ outputs }: Metafile): Weight['shares'] {
  const shares = new Map<string, number>()
  for (const output of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      if (!isCompiled(path)) throw new Error(`${path} was bundled instead of its compiled form`)
      if (bytesInOutput > 0) shares.set(ownerOf(path), (shares.get(ownerOf(path)) ?? 0) + bytesInOutput)
    }
  }
  return [...shares].sort(([, a], [, b]) => b - a)
}

/** The package a bundled file belongs to. */
export function ownerOf(path: string): string {
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  if (installed !== undefined) return installed
  const own = /packages\/([\w-]+)\//.exec(path)?.[1]
  return own === undefined ? 'the program' : `@mcpx/${own}`
}

function rowOf({ name, code, atMost }: Entry, { minified, gzipped, shares }: Weight): string[] {
  const parts = shares.filter(([owner]) => owner !== 'the program').map(([owner, bytes]) => `${owner} ${kilo(bytes)}`)
  const target = atMost === undefined ? '' : `≤ ${kilo(atMost)}`
  return [name, `\`${code}\``, kilo(gzipped), kilo(minified), parts.join(', '), target]
}

function verdictOf(caseName: string, { name, atMost }: Entry, { gzipped }: Weight): Verdict | undefined {
  if (atMost === undefined) return undefined
  const says = `${fixed(gzipped, 0)} bytes gzipped, target ≤ ${fixed(atMost, 0)}`
  return { name: `${caseName} ${name}`, met: gzipped <= atMost, says }
}

function kilo(bytes: number): string {
  return fixed(bytes / 1000, 1)
}
