/** Reads the repository for the architecture rules: its files, its packages and the imports of each source. */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'

export interface SourceFile {
  /** The path from the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly isTest: boolean
  readonly imports: readonly Import[]
}

export interface Import {
  readonly specifier: string
  readonly line: number
}

export interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly description?: string
  readonly author?: string
  readonly homepage?: string
  readonly repository?: unknown
  readonly bugs?: unknown
  readonly sideEffects?: unknown
  readonly engines?: { readonly node?: string }
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly publishConfig?: { readonly access?: string; readonly exports?: unknown }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** A folder below `packages`. */
export interface Package {
  /** The name of the folder, for example `sse`. */
  readonly name: string
  readonly folder: string
  readonly manifest: Manifest
  readonly sources: readonly SourceFile[]
}

export interface Repository {
  /** The paths of all files, without generated ones. */
  readonly files: readonly string[]
  readonly packages: readonly Package[]
  read(path: string): string
}

/** One place where a rule is broken. */
export interface Violation {
  readonly path: string
  readonly line?: number
  readonly what: string
}

export interface Rule {
  readonly name: string
  readonly says: string
  check(repository: Repository): Violation[]
}

const skipped = new Set(['node_modules', 'dist', '.git', '.turbo', '.cache', 'results', 'fixtures'])
const skippedPaths = ['conformance/schema/official', 'docs/reference']

export function readRepository(root: string): Repository {
  const files = listFiles(root, '')
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const manifests = files.filter((path) => /^packages\/[^/]+\/package\.json$/.test(path))
  const packages = manifests.map((path) => {
    const folder = posix.dirname(path)
    const sources = files.filter((file) => file.startsWith(`${folder}/src/`) && file.endsWith('.ts'))
    return {
      name: posix.basename(folder),
      folder,
      manifest: JSON.parse(read(path)) as Manifest,
      sources: sources.map((file) => readSource(file, read(file))),
    }
  })
  return { files, packages, read }
}

function readSource(path: string, text: string): SourceFile {
  const isTest = /\.(?:test(?:-d)?|fixture)\.ts$/.test(path)
  return { path, text, isTest, imports: readImports(text) }
}

const blockComment = String.raw`/\*(?:[^*]|\*(?!/))*\*/`
const comment = `//.*$|${blockComment}`
const gap = String.raw`(?:\s|${comment})*`
/** Matches the text between `import` and `from`. */
const clause = String.raw`(?:${comment}|/(?![/*])|[^'"\`;=/])*?`
const start = String.raw`^(?:${blockComment}[ \t]*)*`

/** A static import or export that begins a line, or an `import()` anywhere, of a value or of a type. */
const importPattern = new RegExp(
  [
    String.raw`${start}(?:import|export)\b${clause}\bfrom${gap}['"](?<from>[^'"]+)['"]`,
    `${start}import${gap}['"](?<bare>[^'"]+)['"]`,
    String.raw`\bimport\(${gap}['"](?<dynamic>[^'"]+)['"]`,
  ].join('|'),
  'gm',
)

export function readImports(text: string): Import[] {
  return [...text.matchAll(importPattern)].map((match) => {
    const { from, bare, dynamic } = match.groups ?? {}
    return { specifier: from ?? bare ?? dynamic ?? '', line: text.slice(0, match.index).split('\n').length }
  })
}

/** Returns the package of a specifier (`@mcpx/protocol/memory` -> `@mcpx/protocol`); undefined for relative paths and Node. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || isBuiltin(specifier) || specifier.includes(':')) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function listFiles(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (skipped.has(entry.name) || skippedPaths.includes(path)) return []
    if (entry.isDirectory()) return listFiles(root, path)
    return entry.isFile() && !/\.(?:log|tsbuildinfo)$/.test(entry.name) ? [path] : []
  })
}
