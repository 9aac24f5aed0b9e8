/** Combines the skills of several servers under unique names, and stores approvals, which end when a skill changes. */

import { type Awaitable, guarded, isObject, kindOf, quoted, refuseUnknownOption } from '@mcpx/protocol'
import { digestOf } from '../bytes.ts'
import { SKILL_FILE, type Skill, SkillError } from '../skill.ts'
import { locateSkill } from '../uris.ts'
import {
  checkConnection,
  createMemoryCache,
  dynamicError,
  LIBRARY_OPTIONS,
  type SkillCallOptions,
  type SkillFile,
  type SkillLibrary,
  type SkillsClientOptions,
  type SkillsConnection,
  skills,
} from './library.ts'
import { readManifest } from './manifest.ts'

/** A skill of a registry. */
export interface RegisteredSkill {
  /** The unique name: the label of the server, a slash, and the path of the skill, such as `shop/acme/refunds`. */
  readonly name: string
  /** The label that the host has given to the server. */
  readonly server: string
  /** The entry of the skill. */
  readonly skill: Skill
  /** Whether exactly this frontmatter and these files are approved. */
  readonly isApproved: boolean
}

/** A skill that must be approved before it is loaded. */
export interface ApprovalRequest extends RegisteredSkill {
  /** Whether an earlier version of the skill was approved. */
  readonly hasChanged: boolean
}

/**
 * Stores approvals: for each skill, a hash of its frontmatter and of the URIs and digests of its files. A `Map`
 * implements this interface. To keep approvals, save its entries, and pass `new Map(entries)` at the next start.
 */
export interface ApprovalStore {
  /** Returns the hash that was stored for a skill, or undefined. */
  get(skill: string): Awaitable<string | undefined>
  /** Stores the hash of the entry that was approved. */
  set(skill: string, hash: string): Awaitable<unknown>
  /** Removes the approval of a skill. */
  delete(skill: string): Awaitable<unknown>
}

/** The options of `createSkillRegistry`. */
export interface SkillRegistryOptions extends SkillsClientOptions {
  /**
   * Asks the user whether to approve a skill. Called when the skill is loaded for the first time, and after it has
   * changed. Only `true` approves. Default: none; then call `registry.approve`.
   */
  readonly approve?: ((request: ApprovalRequest) => Awaitable<boolean>) | undefined
  /** Stores the approvals. Default: a new `Map`, which lasts as long as the process. */
  readonly approvals?: ApprovalStore | undefined
}

/** The skills of several servers. A file is requested only from the server of its skill. */
export interface SkillRegistry {
  /** Whether unapproved skills can be loaded, because the option `approve` asks the user. */
  readonly canAsk: boolean
  /**
   * Lists the skills of all servers, in the order of the servers. A server without skills is skipped, and a server that
   * fails is skipped with a warning.
   */
  list(options?: SkillCallOptions): Promise<RegisteredSkill[]>
  /**
   * Loads a skill: gets its entry, checks the approval, and reads its `SKILL.md`. Pass `body` to the model. An approval
   * permits only to load the skill; `allowed-tools` and other members of the frontmatter have no effect.
   */
  load(name: string, options?: SkillCallOptions): Promise<LoadedSkill>
  /** Reads another file of an approved skill, by a reference in its `SKILL.md`. */
  read(name: string, reference: string, options?: SkillCallOptions): Promise<SkillFile>
  /**
   * Approves a skill of `list` with exactly this frontmatter and these files. After a change, the skill must be
   * approved again.
   */
  approve(skill: RegisteredSkill): Promise<void>
  /** Removes the approval of a skill. */
  revoke(name: string): Promise<void>
  /** Adds a server. Its label must not be in use. */
  add(label: string, client: SkillsConnection): void
  /** Removes a server with its skills. Their approvals stay. */
  remove(label: string): void
}

/** A skill with its instructions. */
export interface LoadedSkill extends RegisteredSkill {
  /** The instructions: the text of the `SKILL.md` after its frontmatter. */
  readonly body: string
}

const OPTION_NAMES = ['approve', 'approvals', ...LIBRARY_OPTIONS] satisfies (keyof SkillRegistryOptions)[]

