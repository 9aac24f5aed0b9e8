/** The skills of one server. Files are verified when they are read. */

import {
  type Awaitable,
  ErrorCode,
  guarded,
  isObject,
  type JsonObject,
  kindOf,
  quoted,
  type Resource,
  RpcError,
  refuseUnknownOption,
} from '@mcpx/protocol'
import { digestOf, mimeTypeOf, toText } from '../bytes.ts'
import { SKILL_FILE, SKILLS_EXTENSION, type Skill, SkillError, type SkillResource } from '../skill.ts'
import { locateSkill, normalizeUri, resolveReference } from '../uris.ts'
import { checkDigest, type Manifest, readBody, readContents, readManifest } from './manifest.ts'

/** The options of one call. All durations are in ms. */
export interface SkillCallOptions {
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait for each response, in ms. Default: the timeout of the client. */
  readonly timeout?: number | undefined
}

/** A connected client: the result of `connect` of `@mcpx/client`. */
export interface SkillsConnection {
  /** The declared capabilities of the server. */
  readonly server: { readonly capabilities: { readonly extensions?: Readonly<Record<string, unknown>> | undefined } }
  /** Sends a request. */
  request(
    method: string,
    params: JsonObject,
    options: SkillCallOptions & { readonly fresh?: boolean },
  ): Promise<JsonObject>
}

/** The options of `skills`. */
export interface SkillsClientOptions {
  /**
   * Whether skills without digests may be read. Their files cannot be verified, and may differ from the approved files.
   * Default: false.
   */
  readonly allowDynamic?: boolean | undefined
  /** Caches verified files. `false` disables the cache. Default: `createMemoryCache()`, 32 MiB. */
  readonly cache?: SkillCache | false | undefined
  /** Called with each problem that was handled, for example an invalid entry that is left out. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/**
 * Stores files by their digests, such as `sha256:2c26…`. Bytes from the cache are hashed before each use, so a cache
 * that others can write to, such as a folder, cannot change a skill.
 */
export interface SkillCache {
  /** Returns the bytes that were stored for a digest, or undefined. */
  get(digest: string): Awaitable<Uint8Array | undefined>
  /** Stores bytes that have this digest. */
  set(digest: string, bytes: Uint8Array): Awaitable<unknown>
}

/** The size of the cache in memory, in bytes: 32 MiB, twice the size of the largest skill. */
const MAX_BYTES = 32 * 1024 * 1024

/** Creates a cache in memory. If it is full, it removes the least recently used files. */
export function createMemoryCache(): SkillCache {
  const files = new Map<string, Uint8Array>()
  let total = 0
  const remove = (digest: string) => {
    total -= files.get(digest)?.length ?? 0
    files.delete(digest)
  }
  const cache = {
    get(digest: string) {
      const bytes = files.get(digest)
      // Setting the entry again makes it the most recently used one.
      if (bytes !== undefined) cache.set(digest, bytes)
      return bytes
    },
    set(digest: string, bytes: Uint8Array) {
      remove(digest)
      files.set(digest, bytes)
      total += bytes.length
      for (const oldest of files.keys()) if (total > MAX_BYTES) remove(oldest)
    },
  }
  return cache
}

/** A file of a skill. */
export interface SkillFile {
  /** Its URI. */
  readonly uri: string
  /** The bytes. */
  readonly bytes: Uint8Array
  /** The bytes as text. Undefined if they are not UTF-8. */
  readonly text: string | undefined
  /** The MIME type, by the name of the file. Default: none. */
  readonly mimeType: string | undefined
  /** The text of the `SKILL.md` after its frontmatter: the instructions for the model. Undefined for other files. */
  readonly body: string | undefined
  /** Whether the bytes match the digest in the entry. False only for dynamic skills. */
  readonly isVerified: boolean
}

/** The skills of a server. Each method sends its requests when it is called. */
export interface SkillLibrary {
  /** Lists the entries of all skills. Invalid entries are left out with a warning. */
  list(options?: SkillCallOptions): Promise<Skill[]>
  /** Returns the entry of a skill, by the URI of its `SKILL.md`. It also finds skills that the server does not list. */
  get(uri: string, options?: SkillCallOptions): Promise<Skill>
  /**
   * Reads a file of a skill: its `SKILL.md`, or the file that a reference in it names, such as `references/FORMS.md`. A file that is
   * not in the entry is not requested. Rejects with `SkillError` if the bytes differ from the entry; do not use the skill in that case.
   */
  read(skill: Skill, reference?: string, options?: SkillCallOptions): Promise<SkillFile>
  /**
   * Lists a directory, by its URI without a slash at the end. Sub-directories have the MIME type `inode/directory`. To
   * list the files of a skill, use `skill.resources`, which needs no request.
   */
  readDirectory(uri: string, options?: SkillCallOptions): Promise<Resource[]>
}

/**
 * The largest number of pages of one list, and of characters in the JSON of all items, which is the limit of one
 * message.
 */
const MAX_PAGES = 1_000
const MAX_CHARACTERS = 32 * 1024 * 1024

export const LIBRARY_OPTIONS: readonly (keyof SkillsClientOptions)[] = ['allowDynamic', 'cache', 'onWarning']

/**
 * Returns the skills of a connected server. Each file is verified against the entry of its skill.
 *
 * ```ts
 * const library = skills(await connect(http(url)))
 * const [skill] = await library.list()
 * const { body } = await library.read(skill)
 * ```
 *
 * If the server has no skills, calls reject with a `SkillError` whose reason is `unsupported`.
 */
export function skills(client: SkillsConnection, options: SkillsClientOptions = {}): SkillLibrary {
  checkConnection('skills', client)
  refuseUnknownOption('skills', options, LIBRARY_OPTIONS)
  return new Library(client, options)
}

export function checkConnection(place: string, client: unknown): void {
  if (isObject(client) && typeof client.request === 'function') return
  throw new TypeError(`${place}: expected a connected client, got ${kindOf(client)}; write await connect(…)`)
}

/** Returns the bytes of a file from a cache. Returns undefined if they are missing or do not match the digest. */
async function readCache(cache: SkillCache, { digest, size }: SkillResource) {
  const bytes = (await cache.get(digest)) as Uint8Array<ArrayBuffer> | undefined
  return bytes?.length === size && (await digestOf(bytes)) === digest ? bytes : undefined
}

class Library implements SkillLibrary {
  readonly #client: SkillsConnection
  readonly #allowDynamic: boolean
  readonly #cache: SkillCache | undefined
  readonly #onWarning: (warning: Error) => void

