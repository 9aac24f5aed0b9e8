/** Reads the skills of a source, checks and hashes them once, and finds their files by URI. */

import { kindOf, quoted } from '@mcpx/protocol'
import { digestOf, toText } from './bytes.ts'
import { type ParsedSkillFile, parseSkillFile } from './frontmatter.ts'
import { checkLimits, frontmatterProblem, SKILL_FILE, type Skill, SkillError, type SkillResource } from './skill.ts'
import type { SkillSource } from './source.ts'
import { pathProblem, toUri } from './uris.ts'

/** The largest number of files in a source. */
const MAX_FILES = 100_000
/** How many files are read at the same time. */
const CONCURRENCY = 8

/** A file that is served. */
export interface ServedFile extends SkillResource {
  readonly path: string
}

/** A skill that is served. */
export interface ServedSkill {
  /** The entry that clients receive. */
  readonly entry: Skill
  /** The URI of its directory, with a slash at its end. */
  readonly directory: string
  /** All files of the skill. Files of a nested skill also belong to the outer skill. */
  readonly files: readonly ServedFile[]
}

/** The skills of a source at a certain time. */
export interface Snapshot {
  /** The skills, sorted by URI. */
  readonly skills: readonly ServedSkill[]
  /** The files of all skills by URI, in the form of `normalizeUri`. */
  readonly files: ReadonlyMap<string, ServedFile>
}

export class Catalog {
  readonly #source: SkillSource
  readonly #onWarning: (warning: Error) => void
  #snapshot: Promise<Snapshot> | undefined
  /** The read operation that begins after the current one. */
  #refreshing: Promise<boolean> | undefined
  /** The warnings of the last read operation. They are not repeated. */
  #warned: ReadonlySet<string> = new Set()

  /** @param onWarning called for each skill that is left out, and if the source cannot be read again */
  constructor(source: SkillSource, onWarning: (warning: Error) => void) {
    this.#source = source
    this.#onWarning = onWarning
  }

  /** Resolves to the skills. The first call reads them. After a failure, the next call reads them again. */
  read(): Promise<Snapshot> {
    this.#snapshot ??= this.#load().catch((error: unknown) => {
      this.#snapshot = undefined
      throw error
    })
    return this.#snapshot
  }

  /**
   * Reads the source again. Resolves to true if an entry has changed. If the source fails, the entries stay the same.
   * Calls during a read operation share the next read operation, because the current operation may have missed the
   * change.
   */
  refresh(): Promise<boolean> {
    this.#refreshing ??= this.#reload()
    return this.#refreshing
  }

  async #reload(): Promise<boolean> {
    const before = await this.read().catch(() => undefined)
    this.#refreshing = undefined
    this.#snapshot =
      before &&
      this.#load().catch((cause: unknown) => {
        const problem = 'skills: the files could not be read again; the last known ones are served'
        this.#onWarning(new Error(problem, { cause }))
        return before
      })
    return JSON.stringify(before?.skills) !== JSON.stringify((await this.read()).skills)
  }

  /**
   * Resolves to the bytes of a file. Resolves to undefined if the bytes do not match the entry, because the file has
   * changed.
   */
  async readFile({ path, digest }: ServedFile): Promise<Uint8Array | undefined> {
    const bytes = await this.#readBytes(path)
    return bytes !== undefined && (await digestOf(bytes)) === digest ? bytes : undefined
  }

  async #load(): Promise<Snapshot> {
    const skills: ServedSkill[] = []
    const hashed = new Map<string, ServedFile>()
    const warned = new Set<string>()
    for (const [directory, paths] of groupFiles(await this.#source.list())) {
      try {
        skills.push(await this.#loadSkill(directory, paths, hashed))
      } catch (error) {
        if (!(error instanceof SkillError)) throw error
        warned.add(error.message)
        if (!this.#warned.has(error.message)) this.#onWarning(error)
      }
    }
    this.#warned = warned
    skills.sort((one, other) => (one.entry.uri < other.entry.uri ? -1 : 1))
    return { skills, files: new Map(skills.flatMap((skill) => skill.files.map((file) => [file.uri, file]))) }
  }

  /** @param hashed the files that were hashed for other skills, by path */
  async #loadSkill(directory: string, paths: readonly string[], hashed: Map<string, ServedFile>): Promise<ServedSkill> {
    const label = `skill ${quoted(directory)}`
    checkPaths(label, paths)
    const file = `${directory}/${SKILL_FILE}`
    // Read by the exact name, because a case-insensitive source also returns files with another spelling.
    const frontmatter = readFrontmatter(
      label,
      directory,
      paths.includes(file) ? await this.#readBytes(file) : undefined,
    )
    const files: ServedFile[] = []
    let bytes = 0
    await forEachConcurrently([...paths.entries()], async ([index, path]) => {
      const file = hashed.get(path) ?? (await this.#hash(path))
      hashed.set(path, file)
      files[index] = file
      bytes += file.size
      checkLimits(label, paths.length, bytes)
    })
    const resources = files.map(({ uri, digest, size }) => ({ uri, digest, size }))
    const uri = toUri(directory)
    return { entry: { uri: `${uri}/${SKILL_FILE}`, frontmatter, resources }, directory: `${uri}/`, files }
  }

  async #hash(path: string): Promise<ServedFile> {
    const bytes = await this.#readBytes(path)
    if (bytes === undefined)
      throw new SkillError('invalid-skill', `skill file ${quoted(path)} is listed, but does not exist`)
    return { path, uri: toUri(path), digest: await digestOf(bytes), size: bytes.length }
  }

  async #readBytes(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const content = await this.#source.read(path)
    if (content === undefined || content instanceof Uint8Array) return content as Uint8Array<ArrayBuffer> | undefined
    if (typeof content === 'string') return new TextEncoder().encode(content)
    throw new TypeError(`skills: read(${quoted(path)}) of the source: expected string or bytes, got ${kindOf(content)}`)
  }
}

