/** Combines several handlers into one: joins their lists, and routes each name to one of them. */

import {
  type AuthInfo,
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
import type { ExtensionToolOptions } from '../extension.ts'
import { readCursor, writeCursor } from '../named-items.ts'

/** A kind of item that a mounted server can own. */
export type OwnedKind = ItemKind

/**
 * A handler that can say whether an item belongs to it. A handler without `owns` is a catch-all: it is called for names
 * that no other handler owns.
 */
export interface OwningHandler extends Handler {
  /**
   * Returns whether the handler has an item with this name, even if the caller may not see it. The name of a resource
   * is its URI; the name of a template is the template string. Must not throw, and must be fast, because it is called
   * for each item of a list.
   */
  owns?(kind: OwnedKind, name: string): boolean
  /** Returns the options of extensions of a tool that this caller may call. Must not throw. */
  toolOptions?(name: string, auth: AuthInfo | undefined): ExtensionToolOptions | undefined
}

/** The member that a handler with items of the kind must have. */
const ANSWERING_MEMBERS = { tool: 'callTool', prompt: 'getPrompt', resource: 'readResource' } as const

/**
 * Combines parts. If two parts have an item with the same name, the first part is used, and lists omit the other item.
 * The combined handler has a member as long as one of the parts has it. A single part is returned unchanged.
 *
 * @param changes subscribes to the changes of all parts
 */
export function combine(parts: readonly Handler[], changes?: Handler['changes']): OwningHandler {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const all: readonly OwningHandler[] = [...parts]
  const handler: OwningHandler = createDynamicHandler(
    { ...createMembers(all), ...(changes && { changes }) },
    (member) => all.some((part) => part[member] !== undefined),
  )
  // If a part is a catch-all, unknown names cannot be detected.
  if (all.every((part) => part.owns !== undefined)) {
    handler.owns = (kind, name) => all.some((part) => isOwner(part, { kind, name }))
  }
  if (all.some((part) => part.toolOptions !== undefined)) {
    handler.toolOptions = (name, auth) =>
      all.find((part) => isOwner(part, { kind: 'tool', name }))?.toolOptions?.(name, auth)
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

/** Creates a member that calls the part which owns the name. Parts without the member are skipped. */
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

/** Calls the catch-alls in order until one accepts the name and the other parameters. */
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

/** Returns whether an error may mean that a name does not exist. */
export function isNameError(error: unknown): error is RpcError {
  return (
    error instanceof RpcError && (error.code === ErrorCode.InvalidParams || error.code === ErrorCode.ResourceNotFound)
  )
}

function isOwner(part: OwningHandler, { kind, name }: ItemName): boolean {
  return part.owns !== undefined && part[ANSWERING_MEMBERS[kind]] !== undefined && part.owns(kind, name)
}

/** Returns whether the name belongs to a part with another index. A part that owns the name takes precedence over a catch-all. */
function isTaken(parts: readonly OwningHandler[], index: number, item: ItemName): boolean {
  const isCatchAll = parts[index]?.owns === undefined
  return parts.some((part, other) => (isCatchAll ? other !== index : other < index) && isOwner(part, item))
}

/** A list of a handler, with the names of its members. */
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

/**
 * The largest number of items on a page of a joined list. A page of a single part may be longer, because it is never
 * split.
 */
const PAGE_SIZE = 1_000

/** The position at which a joined list continues. */
interface Position {
  /** The index of the part. */
  readonly index: number
  /** The cursor of the part. Undefined for its first page. */
  readonly cursor: string | undefined
}

/** Joins the lists of several parts page by page. */
function createJoinedList(parts: readonly OwningHandler[], list: List) {
  const has = (part: Handler) => part[list.member] !== undefined

  /** Returns the first page of the next part with such a list, starting at this index. */
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
    // All pages of a list must have the same cache scope, and parts on other pages may be private.
    const isPartial = parts.filter(has).length > 1 && (page.cursor !== undefined || next !== undefined)
    const { nextCursor: _, ...frame } = Object.assign({}, ...sources.toReversed()) as ListResult
    const result = { ...frame, ...joinCacheHints(sources, isPartial), [list.items]: [...items.values()] }
    return next === undefined ? result : { ...result, nextCursor: writePosition(next) }
  }
}

/** Reads a cursor. Throws an `RpcError` for a cursor of another list or server. */
function readPosition(cursor: string, parts: number): Position {
  return readCursor(cursor, /^(0|[1-9]\d{0,5})(?::(.*))?$/s, ([, index, own]) =>
    Number(index) < parts ? { index: Number(index), cursor: own } : undefined,
  )
}

function writePosition({ index, cursor }: Position): string {
  return writeCursor(cursor === undefined ? `${index}` : `${index}:${cursor}`)
}

/** Returns the request with the cursor of the part. */
function pageOf({ cursor: _, ...page }: PageRequest, { cursor }: Position): PageRequest {
  return cursor === undefined ? page : { ...page, cursor }
}

/**
 * Combines cache hints. Returns the shortest time, and `public` only if all parts are on this page and all are public.
 */
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