  constructor(client: SkillsConnection, { allowDynamic = false, cache, onWarning }: SkillsClientOptions) {
    this.#client = client
    this.#allowDynamic = allowDynamic
    this.#cache = cache === false ? undefined : (cache ?? createMemoryCache())
    this.#onWarning = guarded(onWarning)
  }

  async list(options: SkillCallOptions = {}): Promise<Skill[]> {
    this.#checkSupport()
    const skills = new Map<string, Skill>()
    for (const entry of await this.#readPages('skills/list', 'skills', {}, options)) {
      try {
        const { skill, directory } = readManifest(entry)
        if (skills.has(directory)) throw new SkillError('invalid-skill', `skill ${quoted(skill.uri)} is listed twice`)
        skills.set(directory, skill)
      } catch (error) {
        if (!(error instanceof SkillError)) throw error
        this.#onWarning(error)
      }
    }
    return [...skills.values()]
  }

  async get(uri: string, options: SkillCallOptions = {}): Promise<Skill> {
    this.#checkSupport()
    const location = locateSkill(uri)
    if (location === undefined) {
      throw new TypeError(`get(uri): expected the URI of a SKILL.md, got ${quoted(uri)}`)
    }
    let result: JsonObject
    try {
      result = await this.#client.request('skills/get', { uri }, options)
    } catch (cause) {
      if (!(cause instanceof RpcError) || cause.code !== ErrorCode.InvalidParams) throw cause
      throw new SkillError('not-found', `The server has no skill ${quoted(uri)}`, { cause })
    }
    const { skill, directory } = readManifest(result.skill)
    if (directory === location.directory) return skill
    throw new SkillError(
      'invalid-skill',
      `skills/get: expected the entry of ${quoted(uri)}, got that of ${quoted(skill.uri)}`,
    )
  }

  async read(skill: Skill, reference: string = SKILL_FILE, options: SkillCallOptions = {}): Promise<SkillFile> {
    this.#checkSupport()
    const manifest = readManifest(skill)
    const uri = this.#findFile(manifest, reference)
    const bytes = await this.#readBytes(manifest, uri, options)
    const isSkillFile = uri === `${manifest.directory}/${SKILL_FILE}`
    return {
      uri,
      bytes,
      text: toText(bytes),
      mimeType: mimeTypeOf(uri),
      body: isSkillFile ? readBody(skill, bytes) : undefined,
      isVerified: manifest.files !== undefined,
    }
  }

