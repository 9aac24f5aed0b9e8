/**
 * Locks the definitions of a server: its tools, prompts and resources at the time of a review. If they change later,
 * the server is refused, or the change is reported.
 */

import {
  type Implementation,
  isObject,
  type JsonObject,
  kindOf,
  type Prompt,
  quoted,
  type Resource,
  type ResourceTemplate,
  type Tool,
} from '@mcpx/protocol'
import type { Client } from './client.ts'

/** The definitions of a server, as `mcpx.lock.json` stores them. All members are sorted by name. */
export interface ServerLock {
  /** The version of the format. */
  readonly version: 1
  /** The name and the version of the server. */
  readonly server: Pick<Implementation, 'name' | 'version'> | null
  /** The instructions for the model, if there are any. */
  readonly instructions: string | null
  /** The tools, by name. */
  readonly tools: Readonly<Record<string, JsonObject>>
  /** The prompts, by name. */
  readonly prompts: Readonly<Record<string, JsonObject>>
  /** The resources, by URI. */
  readonly resources: Readonly<Record<string, JsonObject>>
  /** The resource templates, by URI template. */
  readonly resourceTemplates: Readonly<Record<string, JsonObject>>
}

/**
 * The risk of a difference. `high`: it changes text that the model reads, allows a tool to do more, or breaks calls.
 */
export type LockRisk = 'high' | 'medium' | 'low'

/** A difference between a lock and the server. */
export interface LockDifference {
  /** The kind of item that differs. */
  readonly item: 'server' | 'tool' | 'prompt' | 'resource' | 'resource template'
  /** The name of the tool or prompt, or the URI. Empty for the server. */
  readonly name: string
  /** `added` or `removed` for a whole item, `changed` if a member differs. */
  readonly change: 'added' | 'removed' | 'changed'
  /** The member that differs, such as `inputSchema.properties.q.type`. Empty for a whole item. */
  readonly path: string
  /** The value in the lock. Undefined if it was absent. */
  readonly before: unknown
  /** The value of the server. Undefined if it is absent. */
  readonly after: unknown
  /** The risk of the difference. */
  readonly risk: LockRisk
  /** The reason for this risk, in one sentence. */
  readonly reason: string
}

const SECTIONS = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
} as const
type Section = keyof typeof SECTIONS

/** The section of each list method. */
const LISTED: Readonly<Record<string, Section>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

/** The error of a server that has changed since it was locked. */
export class LockError extends Error {
  override readonly name = 'LockError'
  /** The differences, highest risk first. */
  readonly differences: readonly LockDifference[]

  constructor(differences: readonly LockDifference[]) {
    const shown = differences.slice(0, 5).map((difference) => `\n  ${describeDifference(difference)}`)
    const rest = differences.length > shown.length ? `\n  and ${differences.length - shown.length} more` : ''
    super(
      `The server differs from its lock; review the differences and lock it again if they are right:${shown.join('')}${rest}`,
    )
    this.differences = differences
  }
}

/** The members of a client that `createLock` uses. */
type LockableClient = Pick<Client, 'server' | 'listTools' | 'listPrompts' | 'listResources' | 'listResourceTemplates'>

/** Reads the definitions of a server. The result is plain JSON. Equal definitions return an equal result. */
export async function createLock(client: LockableClient): Promise<ServerLock> {
  const { info, instructions, capabilities } = client.server
  const options = { fresh: true }
  const [tools, prompts, resources, templates] = await Promise.all([
    capabilities.tools === undefined ? [] : client.listTools(options).all(),
    capabilities.prompts === undefined ? [] : client.listPrompts(options).all(),
    capabilities.resources === undefined ? [] : client.listResources(options).all(),
    capabilities.resources === undefined ? [] : client.listResourceTemplates(options).all(),
  ])
  return {
    version: 1,
    server: info === undefined ? null : { name: info.name, version: info.version },
    instructions: instructions ?? null,
    tools: indexItems('tools', tools),
    prompts: indexItems('prompts', prompts),
    resources: indexItems('resources', resources),
    resourceTemplates: indexItems('resourceTemplates', templates),
  }
}

type Item = Tool | Prompt | Resource | ResourceTemplate

function nameOf(section: Section, item: Item): string {
  if (section === 'resources') return (item as Resource).uri
  return section === 'resourceTemplates' ? (item as ResourceTemplate).uriTemplate : item.name
}

function indexItems(section: Section, items: readonly Item[]): Record<string, JsonObject> {
  const entries = items.map((item) => [nameOf(section, item), sortMembers(item) as JsonObject] as const)
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/** Returns a copy of a JSON value with the members of objects sorted by name. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .sort()
      .map((name) => [name, sortMembers(value[name])]),
  )
}

/** Returns the differences between a lock and a server, highest risk first. */
export function compareLock(lock: ServerLock, current: ServerLock): LockDifference[] {
  checkLock(lock)
  const server = [
    ...compareValues({ item: 'server', name: '' }, 'name', lock.server?.name, current.server?.name),
    ...compareValues({ item: 'server', name: '' }, 'version', lock.server?.version, current.server?.version),
    ...compareValues({ item: 'server', name: '' }, 'instructions', lock.instructions, current.instructions),
  ]
  const items = (Object.keys(SECTIONS) as Section[]).flatMap((section) => {
    const [before, after] = [lock[section], current[section]]
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) => compareItems(section, name, memberOf(before, name), memberOf(after, name)))
  })
  const order: readonly LockRisk[] = ['high', 'medium', 'low']
  return [...server, ...items].toSorted((left, right) => order.indexOf(left.risk) - order.indexOf(right.risk))
}

