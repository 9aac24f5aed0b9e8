/** Answers the requests of clients for skills: which entries, files and directories exist for a caller. */

import {
  type AuthInfo,
  type CacheableResult,
  type Context,
  invalidParams,
  type ListResourcesResult,
  type PageRequest,
  quoted,
  type ReadResourceResult,
  type Resource,
  resourceNotFound,
} from '@mcpx/protocol'
import { mimeTypeOf, toBase64, toText } from './bytes.ts'
import type { Catalog, ServedFile, ServedSkill } from './catalog.ts'
import type { Skill } from './skill.ts'
import { normalizeUri } from './uris.ts'

/** The options of `skills` that decide what callers see. */
export interface ServiceOptions {
  /**
   * Returns whether a skill exists for a caller. `auth` is undefined for a caller who is not authenticated. Only `true` grants
   * visibility; a promise does not. Default: all skills exist for all callers.
   */
  readonly visible?: ((skill: Skill, auth: AuthInfo | undefined) => boolean | undefined) | undefined
  /** The cache hints of entries, lists and files. With `visible`, they are always private. Default: not cacheable. */
  readonly cache?: Pick<CacheableResult, 'ttlMs' | 'cacheScope'> | undefined
  /** The most skills on a page of a list. Default: 100. */
  readonly pageSize?: number | undefined
}

type Caller = Pick<Context, 'auth'>

export class SkillService {
  readonly #catalog: Catalog
  readonly #visible: (skill: ServedSkill, caller: Caller) => boolean
  readonly #hints: CacheableResult
  readonly #pageSize: number
  readonly #onChange: () => void

  /** @param onChange called when a file was found to have changed, and its entries with it */
  constructor(catalog: Catalog, { visible, cache, pageSize = 100 }: ServiceOptions, onChange: () => void) {
    if (!Number.isInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`skills: pageSize: expected an integer of 1 or more, got ${pageSize}`)
    }
    this.#catalog = catalog
    this.#visible = ({ entry }, { auth }) => visible === undefined || visible(entry, auth) === true
    this.#hints = visible === undefined ? { ...cache } : { ...cache, cacheScope: 'private' }
    this.#pageSize = pageSize
    this.#onChange = onChange
  }

  async listSkills({ cursor }: PageRequest, caller: Caller) {
    const { items, frame } = this.#cut(await this.#skillsOf(caller), cursor)
    return { skills: items.map(({ entry }) => entry), ...frame }
  }

  async getSkill({ uri }: { readonly uri: string }, caller: Caller) {
    const normal = normalizeUri(uri)
    const skill = (await this.#skillsOf(caller)).find(({ entry }) => entry.uri === normal)
    if (skill === undefined) throw invalidParams(`Unknown skill: ${quoted(uri)}`)
    return { skill: skill.entry, ...this.#hints }
  }

  async readDirectory({ uri, cursor }: { readonly uri: string } & PageRequest, caller: Caller) {
    // One page has all files that a skill may have.
    if (cursor !== undefined) throw unknownCursor()
    const parent = `${normalizeUri(uri)}/`
    const skills = await this.#skillsOf(caller)
    const children = new Map<string, Resource>()
    for (const file of skills.find(({ directory }) => parent.startsWith(directory))?.files ?? []) {
      if (!file.uri.startsWith(parent)) continue
      const [name = '', ...below] = file.uri.slice(parent.length).split('/')
      const child = { uri: parent + name, name: decodeURIComponent(name) }
      children.set(name, below.length > 0 ? { ...child, mimeType: 'inode/directory' } : toResource(file, skills))
    }
    if (children.size === 0) throw invalidParams(`Not a directory of a skill: ${quoted(uri)}`)
    return { resources: [...children.values()], ...this.#hints }
  }

  /** Lists the `SKILL.md` of each skill. The other files of a skill are read by the URIs in its entry. */
  async listResources({ cursor }: PageRequest, caller: Caller): Promise<ListResourcesResult> {
    const { items, frame } = this.#cut(await this.#skillsOf(caller), cursor)
    const { files } = await this.#catalog.read()
    return { resources: items.map(({ entry }) => toResource(files.get(entry.uri) as ServedFile, items)), ...frame }
  }

  async readResource({ uri }: { readonly uri: string }, caller: Caller): Promise<ReadResourceResult> {
    for (let attempt = 1; ; attempt += 1) {
      const file = (await this.#catalog.read()).files.get(normalizeUri(uri) ?? '')
      const isVisible = (await this.#skillsOf(caller)).some(({ directory }) => file?.uri.startsWith(directory))
      if (file === undefined || !isVisible) throw resourceNotFound(uri, 'modern')
      const bytes = await this.#catalog.readFile(file)
      if (bytes !== undefined) return { contents: [toContents(uri, file.path, bytes)], ...this.#hints }
      if (attempt > 1)
        throw new Error(`skills: ${quoted(file.path)} changes while it is read; write it elsewhere, then move it`)
      // Clients refuse bytes that are not those of the entry.
      if (await this.#catalog.refresh()) this.#onChange()
    }
  }

  async #skillsOf(caller: Caller): Promise<readonly ServedSkill[]> {
    return (await this.#catalog.read()).skills.filter((skill) => this.#visible(skill, caller))
  }

  /** Returns a page and its other members. A cursor contains the URI of the last skill before it. */
  #cut(skills: readonly ServedSkill[], cursor: string | undefined) {
    if (cursor?.startsWith(CURSOR) === false) throw unknownCursor()
    const rest = skills.filter(({ entry }) => cursor === undefined || entry.uri > cursor.slice(CURSOR.length))
    const items = rest.slice(0, this.#pageSize)
    const frame: CacheableResult & { nextCursor?: string } = { ...this.#hints }
    if (items.length < rest.length) frame.nextCursor = CURSOR + items.at(-1)?.entry.uri
    return { items, frame }
  }
}

/** The beginning of each cursor. */
const CURSOR = 'after '

function unknownCursor(): Error {
  return invalidParams('Invalid cursor: it does not belong to this list; request the list without a cursor')
}

function toResource({ uri, path, size }: ServedFile, skills: readonly ServedSkill[]): Resource {
  const skill = skills.find(({ entry }) => entry.uri === uri)?.entry
  const mimeType = mimeTypeOf(path)
  if (skill === undefined)
    return { uri, name: path.slice(path.lastIndexOf('/') + 1), ...(mimeType && { mimeType }), size }
  const { name, description } = skill.frontmatter
  return { uri, name, description, mimeType: 'text/markdown', size }
}

function toContents(uri: string, path: string, bytes: Uint8Array): ReadResourceResult['contents'][number] {
  const text = toText(bytes)
  const mimeType = mimeTypeOf(path)
  if (text !== undefined) return { uri, mimeType: mimeType ?? 'text/plain', text }
  return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: toBase64(bytes) }
}
