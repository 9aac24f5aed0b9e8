/** Checks the entries of the list of skills that a server sends, and compares the files of each skill with its entry. */

import { isObject, kindOf, quoted } from '@mcpx/protocol'
import { digestOf, fromBase64, toText } from '../bytes.ts'
import { differingMember, parseSkillFile } from '../frontmatter.ts'
import { checkLimits, frontmatterProblem, SKILL_LIMITS, type Skill, SkillError, type SkillResource } from '../skill.ts'
import { locateSkill, normalizeUri } from '../uris.ts'

/** A valid entry. */
export interface Manifest {
  readonly skill: Skill
  /** The normalized URI of the directory of the skill. */
  readonly directory: string
  /** The files by normalized URI. Undefined for a dynamic skill. */
  readonly files: ReadonlyMap<string, SkillResource> | undefined
}

/** Checks an entry. Throws a `SkillError` that names the invalid member. */
export function readManifest(entry: unknown): Manifest {
  const { uri, frontmatter, resources } = isObject(entry) ? entry : ({} as Record<string, unknown>)
  if (typeof uri !== 'string') throw new SkillError('invalid-skill', `skill.uri: expected string, got ${kindOf(uri)}`)
  const fail = (place: string, problem: string) =>
    new SkillError('invalid-skill', `skill ${quoted(uri)}, ${place}: ${problem}; the server must correct it`)

  const location = locateSkill(uri)
  if (location === undefined) throw fail('uri', 'expected <scheme>://<path>/SKILL.md')
  if (!isObject(frontmatter)) throw fail('frontmatter', `expected object, got ${kindOf(frontmatter)}`)
  const problem = frontmatterProblem(frontmatter, location.name)
  if (problem !== undefined) throw fail('entry', problem)
  const { directory } = location
  const skill = entry as Skill
  if (resources === 'dynamic') return { skill, directory, files: undefined }
  if (!Array.isArray(resources)) throw fail('resources', `expected array or "dynamic", got ${kindOf(resources)}`)
  checkLimits(`skill ${quoted(uri)}`, resources.length, 0)

  const files = new Map<string, SkillResource>()
  let total = 0
  for (const [index, resource] of resources.entries()) {
    const place = `resources[${index}]`
    const file = typeof resource?.uri === 'string' ? normalizeUri(resource.uri) : undefined
    if (!file?.startsWith(`${directory}/`)) throw fail(`${place}.uri`, 'expected the URI of a file of the skill')
    if (files.has(file)) throw fail(`${place}.uri`, 'expected each file once')
    const { digest, size } = resource as Partial<SkillResource>
    if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
      throw fail(`${place}.digest`, 'expected "sha256:" and 64 lower-case hexadecimal digits')
    }
    if (!Number.isSafeInteger(size) || (size as number) < 0) throw fail(`${place}.size`, 'expected a number of bytes')
    total += size as number
    files.set(file, resource as SkillResource)
  }
  checkLimits(`skill ${quoted(uri)}`, files.size, total)
  if (!files.has(normalizeUri(uri) as string)) throw fail('resources', 'expected the SKILL.md among them')
  return { skill, directory, files }
}

/**
 * Returns the bytes of a file from the result of `resources/read`. Refuses contents that are too long before it decodes
 * them.
 *
 * @param size the number of bytes; undefined if it is unknown
 */
export function readContents(uri: string, result: unknown, size: number | undefined): Uint8Array<ArrayBuffer> {
  const contents: unknown = isObject(result) ? result.contents : undefined
  const [only] = Array.isArray(contents) && contents.length === 1 ? contents : []
  const { text, blob } = isObject(only) ? only : ({} as Record<string, unknown>)
  const most = size ?? SKILL_LIMITS.bytes
  let bytes: Uint8Array<ArrayBuffer> | undefined
  if (typeof text === 'string') {
    // Each UTF-16 code unit has at least one byte in UTF-8.
    if (text.length > most) throw sizeError(uri, size, `at least ${text.length}`)
    bytes = new TextEncoder().encode(text)
  } else if (typeof blob === 'string') {
    if (blob.length > Math.ceil(most / 3) * 4) throw sizeError(uri, size, 'more')
    bytes = fromBase64(blob)
  }
  if (bytes === undefined) {
    throw new SkillError(
      'invalid-contents',
      `skill file ${quoted(uri)}: expected the contents of one file as text or Base64`,
    )
  }
  if (bytes.length > most || (size !== undefined && bytes.length !== size))
    throw sizeError(uri, size, `${bytes.length}`)
  return bytes
}

function sizeError(uri: string, size: number | undefined, found: string): SkillError {
  if (size !== undefined) {
    return new SkillError('size-mismatch', `skill file ${quoted(uri)}: expected ${size} bytes, got ${found}; ${RENEW}`)
  }
  const problem = `expected at most ${SKILL_LIMITS.bytes} bytes (16 MiB), got ${found}`
  return new SkillError('limit', `skill file ${quoted(uri)}: ${problem}`)
}

/** The remedy for contents that do not match an entry. */
const RENEW = 'the contents were not used; get the entry again, and approve it if it has changed'

/** Throws if the hash of the bytes differs from the digest in the entry. */
export async function checkDigest({ uri, digest }: SkillResource, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const found = await digestOf(bytes)
  if (found === digest) return
  throw new SkillError('digest-mismatch', `skill file ${quoted(uri)}: expected ${digest}, got ${found}; ${RENEW}`)
}

/** Returns the text of a `SKILL.md` after its frontmatter. Throws if its frontmatter differs from the entry. */
export function readBody({ uri, frontmatter }: Skill, bytes: Uint8Array): string {
  const fail = (problem: string) =>
    new SkillError('frontmatter-mismatch', `skill ${quoted(uri)}: ${problem}; the skill was not loaded`)
  const text = toText(bytes)
  if (text === undefined) throw fail('SKILL.md: expected UTF-8 text')
  const { frontmatter: found = {}, body = '', problem } = parseSkillFile(text)
  if (problem !== undefined) throw fail(`SKILL.md: ${problem}`)
  const name = differingMember(found, frontmatter)
  if (name !== undefined)
    throw fail(`frontmatter: the member ${quoted(name)} of the entry differs from that of SKILL.md`)
  return body
}