/** Throws a `TypeError` for a value that is not a lock. */
export function checkLock(lock: unknown): asserts lock is ServerLock {
  if (!isObject(lock)) throw new TypeError(`lock: expected an object of mcpx.lock.json, got ${kindOf(lock)}`)
  if (lock.version !== 1) throw new TypeError('lock: expected a lock of version 1; write it again with `mcpx lock`')
  for (const section of Object.keys(SECTIONS)) {
    if (!isObject(lock[section])) {
      throw new TypeError(`lock.${section}: expected an object, got ${kindOf(lock[section])}`)
    }
  }
}

/** Compares the lists of a server with a lock as long as the client is open. */
export class LockGuard {
  readonly #lock: ServerLock
  readonly #onDifference: ((differences: readonly LockDifference[]) => void) | undefined
  /** False until the client has compared the whole server. */
  isActive = false

  constructor(lock: ServerLock, onDifference: ((differences: readonly LockDifference[]) => void) | undefined) {
    checkLock(lock)
    this.#lock = lock
    this.#onDifference = onDifference
  }

  /** Compares the whole server. Throws a `LockError` unless differences are only reported. */
  async checkServer(client: LockableClient): Promise<void> {
    this.#handle(compareLock(this.#lock, await createLock(client)))
    this.isActive = true
  }

  /** Compares the items of one page of a list. */
  checkPage(method: string, items: readonly Item[]): void {
    const section = LISTED[method]
    if (!this.isActive || section === undefined) return
    const differences = items.flatMap((item) => {
      const name = nameOf(section, item)
      return compareItems(section, name, memberOf(this.#lock[section], name), sortMembers(item))
    })
    this.#handle(differences)
  }

  #handle(differences: readonly LockDifference[]): void {
    if (differences.length === 0) return
    if (this.#onDifference === undefined) throw new LockError(differences)
    this.#onDifference(differences)
  }
}

/** Describes a difference in one line. */
export function describeDifference({ item, name, change, path, before, after, risk, reason }: LockDifference): string {
  const subject = item === 'server' ? 'server' : `${item} ${quoted(name)}`
  const place =
    path === '' ? `${subject} was ${change}` : `${subject}, ${path}: ${shown(before)} became ${shown(after)}`
  return `[${risk}] ${place} (${reason})`
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}

function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

type Subject = Pick<LockDifference, 'item' | 'name'>

function compareItems(section: Section, name: string, before: unknown, after: unknown): LockDifference[] {
  const subject: Subject = { item: SECTIONS[section], name }
  if (before === undefined || after === undefined) {
    const change = before === undefined ? 'added' : 'removed'
    return [{ ...subject, change, path: '', before, after, ...rateItem(section, change) }]
  }
  return compareValues(subject, '', before, after)
}

function compareValues(subject: Subject, path: string, before: unknown, after: unknown): LockDifference[] {
  if (isObject(before) && isObject(after)) {
    return Object.keys({ ...before, ...after }).flatMap((name) =>
      compareValues(subject, path === '' ? name : `${path}.${name}`, memberOf(before, name), memberOf(after, name)),
    )
  }
  if (JSON.stringify(sortMembers(before)) === JSON.stringify(sortMembers(after))) return []
  return [{ ...subject, change: 'changed', path, before, after, ...rateMember(subject.item, path, before, after) }]
}

interface Rating {
  readonly risk: LockRisk
  readonly reason: string
}

function rateItem(section: Section, change: 'added' | 'removed'): Rating {
  if (change === 'removed') return { risk: section === 'tools' ? 'high' : 'medium', reason: 'it can no longer be used' }
  return section === 'tools'
    ? { risk: 'high', reason: 'the model can call a tool that nobody reviewed' }
    : { risk: 'medium', reason: 'the server offers an item that nobody reviewed' }
}

const READ_BY_MODEL = /(?:^|\.)(?:description|instructions)$/
const CHANGES_CALLS = /^inputSchema\.|^arguments$/
const BREAKS_CALLS = /^arguments$|(?:^|\.)(?:type|required|enum|const|additionalProperties|pattern)$/

function rateMember(item: Subject['item'], path: string, before: unknown, after: unknown): Rating {
  if (READ_BY_MODEL.test(path)) return { risk: 'high', reason: 'the model reads another text' }
  if (path.startsWith('annotations.')) {
    const isWeaker = path === 'annotations.readOnlyHint' ? before === true : after === true
    const isHint = path !== 'annotations.title' && path !== 'annotations.idempotentHint'
    return isWeaker && isHint
      ? { risk: 'high', reason: 'the tool may do more than before' }
      : { risk: 'low', reason: 'a hint about the tool changed' }
  }
  if (CHANGES_CALLS.test(path)) {
    if (before !== undefined && after !== undefined && !BREAKS_CALLS.test(path)) {
      return { risk: 'medium', reason: 'other arguments are valid' }
    }
    return before === undefined
      ? { risk: 'medium', reason: 'the model can send more data' }
      : { risk: 'high', reason: 'calls that were valid may fail' }
  }
  if (path.startsWith('outputSchema')) return { risk: 'medium', reason: 'results have another form' }
  if (item === 'server' && path === 'name') return { risk: 'high', reason: 'it may be another server' }
  return { risk: 'low', reason: 'it changes neither calls nor what the model reads' }
}
