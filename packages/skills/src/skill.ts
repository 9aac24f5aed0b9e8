/** The entries of skills as the protocol sends them, their limits, and the errors of this package. */

import { kindOf, quoted } from '@mcpx/protocol'

/** The id of the extension in the capabilities of a server. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'

/** The name of the file that every skill has in its directory. */
export const SKILL_FILE = 'SKILL.md'

/** The limits of one skill that every host accepts. Larger skills are neither served nor loaded. */
export const SKILL_LIMITS = {
  /** The largest number of files, including `SKILL.md`. */
  files: 512,
  /** The largest total size of all files, in bytes: 16 MiB. */
  bytes: 16 * 1024 * 1024,
} as const

/** The frontmatter of a `SKILL.md` as JSON. It has all members that the author wrote. */
export interface SkillFrontmatter {
  /** The name: 1 to 64 lower-case letters, digits and hyphens. It equals the name of the directory. */
  readonly name: string
  /** A description that says what the skill does and when to use it. */
  readonly description: string
  readonly [member: string]: unknown
}

/** A file of a skill. */
export interface SkillResource {
  /** The URI of the file. */
  readonly uri: string
  /** `sha256:` and 64 lower-case hexadecimal digits: the hash of the bytes of the file. */
  readonly digest: string
  /** The number of bytes. */
  readonly size: number
}

/** The entry of a skill in the results of `skills/list` and `skills/get`. */
export interface Skill {
  /** The URI of its `SKILL.md`. */
  readonly uri: string
  /** The frontmatter of its `SKILL.md`. */
  readonly frontmatter: SkillFrontmatter
  /** All files of the skill. `dynamic`: the server creates the content on demand, so nothing can be verified. */
  readonly resources: readonly SkillResource[] | 'dynamic'
}

/**
 * The reason of a `SkillError`.
 * - `invalid-skill`: a skill does not have the form that the specification requires.
 * - `limit`: a skill or a folder is larger than a limit.
 * - `not-found`: there is no such skill.
 * - `unsupported`: the server does not support skills, or does not support listing directories.
 * - `not-in-manifest`: the entry of the skill does not name this file, so it was not requested.
 * - `size-mismatch`, `digest-mismatch`: the bytes do not match the entry.
 * - `frontmatter-mismatch`: the frontmatter of the `SKILL.md` differs from the entry.
 * - `invalid-contents`: the response does not contain exactly one file.
 * - `dynamic`: the skill has no digests, and the options do not allow such skills.
 * - `not-approved`: the skill is not approved, or has changed since its approval.
 */
export type SkillErrorReason =
  | 'invalid-skill'
  | 'limit'
  | 'not-found'
  | 'unsupported'
  | 'not-in-manifest'
  | 'size-mismatch'
  | 'digest-mismatch'
  | 'frontmatter-mismatch'
  | 'invalid-contents'
  | 'dynamic'
  | 'not-approved'

/**
 * The error of a skill that cannot be served or must not be used. The message names the skill, the place and the
 * remedy.
 */
export class SkillError extends Error {
  override readonly name = 'SkillError'
  /** Why the skill or the file is refused. */
  readonly reason: SkillErrorReason

  constructor(reason: SkillErrorReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/** Throws for a skill with more files or bytes than hosts accept. */
export function checkLimits(label: string, files: number, bytes: number): void {
  const remedy = 'remove files that the skill does not need, or split it'
  if (files > SKILL_LIMITS.files) {
    throw new SkillError('limit', `${label}: expected at most ${SKILL_LIMITS.files} files, got ${files}; ${remedy}`)
  }
  if (bytes > SKILL_LIMITS.bytes) {
    throw new SkillError(
      'limit',
      `${label}: expected at most ${SKILL_LIMITS.bytes} bytes (16 MiB), got ${bytes}; ${remedy}`,
    )
  }
}

/** Describes the first problem of a frontmatter. Returns undefined if it is valid. */
export function frontmatterProblem(
  { name, description }: Readonly<Record<string, unknown>>,
  directory: string,
): string | undefined {
  if (typeof name !== 'string') return `frontmatter.name: expected string, got ${kindOf(name)}`
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > 64) {
    return `frontmatter.name: expected 1 to 64 lower-case letters and digits, with single hyphens between them, got ${quoted(name)}`
  }
  if (name !== directory) {
    return `frontmatter.name: expected ${quoted(directory)}, the name of the directory, got ${quoted(name)}`
  }
  if (typeof description === 'string' && description.trim() !== '') return undefined
  const found = typeof description === 'string' ? 'an empty string' : kindOf(description)
  return `frontmatter.description: expected a sentence that says what the skill does and when to use it, got ${found}`
}
