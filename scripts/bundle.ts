/**
 * Writes the JavaScript of the package in the current folder: a file for each entry, and chunks for what entries share and
 * for what is loaded later. The declarations are the compiler's. `node ../../scripts/bundle.ts`
 */
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type OutputOptions, rolldown } from 'rolldown'
import { droppable } from './bundle/droppable.ts'
import { sharing } from './bundle/sharing.ts'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

interface Graph {
  getModuleInfo(id: string): Module | null
}

interface Module {
  readonly importedIds: readonly string[]
  readonly importers: readonly string[]
  readonly dynamicImporters: readonly string[]
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
/** Every file of JavaScript that an entry may be, by whatever condition, has a source of its name. */
const files = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : Object.values(entry),
)
const sources = [...new Set(files)].flatMap((file) => {
  const name = /^\.\/dist\/(.+)\.js$/.exec(file)?.[1]
  return name === undefined ? [] : `./src/${name}.ts`
})

const CLIENT = /\/src\/client[./]/
/** What serves older clients over HTTP. */
const SESSIONS = /\/src\/server\/eras\/legacy/
/** What loads these at once, for apps of the web. */
const APPS = /\/src\/server\/(?:hono|eras\/select)\.ts$/
const JOINED = new Set(['@mcpx/client', '@mcpx/server', '@mcpx/transport-http', '@mcpx/transport-stdio'])
/** Functions of other packages that keep nothing, and are read sooner than their file is found. */
const INLINED = new Set(['@mcpx/protocol/uri-template', '@mcpx/sse/encode'])

const build = await rolldown({
  input: Object.fromEntries(sources.map((source) => [basename(source, '.ts'), source])),
  platform: 'neutral',
  tsconfig: false,
  transform: { target: 'es2023' },
  // Other packages stay imports, so that each is there once, whoever uses it.
  external: (id) => !/^[./]/.test(id) && !INLINED.has(id),
  resolve: { conditionNames: ['source'] },
  // All is needed by some entry. Along with dropping, code that stays would be rearranged, and engines make less of that.
  treeshake: false,
  preserveEntrySignatures: 'strict',
  plugins: [{ name: 'droppable', renderChunk: (code) => droppable(code) }, sharing(sources)],
  onLog(level, log, report) {
    if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') report(level === 'warn' ? 'error' : level, log)
  },
})
await build.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: { groups: [...chunkOfBoth(), ...chunksOfJoined()] },
  // Names and lines stay as they are written: whoever meets this code in a stack or a debugger can read it, without a map.
  minify: false,
  minifyInternalExports: false,
  comments: { legal: true, annotation: true, jsdoc: false },
  // A file with any other character is decoded by the slow way, and held with two bytes for each.
  charset: 'ascii',
})
await build.close()

type Groups = NonNullable<Exclude<OutputOptions['codeSplitting'], boolean | undefined>['groups']>

/** What one file imports later and another at once would be in the entry, and be loaded later by loading all of that. */
function chunkOfBoth(): Groups {
  const isBoth = (info: Module | null) => !!info && info.importers.length > 0 && info.dynamicImporters.length > 0
  const name = (id: string, graph: Graph): string | null =>
    isBoth(graph.getModuleInfo(id)) ? basename(id, '.ts') : null
  return [{ debugName: 'imported at once and later', name }]
}

/** What servers of tools take is a file, and what only the others take another. */
function chunkOfTools() {
  const entry = sources.find((source) => source.endsWith('/tools.ts'))
  const reached = new Set<string>()
  return (id: string, graph: Graph): string | null => {
    if (entry === undefined) return null
    if (reached.size === 0) reach(resolve(entry), graph, reached)
    return reached.has(id) && id !== resolve(entry) ? 'core' : null
  }
}

function reach(id: string, graph: Graph, reached: Set<string>): void {
  if (reached.has(id)) return
  reached.add(id)
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reach(imported, graph, reached)
}

/**
 * What these load at once is one file, or one for each side of the wire, and an entry only names what is in it: each more
 * file, and each more import of another package, takes as long to find as 10 to 20 kB take to read. What one entry alone
 * has of a server over HTTP stays there: a bundle for the web would not drop what only Node loads later.
 */
function chunksOfJoined(): Groups {
  const fewest = manifest.name === '@mcpx/transport-http' ? 2 : 1
  const groups: Groups = [
    { debugName: 'servers of tools', name: chunkOfTools() },
    { name: 'client', test: CLIENT, tags: ['$initial'] },
    {
      name: 'shared',
      test: (id) => ![CLIENT, SESSIONS, APPS].some((side) => side.test(id)),
      tags: ['$initial'],
      minShareCount: fewest,
    },
    { name: 'sessions', test: SESSIONS, tags: ['$initial'], minShareCount: fewest },
  ]
  return JOINED.has(manifest.name) ? groups : []
}
