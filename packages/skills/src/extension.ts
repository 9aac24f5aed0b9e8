/** The skills extension of a server (SEP-2640): adds methods, and serves the files of skills as resources. */

import {
  type AuthInfo,
  type CacheableResult,
  type Change,
  type Context,
  guarded,
  type Handler,
  invalidParams,
  isObject,
  type JsonObject,
  kindOf,
  type ListResourcesResult,
  type PageRequest,
  PaginatedRequestParams,
  quoted,
  type ReadResourceResult,
  type Resource,
  ResourceRequestParams,
  refuseUnknownOption,
  resourceNotFound,
} from '@mcpx/protocol'
import { mimeTypeOf, toBase64, toText } from './bytes.ts'
import { Catalog, type ServedFile, type ServedSkill } from './catalog.ts'
import { SKILLS_EXTENSION, type Skill } from './skill.ts'
import { createBundleSource, isSource, type SkillBundle, type SkillSource } from './source.ts'
import { normalizeUri } from './uris.ts'

/** The options of `skills`. */
export interface SkillsOptions {
  /**
   * Returns whether a caller can see a skill. `auth` is undefined if the caller is not authenticated. Only `true`
   * grants visibility; a promise does not. Default: all callers see all skills.
   */
  readonly visible?: ((skill: Skill, auth: AuthInfo | undefined) => boolean | undefined) | undefined
  /**
   * The cache hints of entries, lists and files. If `visible` is set, the scope is always private. Default: not
   * cacheable.
   */
  readonly cache?: Pick<CacheableResult, 'ttlMs' | 'cacheScope'> | undefined
  /** The number of skills on a page of a list. Default: 100. */
  readonly pageSize?: number | undefined
  /**
   * Called with an error for each skill that is left out. Default: `onError` of the server, which by default writes to
   * standard error.
   */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** The names of the options of `skills`. */
export const OPTION_NAMES: readonly (keyof SkillsOptions)[] = ['visible', 'cache', 'pageSize', 'onWarning']

/** The parts of a server that the extension uses. */
export interface SkillsHost {
  /** Aborted when the server is closed. */
  readonly closing: AbortSignal
  /** Reports a fault to `onError` of the server. */
  report(error: unknown): unknown
}

/** A method of the extension. */
interface SkillsMethod {
  readonly params: typeof PaginatedRequestParams | typeof ResourceRequestParams
  readonly cacheable: true
  run(params: { readonly uri: string } & PageRequest, ctx: Context): Promise<object>
}

/** The skills extension, for the option `extensions` of `createServer`. */
export interface SkillsExtension {
  /** The id of the extension. */
  readonly id: typeof SKILLS_EXTENSION
  /** The settings that clients see. */
  readonly settings: JsonObject
  /** Called by the server. */
  install(host: SkillsHost): { readonly methods: Readonly<Record<string, SkillsMethod>>; readonly handler: Handler }
}

/**
 * Serves skills from a bundle or from your own source. To serve the skills of a folder, import `skills` from
 * `@mcpx/skills/node`.
 *
 * ```ts
 * const server = createServer(info, { extensions: [skills({ 'git-workflow/SKILL.md': text })] })
 * ```
 *
 * @throws TypeError for a source or an option that does not exist
 */
export function skills(source: SkillBundle | SkillSource, options: SkillsOptions = {}): SkillsExtension {
  refuseUnknownOption('skills', options, OPTION_NAMES)
  if (isSource(source)) return createExtension(source, options)
  if (isObject(source) && !(source instanceof URL))
    return createExtension(createBundleSource(source as SkillBundle), options)
  const remedy = 'for a folder, import `skills` from "@mcpx/skills/node"'
  throw new TypeError(
    `skills: expected files by path, or a source with list() and read(), got ${kindOf(source)}; ${remedy}`,
  )
}

const page = { params: PaginatedRequestParams, cacheable: true } as const
const uri = { params: ResourceRequestParams, cacheable: true } as const

/** @param isEager whether the files are read when the server is created. Default: with the first request */
export function createExtension(source: SkillSource, options: SkillsOptions, isEager = false): SkillsExtension {
  return {
    id: SKILLS_EXTENSION,
    settings: { directoryRead: true },
    install(host) {
      const listeners = new Set<{ readonly onChange: (change: Change) => void }>()
      const publish = () => {
        for (const { onChange } of [...listeners]) onChange({ kind: 'resources' })
      }
      const report = (error: unknown) => void host.report(error)
      const warn = guarded(options.onWarning ?? report, report)
      const catalog = new Catalog(source, warn)
      const service = new SkillService(catalog, options, publish)
      if (isEager) catalog.read().catch(report)
      const refresh = () => void catalog.refresh().then((hasChanged) => hasChanged && publish(), report)
      const stop = source.watch?.(refresh, warn)
      if (stop !== undefined) host.closing.addEventListener('abort', stop, { once: true })
      return {
        methods: {
          'skills/list': { ...page, run: (params, ctx) => service.listSkills(params, ctx) },
          'skills/get': { ...uri, run: (params, ctx) => service.getSkill(params, ctx) },
          'resources/directory/read': { ...uri, run: (params, ctx) => service.readDirectory(params, ctx) },
        },
        // Without `owns`, the server asks this handler only for resources that no other part has.
        handler: {
          listResources: (page, ctx) => service.listResources(page, ctx),
          readResource: (params, ctx) => service.readResource(params, ctx),
          changes(onChange) {
            const entry = { onChange }
            listeners.add(entry)
            return () => void listeners.delete(entry)
          },
        },
      }
    },
  }
}

type Caller = Pick<Context, 'auth'>

/** Answers requests of clients with the entries, files and directories that the caller can see. */
class SkillService {
  readonly #catalog: Catalog
  readonly #visible: (skill: ServedSkill, caller: Caller) => boolean
  readonly #hints: CacheableResult
  readonly #pageSize: number
  readonly #onChange: () => void

  /** @param onChange called if reading a file shows that it has changed */
  constructor(catalog: Catalog, { visible, cache, pageSize = 100 }: SkillsOptions, onChange: () => void) {
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

  /** Lists a directory on one page. A skill never has too many files for one page. */
  async readDirectory({ uri }: { readonly uri: string }, caller: Caller) {
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

  /** Lists the `SKILL.md` of each skill. Clients read the other files by the URIs in the entry. */
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
      // Clients refuse bytes that do not match the entry.
      if (await this.#catalog.refresh()) this.#onChange()
    }
  }

  async #skillsOf(caller: Caller): Promise<readonly ServedSkill[]> {
    return (await this.#catalog.read()).skills.filter((skill) => this.#visible(skill, caller))
  }

  /** Returns the skills of a page and the cursor of the next page. A cursor contains the URI of the last skill. */
  #cut(skills: readonly ServedSkill[], cursor: string | undefined) {
    if (cursor?.startsWith(CURSOR) === false) {
      throw invalidParams('Invalid cursor: it does not belong to this list; request the list without a cursor')
    }
    const rest = skills.filter(({ entry }) => cursor === undefined || entry.uri > cursor.slice(CURSOR.length))
    const items = rest.slice(0, this.#pageSize)
    const frame: CacheableResult & { nextCursor?: string } = { ...this.#hints }
    if (items.length < rest.length) frame.nextCursor = CURSOR + items.at(-1)?.entry.uri
    return { items, frame }
  }
}

/** The first part of each cursor. */
const CURSOR = 'after '

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
