/** The interface of sources of skills, and the source that reads a bundle. */

import { type Awaitable, isObject, kindOf, quoted } from '@mcpx/protocol'
import { fromBase64 } from './bytes.ts'

/**
 * Reads the files of skills, for example from a database. A skill is a directory with a `SKILL.md`. The path of the
 * directory determines the URI: `acme/refunds` becomes `skill://acme/refunds/SKILL.md`.
 */
export interface SkillSource {
  /** Returns the paths of all files, such as `acme/refunds/SKILL.md`. Called once, and after each change. */
  list(): Awaitable<Iterable<string>>
  /**
   * Returns the content of a file, or undefined if it does not exist. A string is encoded as UTF-8. Called to hash the
   * file, and each time a client reads it.
   */
  read(path: string): Awaitable<string | Uint8Array | undefined>
  /**
   * Calls `onChange` when files may have been added, changed or removed, until the returned function is called. The
   * files are then read again, and clients are notified. Call `onWarning` if changes cannot be detected any more.
   * Default: files never change.
   */
  watch?(onChange: () => void, onWarning: (warning: Error) => void): () => void
}

/**
 * The files of skills by path, as strings, bytes or Base64. `bundleSkills` of `@mcpx/skills/node` creates a bundle that
 * can be written as JSON.
 */
export type SkillBundle = Readonly<Record<string, BundledFile>>

/** A file of a bundle. */
export type BundledFile = string | Uint8Array | ArrayBuffer | { readonly base64: string }

/** Creates a source from a bundle. Throws a `TypeError` for a value that is not a file. */
export function createBundleSource(bundle: SkillBundle): SkillSource {
  const files = new Map<string, string | Uint8Array>()
  for (const [path, file] of Object.entries(bundle)) {
    // Import maps of bundlers begin with `./`.
    files.set(path.replace(/^\.\//, ''), readBundled(path, file))
  }
  return { list: () => files.keys(), read: (path) => files.get(path) }
}

function readBundled(path: string, file: BundledFile): string | Uint8Array {
  if (typeof file === 'string' || file instanceof Uint8Array) return file
  if (file instanceof ArrayBuffer) return new Uint8Array(file)
  const bytes = isObject(file) && typeof file.base64 === 'string' ? fromBase64(file.base64) : undefined
  if (bytes !== undefined) return bytes
  const found = isObject(file) ? 'an object without Base64' : kindOf(file)
  throw new TypeError(`skills: ${quoted(path)}: expected a string, bytes or { base64 }, got ${found}`)
}

/** Returns whether a value implements `SkillSource`. */
export function isSource(value: unknown): value is SkillSource {
  const { list, read } = (value ?? {}) as Partial<SkillSource>
  return typeof list === 'function' && typeof read === 'function'
}