/** Groups paths by skill. The key is the directory of the skill; its paths are sorted. */
function groupFiles(listed: Iterable<string>): Map<string, string[]> {
  const unique = new Set<string>()
  for (const path of listed) {
    if (typeof path !== 'string')
      throw new TypeError(`skills: list() of the source: expected strings, got ${kindOf(path)}`)
    unique.add(path)
    if (unique.size > MAX_FILES) throw new SkillError('limit', `skills: the source has more than ${MAX_FILES} files`)
  }
  const paths = [...unique].sort()
  const tree = new Map<string, string[]>()
  // Include other spellings of SKILL.md, so that they are reported.
  for (const path of paths) if (/(?:^|\/)skill\.md$/i.test(path)) tree.set(path.slice(0, -SKILL_FILE.length - 1), [])
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      tree.get(path.slice(0, end))?.push(path)
    }
  }
  return tree
}

/** Throws if a path is not safe on every host. */
function checkPaths(label: string, paths: readonly string[]): void {
  const seen = new Map<string, string>()
  for (const path of paths) {
    const key = path.normalize().toLowerCase()
    const other = seen.get(key)
    const isUnsafe =
      pathProblem(path) ??
      (other &&
        `differs from ${quoted(other)} in case or Unicode form only, which some file systems cannot store; rename one`)
    if (isUnsafe !== undefined) throw new SkillError('invalid-skill', `${label}: path ${quoted(path)}: ${isUnsafe}`)
    seen.set(key, path)
  }
}

function readFrontmatter(label: string, directory: string, bytes: Uint8Array | undefined): Skill['frontmatter'] {
  const text = bytes && toText(bytes)
  const expected = bytes === undefined ? 'expected a file of exactly this name' : 'expected UTF-8 text'
  const parsed: ParsedSkillFile = text === undefined ? { problem: expected } : parseSkillFile(text)
  const { frontmatter = {} } = parsed
  const reserved = Object.keys(frontmatter.metadata ?? {}).find((key) => key.startsWith('io.modelcontextprotocol/'))
  const problem =
    parsed.problem ??
    frontmatterProblem(frontmatter, directory.slice(directory.lastIndexOf('/') + 1)) ??
    (reserved && `frontmatter.metadata: the prefix of ${quoted(reserved)} is reserved; rename the key`)
  if (problem !== undefined) throw new SkillError('invalid-skill', `${label}: ${SKILL_FILE}: ${problem}`)
  return frontmatter as Skill['frontmatter']
}

/** Runs a function for each item, a few at a time. */
async function forEachConcurrently<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values()
  const work = async () => {
    for (const item of queue) await run(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}