  /** Returns the normalized URI of the file that a reference names. */
  #findFile({ skill, directory, files }: Manifest, reference: string): string {
    if (files === undefined && !this.#allowDynamic) throw dynamicError(skill)
    const found = resolveReference(directory, reference).find((uri) =>
      files === undefined ? uri.startsWith(`${directory}/`) : files.has(uri),
    )
    if (found !== undefined) return found
    const problem = `skill ${quoted(skill.uri)} has no file ${quoted(reference)}, so it was not requested`
    throw new SkillError('not-in-manifest', `${problem}; \`resources\` of its entry lists all files`)
  }

  async #readBytes({ files }: Manifest, uri: string, options: SkillCallOptions): Promise<Uint8Array<ArrayBuffer>> {
    const resource = files?.get(uri)
    const kept = resource && (await this.#useCache((cache) => readCache(cache, resource)))
    if (kept !== undefined) return kept
    // Request the file again, because a cached response may be older than the entry.
    const sent = { uri: resource?.uri ?? uri }
    const result = await this.#client.request('resources/read', sent, { ...options, fresh: true })
    const bytes = readContents(uri, result, resource?.size)
    if (resource === undefined) return bytes
    await checkDigest(resource, bytes)
    await this.#useCache((cache) => cache.set(resource.digest, bytes))
    return bytes
  }

  /** Calls the cache. A failure, for example because a disk is full, counts as a missing file. */
  async #useCache<Result>(use: (cache: SkillCache) => Awaitable<Result>): Promise<Result | undefined> {
    try {
      return this.#cache && (await use(this.#cache))
    } catch (cause) {
      this.#onWarning(new Error('The cache of skills failed, so its files are requested again', { cause }))
      return undefined
    }
  }

  async readDirectory(uri: string, options: SkillCallOptions = {}): Promise<Resource[]> {
    if (this.#checkSupport().directoryRead !== true) {
      const remedy = '`resources` of an entry lists all files of a skill'
      throw new SkillError('unsupported', `The server does not list directories; ${remedy}`)
    }
    const directory = normalizeUri(uri)
    if (directory === undefined) {
      throw new TypeError(`readDirectory(uri): expected a URI without a slash at its end, got ${quoted(uri)}`)
    }
    const children = await this.#readPages('resources/directory/read', 'resources', { uri }, options)
    return children.filter((child): child is Resource => {
      const found = isObject(child) && typeof child.uri === 'string' ? normalizeUri(child.uri) : undefined
      if (found?.startsWith(`${directory}/`)) return true
      this.#onWarning(
        new SkillError('invalid-contents', `directory ${quoted(uri)}: left out a child that is not in it`),
      )
      return false
    })
  }

  /** Returns the items of all pages of a list. */
  async #readPages(method: string, member: string, params: JsonObject, options: SkillCallOptions): Promise<unknown[]> {
    const all: unknown[] = []
    const cursors = new Set<unknown>()
    let characters = 0
    let cursor: unknown
    do {
      const page = await this.#client.request(method, cursor === undefined ? params : { ...params, cursor }, options)
      const items = page[member]
      if (!Array.isArray(items)) {
        throw new SkillError('invalid-contents', `${method}: result.${member}: expected array, got ${kindOf(items)}`)
      }
      characters += JSON.stringify(items).length
      cursor = page.nextCursor
      if (cursors.has(cursor))
        throw new SkillError('invalid-contents', `${method}: a page has the cursor of an earlier page`)
      if (characters > MAX_CHARACTERS || cursors.size === MAX_PAGES) {
        throw new SkillError('limit', `${method}: expected at most ${MAX_PAGES} pages and 32 Mi characters, got more`)
      }
      for (const item of items) all.push(item)
      cursors.add(cursor)
    } while (typeof cursor === 'string' && cursor !== '')
    return all
  }

  /** Returns the settings that the server declares. Throws if the server has no skills. */
  #checkSupport(): Readonly<Record<string, unknown>> {
    const settings = this.#client.server.capabilities.extensions?.[SKILLS_EXTENSION]
    if (isObject(settings)) return settings
    throw new SkillError('unsupported', `The server offers no skills: it does not declare ${SKILLS_EXTENSION}`)
  }
}

/** Creates the error for a skill without digests if the options do not allow such skills. */
export function dynamicError({ uri }: Skill): SkillError {
  const remedy = 'pass `allowDynamic: true` to accept files that cannot be verified'
  return new SkillError('dynamic', `skill ${quoted(uri)} has no digests; ${remedy}`)
}
