/** Combines several handlers into one: lists are joined, and each name belongs to one of them. */

import {
  type Awaitable,
  type CacheableResult,
  type Context,
  ErrorCode,
  type Handler,
  type PageRequest,
  RpcError,
} from '@mcpx/protocol'
import {
  createDynamicHandler,
  type ItemKind,
  type ItemName,
  itemNameIn,
  NAMING_MEMBERS,
  type NamingMember,
  type NamingParams,
  unknownNameError,
} from '../dispatch.ts'
import { readCursor, writeCursor } from '../named-items.ts'

/** A kind of item that a mounted server can own. */
export type OwnedKind = ItemKind

/** A handler that knows its names. A handler without `owns` is a catch-all: it is asked for names that nobody owns. */
export interface OwningHandler extends Handler {
  /**
   * Whether the handler has an item of this name, even if the caller may not see it. A resource is named by its URI, a
   * template by the template. Must not throw, and must be fast: it is called for each item of a list.
   */
  owns?(kind: OwnedKind, name: string): boolean
}

/** The member without which a handler has no items of the kind. */
const ANSWERING_MEMBERS = { tool: 'callTool', prompt: 'getPrompt', resource: 'readResource' } as const

/**
 * Asks the parts in order; of two items with one name, the first part's counts, and lists omit the other. The combined
 * handler has a member while any part has it. A single part is returned as it is.
 *
 * @param changes listens to all parts
 */
export function combine(parts: readonly Handler[], changes?: Handler['changes']): OwningHandler {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const all: readonly OwningHandler[] = [...parts]
  const handler: OwningHandler = createDynamicHandler(
    { ...createMembers(all), ...(changes && { changes }) },
    (member) => all.some((part) => part[member] !== undefined),
  )
  // With a catch-all among the parts, nobody can know which names do not exist.
  if (all.every((part) => part.owns !== undefined)) {
    handler.owns = (kind, name) => all.some((part) => isOwner(part, { kind, name }))
  }
  return handler
}

function createMembers(parts: readonly OwningHandler[]): Record<string, (...args: never) => unknown> {
  const setLogLevel: Handler['setLogLevel'] = async (params, ctx) => {
    await Promise.all(parts.map(async (part) => part.setLogLevel?.(params, ctx)))
  }
  const lists = LISTS.map((list) => [list.member, createJoinedList(parts, list)])
  const naming = Object.keys(NAMING_MEMBERS).map((member) => [member, createRouter(parts, member as NamingMember)])
  return { setLogLevel, ...Object.fromEntries([...lists, ...naming]) }
}

/** A part without the member is not asked: it proposes nothing, and has no subscriptions. */
function createRouter(parts: readonly OwningHandler[], member: NamingMember) {
  const fallback = member === 'complete' ? { completion: { values: [] } } : undefined
  return async (params: NamingParams, ctx: Context): Promise<unknown> => {
    const call = async (part: Handler): Promise<unknown> => {
      return part[member] === undefined ? fallback : part[member](params as never, ctx)
    }
    const item = itemNameIn(member, params)
    const owner = parts.find((part) => isOwner(part, item))
    return owner === undefined ? callCatchAll(parts, item, call) : call(owner)
  }
}

/** Calls the catch-alls in order, until one does not say that the name, or another parameter, is invalid. */
async function callCatchAll<Result>(
  parts: readonly OwningHandler[],
  item: ItemName,
  call: (part: Handler) => Promise<Result>,
): Promise<Result> {
  let failure: unknown
  for (const part of parts) {
    if (part.owns !== undefined || part[ANSWERING_MEMBERS[item.kind]] === undefined) continue
    try {
      return await call(part)
    } catch (error) {
      if (!isNameError(error)) throw error
      failure ??= error
    }
  }
  throw failure ?? unknownNameError(item)
}

/** Whether an error may mean that a name does not exist. */
export function isNameError(error: unknown): error is RpcError {
  return (
    error instanceof RpcError && (error.code === ErrorCode.InvalidParams || error.code === ErrorCode.ResourceNotFound)
  )
}

function isOwner(part: OwningHandler, { kind, name }: ItemName): boolean {
  return part.owns !== undefined && part[ANSWERING_MEMBERS[kind]] !== undefined && part.owns(kind, name)
}

/** Whether another part than the one at this index answers for the name. Owners precede catch-alls. */
function isTaken(parts: readonly OwningHandler[], index: number, item: ItemName): boolean {
  const isCatchAll = parts[index]?.owns === undefined
  return parts.some((part, other) => (isCatchAll ? other !== index : other < index) && isOwner(part, item))
}

