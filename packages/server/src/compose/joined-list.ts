/** One list out of the lists of several parts, page by page. */

import {
  type Awaitable,
  type CacheableResult,
  type Context,
  isTextKept,
  keepText,
  type PageRequest,
} from '@mcpx/protocol'
import { readCursor, writeCursor } from '../list-cursor.ts'
import { whenDone } from '../settle.ts'
import type { Item, List, Lister, Page } from './list.ts'
import { isTaken, type OwningHandler } from './owning-handler.ts'

/** Lists of several parts are joined to pages of this many items at most. A page of a part is never cut. */
const PAGE_SIZE = 1_000

/** Where a joined list goes on. */
interface Place {
  /** Of the part. */
  readonly index: number
  /** The part's own cursor; nothing for its first page. */
  readonly cursor: string | undefined
}

/** A page while it is being put together. */
interface Draft {
  readonly items: Item[]
  readonly names: Set<string>
  readonly sources: Page[]
  /** Where the page after it begins. */
  next: Place | undefined
}

/** A page of parts' pages that do not change. */
interface Kept extends Pick<Draft, 'sources'> {
  readonly from: string | undefined
  readonly size: number
  readonly result: object
}

/** Where the parts' pages are kept and the same as before, so is the page made of them. */
export function joinedList(parts: readonly OwningHandler[], list: List) {
  const kept = new WeakMap<Page, Kept>()

  /** The first page of the next part that has such a list, from this index on. */
  function following(from: number): Place | undefined {
    const index = parts.findIndex((part, at) => at >= from && part[list.method] !== undefined)
    return index === -1 ? undefined : { index, cursor: undefined }
  }

  function collect(draft: Draft, at: Place | undefined, page: PageRequest, ctx: Context): Awaitable<object> {
    if (at === undefined) return finish(draft, page.cursor)
    const source = (parts[at.index] as unknown as Lister)[list.method]?.(pageOf(page, at), ctx)
    return whenDone(source, (settled) => collect(draft, take(draft, at, settled), page, ctx))
  }

  /** Adds a page of a part; gives where to go on for this draft, or nothing when it is done. */
  function take(draft: Draft, at: Place, source: Page | undefined): Place | undefined {
    if (source === undefined) return following(at.index + 1)
    const items = source[list.items]
    if (draft.items.length > 0 && draft.items.length + items.length > PAGE_SIZE) {
      draft.next = at
      return undefined
    }
    draft.sources.push(source)
    for (const item of items) {
      const name = item[list.name]
      if (draft.names.has(name) || isTaken(parts, at.index, { kind: list.kind, name })) continue
      draft.names.add(name)
      draft.items.push(item)
    }
    if (source.nextCursor === undefined) return following(at.index + 1)
    draft.next = { index: at.index, cursor: source.nextCursor }
    return undefined
  }

  function finish(draft: Draft, from: string | undefined): object {
    const { items, sources } = draft
    // All pages of a list must have one scope, and what parts yet to be asked would say is not known.
    const isOnlyPart = parts.filter((part) => part[list.method] !== undefined).length === 1
    const isCut = !isOnlyPart && (from !== undefined || draft.next !== undefined)
    const [first] = sources
    if (first === undefined || !sources.every(isTextKept)) return writePage(draft, list, isCut)
    const known = kept.get(first)
    const isSame = known?.sources.length === sources.length && known.sources.every((each, at) => each === sources[at])
    // What a part has taken over from another shows in the number of items alone.
    if (isSame && known.size === items.length && known.from === from) return known.result
    const result = writePage(draft, list, isCut)
    if (!isTextKept(result)) keepText(result)
    kept.set(first, { from, sources, size: items.length, result })
    return result
  }

  return (page: PageRequest, ctx: Context): Awaitable<object> => {
    const place = page.cursor === undefined ? following(0) : placeOf(page.cursor, parts.length)
    return collect({ items: [], names: new Set(), sources: [], next: undefined }, place, page, ctx)
  }
}

/** Throws `RpcError` for a cursor that was not written here, or for other parts. */
function placeOf(text: string, parts: number): Place {
  return readCursor(text, /^(0|[1-9]\d{0,5})(?::(.*))?$/s, ([, index, cursor]) =>
    Number(index) < parts ? { index: Number(index), cursor } : undefined,
  )
}

/** The request as the part gets it: with the part's own cursor. */
function pageOf({ cursor: _, ...page }: PageRequest, { cursor }: Place): PageRequest {
  return cursor === undefined ? page : { ...page, cursor }
}

/** A page that is a part's page and no more is that very page. */
function writePage({ items, sources, next }: Draft, list: List, isCut: boolean): object {
  const [first] = sources
  const isWhole = sources.length === 1 && next === undefined && items.length === first?.[list.items].length
  if (first !== undefined && isWhole && !(isCut && first.cacheScope === 'public')) return first
  const { nextCursor: _, ...frame } = Object.assign({}, ...sources.toReversed()) as Page
  const result = { ...frame, ...hintsOf(sources, isCut), [list.items]: items }
  if (next === undefined) return result
  const cursor = next.cursor === undefined ? '' : `:${next.cursor}`
  return { ...result, nextCursor: writeCursor(`${next.index}${cursor}`) }
}

/** Fresh for as long as all of them are, and for everybody only if all of them are. */
function hintsOf(sources: readonly CacheableResult[], isCut: boolean): CacheableResult {
  const hints: CacheableResult = {}
  const ttls = sources.map(({ ttlMs }) => ttlMs)
  const scopes = sources.map(({ cacheScope }) => cacheScope)
  if (ttls.some((ms) => ms !== undefined)) hints.ttlMs = Math.min(...ttls.map((ms = 0) => Math.max(0, ms)))
  if (scopes.some((scope) => scope !== undefined)) {
    hints.cacheScope = !isCut && scopes.every((scope) => scope === 'public') ? 'public' : 'private'
  }
  return hints
}
