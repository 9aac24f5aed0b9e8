/** Converts the paths of files to URIs, and URIs to a form in which they can be compared. */

import { MAX_URI_LENGTH } from '@mcpx/protocol'
import { SKILL_FILE } from './skill.ts'

/** Returns the URI of a path, such as `skill://acme/refunds/SKILL.md` for `acme/refunds/SKILL.md`. */
export function toUri(path: string): string {
  return `skill://${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Describes why a path is not safe, or returns undefined. A safe path is relative and stays below its root. */
export function pathProblem(path: string): string | undefined {
  const segment = path.split('/').find((each) => !isSafeSegment(each))
  if (segment !== undefined) {
    return `expected names without "\\", control characters, "." and "..", separated by "/", got ${JSON.stringify(segment.slice(0, 100))}`
  }
  const { length } = toUri(path)
  return length > MAX_URI_LENGTH
    ? `expected a URI of at most ${MAX_URI_LENGTH} characters, got one of ${length}`
    : undefined
}

function isSafeSegment(segment: string): boolean {
  return !(segment === '' || segment === '.' || segment === '..' || /[\p{Cc}\p{Cs}/\\]/u.test(segment))
}

/**
 * Normalizes a URI, so that equal URIs become equal strings: the scheme in lower case, and the same
 * characters percent-encoded. Returns undefined for a URI that cannot name a file, for example with `..`, `%2F`, a
 * query, or control characters.
 */
export function normalizeUri(uri: string): string | undefined {
  const [, scheme, path] = uri.length > MAX_URI_LENGTH ? [] : (/^([a-z][a-z\d+.-]*):\/\/([^?#]+)$/i.exec(uri) ?? [])
  if (scheme === undefined || path === undefined) return undefined
  const segments = path.split('/').map(decode)
  if (!segments.every((segment) => segment !== undefined && isSafeSegment(segment))) return undefined
  return `${scheme.toLowerCase()}://${segments.map((segment = '') => encodeURIComponent(segment)).join('/')}`
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** The parts of the URI of a `SKILL.md`. */
export interface SkillLocation {
  /** The normalized URI of the directory, without a slash at its end. */
  readonly directory: string
  /** The last segment of the directory, which is the name of the skill. */
  readonly name: string
}

/** Splits the URI of a `SKILL.md`. Returns undefined for any other URI. */
export function locateSkill(uri: string): SkillLocation | undefined {
  const normal = normalizeUri(uri)
  if (!normal?.endsWith(`/${SKILL_FILE}`)) return undefined
  const directory = normal.slice(0, -SKILL_FILE.length - 1)
  const name = directory.slice(directory.lastIndexOf('/') + 1)
  return name === '' ? undefined : { directory, name }
}

/**
 * Resolves a reference in a `SKILL.md`, such as `references/FORMS.md` or `./my%20file.md#top`, or a URI. Returns the possible
 * normalized URIs, the likeliest first: percent signs and `#` may belong to the name of a file.
 */
export function resolveReference(directory: string, reference: string): string[] {
  if (reference.length > MAX_URI_LENGTH) return []
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(reference)) return [normalizeUri(reference)].filter((uri) => uri !== undefined)
  const plain = reference.replace(/^(?:\.\/)+/, '')
  const link = plain.replace(/[?#].*$/s, '')
  const literal = plain.split('/').map((segment) => (isSafeSegment(segment) ? encodeURIComponent(segment) : segment))
  const uris = [literal.join('/'), plain, link].map((path) => normalizeUri(`${directory}/${path}`))
  return [...new Set(uris)].filter((uri) => uri !== undefined)
}
