/** The files of skills in a folder. Symbolic links and devices are refused, and nothing outside of the folder is read. */

import { constants, type Dirent, watch } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { quoted } from '@mcpx/protocol'
import { SKILL_FILE, SKILL_LIMITS, SkillError } from '../skill.ts'
import type { SkillSource } from '../source.ts'

/** The largest number of files and directories that are visited, so that `skills('/')` ends. */
const MAX_VISITED = 100_000
/** The deepest directory. */
const MAX_DEPTH = 16
/** How long to wait for further changes before the files are read again, in ms. */
const QUIET = 50

/** A folder that contains skills, or that is a skill itself. */
export class Folder implements SkillSource {
  readonly #path: string
  readonly #ignore: (path: string) => boolean
  /** The real path of the folder, without links. */
  #root = ''
  /** The name of the folder and a slash if the folder is a skill. Otherwise empty. */
  #prefix = ''
  /** The kinds of links and devices, by path. Reading them throws. */
  #refused: ReadonlyMap<string, string> = new Map()

  /**
   * @param path an absolute path
   * @param ignore returns whether a file or a directory is left out, by its path in the folder
   */
  constructor(path: string, ignore: (path: string) => boolean) {
    this.#path = path
    this.#ignore = ignore
  }

  async list(): Promise<string[]> {
    const root = await realpath(this.#path)
    const isSkill = (await readdir(root)).includes(SKILL_FILE)
    const prefix = isSkill ? `${basename(this.#path)}/` : ''
    const files: string[] = []
    const refused = new Map<string, string>()
    let visited = 0

    const add = async (path: string, entry: Dirent): Promise<void> => {
      // Also list links to whole skills, so that reading them reports a warning.
      const exists = async (file: string) => stat(join(root, file)).then(Boolean, () => false)
      const isLinkedSkill = entry.isSymbolicLink() && (await exists(`${path}/${SKILL_FILE}`))
      const file = `${prefix}${path}${isLinkedSkill ? `/${SKILL_FILE}` : ''}`
      files.push(file)
      if (!entry.isFile()) refused.set(file, entry.isSymbolicLink() ? 'a symbolic link' : 'no regular file')
    }

    const visit = async (directory: string, depth: number): Promise<void> => {
      for (const entry of await readdir(join(root, directory), { withFileTypes: true })) {
        const path = directory === '' ? entry.name : `${directory}/${entry.name}`
        if (this.#ignore(path)) continue
        visited += 1
        if (visited > MAX_VISITED) throw this.#tooLarge(`more than ${MAX_VISITED} files`)
        if (!entry.isDirectory()) await add(path, entry)
        else if (depth < MAX_DEPTH) await visit(path, depth + 1)
        else throw this.#tooLarge(`directories that are nested deeper than ${MAX_DEPTH} levels`)
      }
    }

    await visit('', 1)
    this.#root = root
    this.#prefix = prefix
    this.#refused = refused
    return files
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const refused = this.#refused.get(path)
    if (refused !== undefined) {
      throw new SkillError('invalid-skill', `skills: ${quoted(path)} is ${refused}; replace it by the files themselves`)
    }
    try {
      return await this.#readFile(path)
    } catch (cause) {
      const { code = '' } = cause as { code?: string }
      // The file was removed, or replaced by a link.
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined
      if (code !== 'EACCES' && code !== 'EPERM') throw cause
      const problem = `skills: ${quoted(path)} cannot be read (${code}); change its permissions, or remove it`
      throw new SkillError('invalid-skill', problem, { cause })
    }
  }

  async #readFile(path: string): Promise<Uint8Array | undefined> {
    const file = join(this.#root, ...path.slice(this.#prefix.length).split('/'))
    // Use O_NONBLOCK, because opening a named pipe would otherwise wait for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat()
      // A parent directory may have been replaced by a link.
      if (!stats.isFile() || (await realpath(file)) !== file) return undefined
      if (stats.size <= SKILL_LIMITS.bytes) return await handle.readFile()
      const problem = `expected at most ${SKILL_LIMITS.bytes} bytes (16 MiB), got ${stats.size}; remove or split it`
      throw new SkillError('limit', `skills: ${quoted(path)}: ${problem}`)
    } finally {
      await handle.close()
    }
  }

  watch(onChange: () => void, onWarning: (warning: Error) => void): () => void {
    const fail = (cause: unknown) => {
      // The folder was removed. The watcher of the parent folder notices when it is created again.
      if ((cause as { code?: unknown }).code === 'ENOENT') return
      const remedy = 'restart the server after changes, or pass `watch: false`'
      onWarning(new Error(`skills: the folder ${quoted(this.#path)} cannot be watched; ${remedy}`, { cause }))
    }
    const open = (path: string, recursive: boolean, listener: (name: string | null) => void) => {
      try {
        return watch(path, { recursive, persistent: false }, (_, name) => listener(name)).on('error', fail)
      } catch (cause) {
        fail(cause)
        return undefined
      }
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const note = () => {
      clearTimeout(timer)
      timer = setTimeout(onChange, QUIET)
      timer.unref()
    }
    let watcher = open(this.#path, true, note)
    const parent = open(dirname(this.#path), false, (name) => {
      if (name !== basename(this.#path)) return
      watcher?.close()
      watcher = open(this.#path, true, note)
      note()
    })
    return () => {
      clearTimeout(timer)
      watcher?.close()
      parent?.close()
    }
  }

  #tooLarge(found: string): SkillError {
    const remedy = 'pass the folder that contains only skills, or the option `ignore`'
    return new SkillError('limit', `skills: the folder ${quoted(this.#path)} has ${found}; ${remedy}`)
  }
}