/** A list of handlers, and what its items are called. */
export interface List {
  readonly member: 'listTools' | 'listPrompts' | 'listResources' | 'listResourceTemplates'
  readonly items: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'
  readonly kind: ItemKind
  readonly name: 'name' | 'uri' | 'uriTemplate'
}

export const LISTS: readonly List[] = [
  { member: 'listTools', items: 'tools', kind: 'tool', name: 'name' },
  { member: 'listPrompts', items: 'prompts', kind: 'prompt', name: 'name' },
  { member: 'listResources', items: 'resources', kind: 'resource', name: 'uri' },
  { member: 'listResourceTemplates', items: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' },
]

type Item = Readonly<Record<List['name'], string>>

/** A page of any list. */
export type ListResult = CacheableResult & { nextCursor?: string | undefined } & Readonly<
    Record<List['items'], readonly Item[]>
  >

/** A handler, for code that treats all lists alike. */
export type ListingHandler = Readonly<
  Partial<Record<List['member'], (page: PageRequest, ctx: Context) => Awaitable<ListResult> | undefined>>
>

/** Pages of joined lists hold at most this many items. A page of a part is never cut. */
const PAGE_SIZE = 1_000

/** The position at which a joined list continues. */
interface Position {
  /** The index of the part. */
  readonly index: number
  /** The part's own cursor; undefined for its first page. */
  readonly cursor: string | undefined
}

/** Joins the lists of several parts page by page. */
function createJoinedList(parts: readonly OwningHandler[], list: List) {
  const has = (part: Handler) => part[list.member] !== undefined

  /** The first page of the next part that has such a list, from this index on. */
  function firstPageFrom(start: number): Position | undefined {
    const index = parts.findIndex((part, at) => at >= start && has(part))
    return index === -1 ? undefined : { index, cursor: undefined }
  }

  function addItems(items: Map<string, Item>, source: ListResult, index: number): void {
    for (const item of source[list.items]) {
      const name = item[list.name]
      if (!items.has(name) && !isTaken(parts, index, { kind: list.kind, name })) items.set(name, item)
    }
  }

  return async (page: PageRequest, ctx: Context): Promise<object> => {
    const items = new Map<string, Item>()
    const sources: ListResult[] = []
    let next = page.cursor === undefined ? firstPageFrom(0) : readPosition(page.cursor, parts.length)
    while (next !== undefined) {
      const { index }: Position = next
      const lister = parts[index] as unknown as ListingHandler
      const source: ListResult | undefined = await lister[list.member]?.(pageOf(page, next), ctx)
      if (source !== undefined) {
        if (items.size > 0 && items.size + source[list.items].length > PAGE_SIZE) break
        sources.push(source)
        addItems(items, source, index)
      }
      const cursor = source?.nextCursor
      next = cursor === undefined ? firstPageFrom(index + 1) : { index, cursor }
      if (cursor !== undefined) break
    }
    // All pages of a list must have one scope, and parts that are not on this page may be private.
    const isPartial = parts.filter(has).length > 1 && (page.cursor !== undefined || next !== undefined)
    const { nextCursor: _, ...frame } = Object.assign({}, ...sources.toReversed()) as ListResult
    const result = { ...frame, ...joinCacheHints(sources, isPartial), [list.items]: [...items.values()] }
    return next === undefined ? result : { ...result, nextCursor: writePosition(next) }
  }
}

/** Throws an `RpcError` for a cursor of another list or server. */
function readPosition(cursor: string, parts: number): Position {
  return readCursor(cursor, /^(0|[1-9]\d{0,5})(?::(.*))?$/s, ([, index, own]) =>
    Number(index) < parts ? { index: Number(index), cursor: own } : undefined,
  )
}

function writePosition({ index, cursor }: Position): string {
  return writeCursor(cursor === undefined ? `${index}` : `${index}:${cursor}`)
}

/** The request with the part's own cursor. */
function pageOf({ cursor: _, ...page }: PageRequest, { cursor }: Position): PageRequest {
  return cursor === undefined ? page : { ...page, cursor }
}

/** The shortest time, and `public` only if all parts are public and no page is missing. */
function joinCacheHints(sources: readonly CacheableResult[], isPartial: boolean): CacheableResult {
  const hints: CacheableResult = {}
  const ttls = sources.map(({ ttlMs }) => ttlMs)
  const scopes = sources.map(({ cacheScope }) => cacheScope)
  if (ttls.some((ms) => ms !== undefined)) hints.ttlMs = Math.min(...ttls.map((ms = 0) => Math.max(0, ms)))
  if (scopes.some((scope) => scope !== undefined)) {
    hints.cacheScope = !isPartial && scopes.every((scope) => scope === 'public') ? 'public' : 'private'
  }
  return hints
}
