/** Packs a package as for publishing, and reads the tarball. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { run } from './tool.ts'

/** The files of a package by their path inside it, without the leading `package/`. */
export type Files = ReadonlyMap<string, Buffer>

export interface Tarball {
  /** The path of the tarball. */
  readonly path: string
  readonly bytes: Buffer
  readonly files: Files
  readonly manifest: PackedManifest
}

export type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** The package.json of the tarball, which packing rewrites. */
export interface PackedManifest {
  readonly name: string
  readonly version: string
  readonly exports: Exports
  /** The programs, by name. */
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Packs the package in `folder` and puts the tarball into `destination`. */
export async function pack(folder: string, destination: string): Promise<Tarball> {
  const { code, stdout, output } = await run('pnpm', ['pack', '--json', '--pack-destination', destination], folder)
  if (code !== 0) throw new Error(`${folder} cannot be packed:\n${output}`)
  const { filename } = JSON.parse(stdout) as { filename: string }
  const bytes = readFileSync(filename)
  const files = readFiles(bytes)
  const manifest = JSON.parse(files.get('package.json')?.toString() ?? '{}') as PackedManifest
  return { path: filename, bytes, files, manifest }
}

const BLOCK = 512

/** Reads the regular files of a gzipped tar archive; npm packages contain no other relevant entries. */
function readFiles(bytes: Buffer): Files {
  const archive = gunzipSync(bytes)
  const files = new Map<string, Buffer>()
  let at = 0
  while (at + BLOCK <= archive.length) {
    const name = text(archive, at, 100)
    const size = Number.parseInt(text(archive, at + 124, 12), 8) || 0
    const isFile = ['0', ''].includes(text(archive, at + 156, 1))
    const prefix = text(archive, at + 345, 155)
    const path = prefix === '' ? name : `${prefix}/${name}`
    const start = at + BLOCK
    if (isFile && name !== '') files.set(path.replace(/^package\//, ''), archive.subarray(start, start + size))
    at = start + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}

/** Reads a field of a tar header, which ends at its first zero byte. */
function text(archive: Buffer, at: number, length: number): string {
  const field = archive.toString('utf8', at, at + length)
  return (field.split('\0')[0] ?? '').trim()
}

/** Returns the import specifiers of all entries of a package. */
export function specifiers({ name, exports }: PackedManifest): string[] {
  return Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1))
}