/**
 * Combines the skills of several servers. You choose the labels; the names of servers are not used.
 *
 * ```ts
 * const registry = createSkillRegistry({ docs, shop }, { approve: ({ name }) => askUser(`Use the skill ${name}?`) })
 * const { body } = await registry.load('docs/git-workflow')
 * ```
 *
 * @param servers connected clients by label, such as `clients` of `connectAll`. Undefined clients are left out
 * @throws TypeError for an option that does not exist
 * @throws RangeError if a label contains other characters than letters, digits, `.`, `_` and `-`
 */
export function createSkillRegistry(
  servers: Readonly<Record<string, SkillsConnection | undefined>>,
  options: SkillRegistryOptions = {},
): SkillRegistry {
  if (!isObject(servers)) {
    throw new TypeError(`createSkillRegistry: expected clients by label, got ${kindOf(servers)}`)
  }
  refuseUnknownOption('createSkillRegistry', options, OPTION_NAMES)
  const registry = new Registry(options)
  for (const [label, client] of Object.entries(servers)) if (client !== undefined) registry.add(label, client)
  return registry
}

/** A server of a registry. */
interface Member {
  readonly label: string
  readonly library: SkillLibrary
  /** The newest entry of each skill, by URI. */
  readonly entries: Map<string, Skill>
}

class Registry implements SkillRegistry {
  readonly #options: SkillsClientOptions
  readonly #ask: SkillRegistryOptions['approve']
  readonly #approvals: ApprovalStore
  readonly #onWarning: (warning: Error) => void
  readonly #members = new Map<string, Member>()
  /** The approved dynamic skills. Their approval is not stored, because they have no digests. */
  readonly #dynamic = new Set<string>()

  constructor({ approve, approvals = new Map(), cache, ...options }: SkillRegistryOptions) {
    this.#options = { ...options, cache: cache ?? createMemoryCache() }
    this.#ask = approve
    this.#approvals = approvals
    this.#onWarning = guarded(options.onWarning)
  }

  get canAsk(): boolean {
    return this.#ask !== undefined
  }

  add(label: string, client: SkillsConnection): void {
    checkConnection(`the client of ${quoted(label)}`, client)
    if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(label)) {
      const expected = 'expected at most 64 letters, digits, ".", "_" and "-"'
      throw new RangeError(`createSkillRegistry: the label ${quoted(label)}: ${expected}`)
    }
    if (this.#members.has(label))
      throw new RangeError(`add: there is a server ${quoted(label)} already; remove it first`)
    this.#members.set(label, { label, library: skills(client, this.#options), entries: new Map() })
  }

  remove(label: string): void {
    this.#members.delete(label)
  }

