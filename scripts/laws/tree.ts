/** Reads the repository as the laws see it: its files, its sources cut into tokens, its packages. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Import, readImports } from './imports.ts'
import { type Token, tokenize } from './tokens.ts'

export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string
  /** The package folder it belongs to, such as `packages/sse`; empty for scripts and the root. */
  readonly folder: string
  readonly isTest: boolean
  /** All tokens but comments. */
  readonly code: readonly Token[]
  readonly comments: readonly Token[]
  readonly imports: readonly Import[]
}

export type Dependencies = Readonly<Record<string, string>>

export interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly description?: string
  readonly sideEffects?: unknown
  readonly engines?: { readonly node?: string }
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly publishConfig?: { readonly access?: string; readonly exports?: unknown }
  readonly dependencies?: Dependencies
  readonly devDependencies?: Dependencies
  readonly peerDependencies?: Dependencies
}

export interface Package {
  /** From the root: `packages/sse`, `apps/bench`, `conformance/schema`. */
  readonly folder: string
  readonly manifest: Manifest
  readonly sources: readonly SourceFile[]
}

export interface Tree {
  /** All files that are committed or may be, from the root. */
  readonly files: readonly string[]
  readonly sources: readonly SourceFile[]
  readonly packages: readonly Package[]
  /** The package.json at the root. */
  readonly manifest: Manifest
  read(path: string): string
}

/** Folders that hold what others wrote or what tools make: everywhere, or at one place. */
const skipped = new Set([
  'node_modules',
  'dist',
  '.git',
  '.turbo',
  '.cache',
  'results',
  'coverage',
  'fixtures',
  'conformance/schema/official',
])
const workspaceFolder = /^(?:packages|apps\/examples|apps|conformance)\/[^/]+(?=\/package\.json$)/

/** Reads the tree under `root`. */
export function readTree(root: string): Tree {
  const files = list(root, '')
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const folders = files.flatMap((path) => workspaceFolder.exec(path)?.[0] ?? [])
  const folderOf = (path: string): string => {
    let folder = dirname(path)
    while (folder !== '.' && !folders.includes(folder)) folder = dirname(folder)
    return folder === '.' ? '' : folder
  }
  const sources = files
    .filter((path) => /\.(?:ts|mts|js|mjs)$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => readSource(path, folderOf(path), read(path)))
  const packages = folders.map((folder) => ({
    folder,
    manifest: JSON.parse(read(`${folder}/package.json`)) as Manifest,
    sources: sources.filter((source) => source.folder === folder),
  }))
  const manifest = files.includes('package.json') ? (JSON.parse(read('package.json')) as Manifest) : {}
  return { files, sources, packages, manifest, read }
}

function readSource(path: string, folder: string, text: string): SourceFile {
  const tokens = tokenize(text)
  const code = tokens.filter((token) => token.kind !== 'comment')
  const comments = tokens.filter((token) => token.kind === 'comment')
  const isTest = /\.(?:test(?:-d)?|fixture)\.[mc]?[jt]s$/.test(path)
  return { path, folder, isTest, code, comments, imports: readImports(code) }
}

function list(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return skipped.has(entry.name) || skipped.has(path) ? [] : list(root, path)
      return entry.isFile() && !/\.(?:log|tsbuildinfo)$/.test(entry.name) ? [path] : []
    })
}

/** Whether a file becomes part of a package that people install. */
export function isShipped(source: SourceFile): boolean {
  return !source.isTest && /^packages\/(?!testkit\/)[^/]+\/src\//.test(source.path)
}

/** `packages/sse` -> `sse`. */
export function shortName(folder: string): string {
  return posix.basename(folder)
}
