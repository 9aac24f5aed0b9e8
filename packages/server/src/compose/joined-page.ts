/** A page that is put together from pages of several parts. */

import type { CacheableResult } from '@mcpx/protocol'
import { type ListPosition, writeCursor } from './list-cursor.ts'
import type { OwnedKind } from './owning-handler.ts'

/** A kind of list: how it is asked for, and what its items are called. */
export interface List {
  readonly method: 'listTools' | 'listPrompts' | 'listResources' | 'listResourceTemplates'
  readonly items: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'
  readonly kind: OwnedKind
  readonly name: 'name' | 'uri' | 'uriTemplate'
}

export type Item = Readonly<Record<List['name'], string>>

/** A page of a part. */
export type Source = CacheableResult & { nextCursor?: string | undefined } & Readonly<
    Record<List['items'], readonly Item[]>
  >

/** A page while it is being put together. */
export interface Draft {
  /** Where it begins; nothing for the first page. */
  readonly start: ListPosition | undefined
  readonly items: Item[]
  readonly names: Set<string>
  readonly sources: Source[]
  /** Where the page after it begins. */
  next: ListPosition | undefined
}

export function createDraft(start: ListPosition | undefined): Draft {
  return { start, items: [], names: new Set(), sources: [], next: undefined }
}

/** `isOnlyPart` says that no other part has such a list. A page that is a part's page and no more is that very page. */
export function writePage({ start, items, sources, next }: Draft, list: List, isOnlyPart: boolean): object {
  // All pages of a list must have one scope, and what parts yet to be asked would say is not known.
  const isCut = !isOnlyPart && (start !== undefined || next !== undefined)
  const [first] = sources
  const isWhole = sources.length === 1 && next === undefined && items.length === first?.[list.items].length
  if (first !== undefined && isWhole && !(isCut && first.cacheScope === 'public')) return first
  const { nextCursor, ...frame } = Object.assign({}, ...sources.toReversed()) as Source
  const result = { ...frame, ...hintsOf(sources, isCut), [list.items]: items }
  return next === undefined ? result : { ...result, nextCursor: writeCursor(next) }
}

/** Fresh for as long as all of them are, and for everybody only if all of them are. */
function hintsOf(sources: readonly CacheableResult[], isCut: boolean): CacheableResult {
  const hints: CacheableResult = {}
  const saysTtl = sources.some(({ ttlMs }) => ttlMs !== undefined)
  if (saysTtl) hints.ttlMs = Math.min(...sources.map(({ ttlMs }) => Math.max(0, ttlMs ?? 0)))
  const isPublic = !isCut && sources.every(({ cacheScope }) => cacheScope === 'public')
  if (sources.some(({ cacheScope }) => cacheScope !== undefined)) hints.cacheScope = isPublic ? 'public' : 'private'
  return hints
}