  async list(options?: SkillCallOptions): Promise<RegisteredSkill[]> {
    const lists = await Promise.all([...this.#members.values()].map((member) => this.#listOf(member, options)))
    return lists.flat()
  }

  async #listOf(member: Member, options: SkillCallOptions | undefined): Promise<RegisteredSkill[]> {
    try {
      const entries = await member.library.list(options)
      return await Promise.all(entries.map((skill) => this.#hold(member, skill)))
    } catch (cause) {
      options?.signal?.throwIfAborted()
      if (!(cause instanceof SkillError) || cause.reason !== 'unsupported') {
        this.#onWarning(new Error(`The skills of the server ${quoted(member.label)} cannot be listed`, { cause }))
      }
      return []
    }
  }

  async load(name: string, options?: SkillCallOptions): Promise<LoadedSkill> {
    const { member, uri } = this.#find(name)
    this.#dynamic.delete(keyOf(member, uri))
    const published = member.entries.get(uri)?.uri ?? uri
    const { hasChanged, ...held } = await this.#hold(member, await member.library.get(published, options))
    await this.#requireApproval({ ...held, hasChanged })
    const { body = '' } = await member.library.read(held.skill, SKILL_FILE, options)
    return { ...held, isApproved: true, body }
  }

  async read(name: string, reference: string, options?: SkillCallOptions): Promise<SkillFile> {
    const { member, uri } = this.#find(name)
    const held = await this.#hold(member, member.entries.get(uri) ?? (await member.library.get(uri, options)))
    await this.#requireApproval(held)
    return member.library.read(held.skill, reference, options)
  }

  async approve({ name, skill }: RegisteredSkill): Promise<void> {
    const { member, uri } = this.#find(name)
    const hash = await hashEntry(skill)
    if (hash !== undefined) await this.#approvals.set(keyOf(member, uri), hash)
    else this.#dynamic.add(keyOf(member, uri))
  }

  async revoke(name: string): Promise<void> {
    const { member, uri } = this.#find(name)
    this.#dynamic.delete(keyOf(member, uri))
    await this.#approvals.delete(keyOf(member, uri))
  }

  /**
   * Stores an entry. If another version was approved, the approval ends, even if the server restores that version
   * later.
   */
  async #hold(member: Member, skill: Skill): Promise<ApprovalRequest> {
    const name = nameOf(member.label, skill.uri)
    const { uri } = this.#find(name)
    member.entries.set(uri, skill)
    const key = keyOf(member, uri)
    const approved = await this.#approvals.get(key)
    const hash = await hashEntry(skill)
    const isApproved = hash === undefined ? this.#dynamic.has(key) : approved === hash
    if (approved !== undefined && approved !== hash && approved !== CHANGED) {
      await this.#approvals.set(key, CHANGED)
      const remedy = 'its approval has ended; approve it again'
      this.#onWarning(new SkillError('not-approved', `The skill ${quoted(name)} has changed; ${remedy}`))
    }
    return { name, server: member.label, skill, isApproved, hasChanged: approved !== undefined && !isApproved }
  }

  async #requireApproval(request: ApprovalRequest): Promise<void> {
    if (request.isApproved) return
    const { name, skill, hasChanged } = request
    if (skill.resources === 'dynamic' && !this.#options.allowDynamic) throw dynamicError(skill)
    if ((await this.#ask?.(request)) !== true) {
      const problem = hasChanged ? 'has changed, and the user has not approved the change' : 'is not approved'
      throw new SkillError(
        'not-approved',
        `The skill ${quoted(name)} ${problem}; to ask the user again, load the skill again`,
      )
    }
    await this.approve(request)
  }

  /** Returns the server of a skill, and the normalized URI of its `SKILL.md`. */
  #find(name: string): { member: Member; uri: string } {
    if (typeof name !== 'string') {
      throw new TypeError(`registry: expected the name of a skill, or a skill of list(), got ${kindOf(name)}`)
    }
    const end = name.indexOf('/')
    const member = this.#members.get(name.slice(0, Math.max(end, 0)))
    const path = name.slice(end + 1)
    const uri = `${/^[a-z][a-z\d+.-]*:\/\//.test(path) ? '' : 'skill://'}${path}/${SKILL_FILE}`
    const location = locateSkill(uri)
    if (member !== undefined && location !== undefined) return { member, uri: `${location.directory}/${SKILL_FILE}` }
    const labels = [...this.#members.keys()].slice(0, 20).join(', ')
    const expected = `expected a server, a slash and the path of a skill; the servers are ${labels}`
    throw new SkillError('not-found', `There is no skill ${quoted(name)}; ${expected}`)
  }
}

/** Replaces the hash of an approval that has ended. */
const CHANGED = 'changed'

function keyOf({ label }: Member, uri: string): string {
  return `${label} ${uri}`
}

/**
 * Returns the name of a skill. If the URI has another scheme than `skill:`, the name contains the whole URI, so that
 * names are unique.
 */
function nameOf(label: string, uri: string): string {
  const directory = locateSkill(uri)?.directory ?? uri
  return `${label}/${directory.replace(/^skill:\/\//, '')}`
}

/**
 * Returns a hash of the frontmatter and of the URIs and digests of all files. Returns undefined for a dynamic skill.
 * The hash includes the frontmatter, because models see the description before the `SKILL.md` is read and compared with
 * the entry.
 */
async function hashEntry(skill: Skill): Promise<string | undefined> {
  const { files } = readManifest(skill)
  if (files === undefined) return undefined
  const lines = [...files].map(([uri, { digest }]) => `${uri} ${digest}\n`).sort()
  const frontmatter = JSON.stringify(skill.frontmatter, (_, value: unknown) =>
    isObject(value) ? sortMembers(value) : value,
  )
  return digestOf(new TextEncoder().encode(lines.join('') + frontmatter))
}

/** Sorts members, and removes members that are null, because servers may send them in any order or leave them out. */
function sortMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sorted = Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(sorted.filter(([, value]) => value !== null))
}
