/** Answers list requests. A list that is the same for everybody is made once, until something changes. */

import { type AuthInfo, type CacheableResult, type Context, keepText, type PageRequest } from '@mcpx/protocol'
import { cutPage } from '../pages.ts'
import type { Shelf, Shelved } from './shelf.ts'

/** How long, and for whom, an answer may be kept. */
export type CacheHints = Pick<CacheableResult, 'ttlMs' | 'cacheScope'>

export interface ListingOptions {
  readonly pageSize: number
  readonly hints: CacheHints | undefined
}

/** What every page carries besides its items. */
export interface PageFrame extends CacheHints {
  nextCursor?: string
}

/** The hints of the author, but never `public` for what is not for everybody. */
export function hintsFor(hints: CacheHints | undefined, restricted: boolean): CacheHints {
  return restricted ? { ...hints, cacheScope: 'private' } : { ...hints }
}

/** `list` names the list in its cursors. */
export function createListing<Item extends Shelved, Result extends object>(
  shelf: Shelf<Item>,
  list: string,
  { pageSize, hints }: ListingOptions,
  write: (items: readonly Item[], frame: PageFrame) => Result,
): (page: PageRequest, ctx: Pick<Context, 'auth'>) => Result {
  let first: Result | undefined
  let firstOf: readonly Item[] | undefined

  function makePage(cursor: string | undefined, auth: AuthInfo | undefined): Result {
    const { items, nextCursor } = cutPage(shelf.visibleTo(auth), ({ name }) => name, list, cursor, pageSize)
    const frame = hintsFor(hints, shelf.restricted)
    return write(items, nextCursor === undefined ? frame : { nextCursor, ...frame })
  }

  return ({ cursor }, ctx) => {
    if (cursor !== undefined || shelf.restricted) return makePage(cursor, ctx.auth)
    if (first === undefined || firstOf !== shelf.all) {
      first = keepText(makePage(undefined, undefined))
      firstOf = shelf.all
    }
    return first
  }
}
