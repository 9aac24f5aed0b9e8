/** Tools, resources and prompts under their names: who may see and use them, and their lists page by page. */

import {
  type AuthInfo,
  type CacheableResult,
  type Context,
  insufficientScope,
  invalidParams,
  type PageRequest,
  quoted,
} from '@mcpx/protocol'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { type ItemKind, unknownNameError } from './dispatch.ts'
import { RegistrationError } from './errors.ts'

export interface VisibilityOptions {
  /**
   * Decides for each caller whether the item exists. `auth` is undefined where nobody authenticated the caller. Only `true`
   * grants visibility; a promise does not. Default: the item exists for everybody, and callers who hold the `scopes` see it
   * in lists.
   */
  visible?: ((auth: AuthInfo | undefined) => boolean | undefined) | undefined
  /** The scopes that a caller needs to use the item; without them, the error names them. Default: none. */
  scopes?: readonly string[] | undefined
}

/** Decides who may see and use an item. */
export interface AccessRule {
  /** Whether the item is in the lists of this caller. */
  lists(auth: AuthInfo | undefined): boolean
  /** Whether the item exists for this caller. Throws `insufficientScope` for a caller who may know of it and lacks scopes. */
  admits(auth: AuthInfo | undefined): boolean
}

/** Returns undefined where everybody may see and use the item. */
export function createAccessRule({ visible, scopes = [] }: VisibilityOptions): AccessRule | undefined {
  const isVisible = visible && ((auth: AuthInfo | undefined) => visible(auth) === true)
  if (scopes.length === 0) return isVisible && { lists: isVisible, admits: isVisible }
  const needed = [...scopes]
  const hasScopes = (auth: AuthInfo | undefined) =>
    auth !== undefined && needed.every((scope) => auth.scopes.includes(scope))
  return {
    lists: isVisible ?? hasScopes,
    admits(auth) {
      if (isVisible?.(auth) === false) return false
      if (!hasScopes(auth)) throw insufficientScope(needed)
      return true
    },
  }
}

export interface NamedItem {
  readonly name: string
  /** Undefined when everybody may see and use it. */
  readonly access: AccessRule | undefined
}

/** Whether the item exists for this caller. Throws `insufficientScope` for a caller who lacks scopes. */
export function isAdmitted({ access }: NamedItem, auth: AuthInfo | undefined): boolean {
  return access === undefined || access.admits(auth)
}

function isListed({ access }: NamedItem, auth: AuthInfo | undefined): boolean {
  return access === undefined || access.lists(auth)
}

/** How long, and for whom, a result may be cached. */
export type CacheHints = Pick<CacheableResult, 'ttlMs' | 'cacheScope'>

/** The author's hints, but never `public` for something that not everybody may see. */
export function toCacheHints(hints: CacheHints | undefined, isRestricted: boolean): CacheHints {
  return isRestricted ? { ...hints, cacheScope: 'private' } : { ...hints }
}

/** The items of one kind, in the order of registration. */
export class NamedItems<Item extends NamedItem> {
  readonly #kind: ItemKind
  readonly #items = new Map<string, Item>()

  constructor(kind: ItemKind) {
    this.#kind = kind
  }

  get all(): readonly Item[] {
    return [...this.#items.values()]
  }

  /** Whether some items are not for everybody. */
  get isRestricted(): boolean {
    return this.all.some(({ access }) => access !== undefined)
  }

  visibleTo(auth: AuthInfo | undefined): readonly Item[] {
    return this.all.filter((item) => isListed(item, auth))
  }

  has(name: string): boolean {
    return this.#items.has(name)
  }

  get(name: string): Item | undefined {
    return this.#items.get(name)
  }

  /** The item in the lists of this caller. */
  getListed(name: string, auth: AuthInfo | undefined): Item | undefined {
    const item = this.#items.get(name)
    return item && isListed(item, auth) ? item : undefined
  }

  /** Throws where the item does not exist for this caller, or the caller lacks scopes for it. */
  find(name: string, { auth }: Context): Item {
    const item = this.#items.get(name)
    if (item === undefined || !isAdmitted(item, auth)) throw unknownNameError({ kind: this.#kind, name })
    return item
  }

  /** Adds an item. A replaced item keeps its position. Throws a `RegistrationError` for a name that is taken. */
  add(item: Item, replace = false): void {
    const { name } = item
    if (!replace && this.#items.has(name)) {
      const label = `${this.#kind[0]?.toUpperCase()}${this.#kind.slice(1)} ${quoted(name)}`
      throw new RegistrationError(`${label} is there already; remove it first, or pass \`replace: true\``)
    }
    this.#items.set(name, item)
  }

  /** Returns whether the item existed. */
  remove(name: string): boolean {
    return this.#items.delete(name)
  }
}

export interface ListOptions {
  readonly pageSize: number
  readonly hints: CacheHints | undefined
}

/** The members of a page besides its items. */
export interface PageFrame extends CacheHints {
  nextCursor?: string
}

/** A page of the items that the caller may see. `list` keeps the cursors of one list from being used for another. */
export function listPage<Item extends NamedItem>(
  items: NamedItems<Item>,
  list: string,
  { pageSize, hints }: ListOptions,
  { cursor }: PageRequest,
  { auth }: Pick<Context, 'auth'>,
): { items: readonly Item[]; frame: PageFrame } {
  const page = cutPage(items.visibleTo(auth), ({ name }) => name, list, cursor, pageSize)
  return { items: page.items, frame: toPageFrame(page, hints, items.isRestricted) }
}

export function toPageFrame(
  { nextCursor }: Page<unknown>,
  hints: CacheHints | undefined,
  isRestricted: boolean,
): PageFrame {
  const frame = toCacheHints(hints, isRestricted)
  return nextCursor === undefined ? frame : { nextCursor, ...frame }
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/**
 * The page behind a cursor. A cursor names the last item of the page before, so it stays valid when items are added or
 * removed.
 */
export function cutPage<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  list: string,
  cursor: string | undefined,
  pageSize: number,
): Page<Item> {
  const start = cursor === undefined ? 0 : startOf(all, nameOf, list, cursor)
  const end = start + pageSize
  const items = all.slice(start, end)
  const last = items.at(-1)
  if (last === undefined || end >= all.length) return { items }
  return { items, nextCursor: writeCursor(`${list}:${end}:${nameOf(last)}`) }
}

/** Behind the item that the cursor names; where that item is gone, its old position: the next item has taken its place. */
function startOf<Item>(all: readonly Item[], nameOf: (item: Item) => string, list: string, cursor: string): number {
  const { end, name } = readCursor(cursor, /^(\w+):(\d{1,15}):(.*)$/s, ([, kind, end, name]) =>
    kind === list ? { end: Number(end), name } : undefined,
  )
  const last = all[end - 1]
  if (last !== undefined && nameOf(last) === name) return end
  const found = all.findIndex((item) => nameOf(item) === name)
  return found === -1 ? Math.max(end - 1, 0) : found + 1
}

/** Longer cursors are refused unread. */
const MAX_CURSOR_LENGTH = 64 * 1024

export const writeCursor: (position: string) => string = toBase64Url

/** The position that a cursor holds, from the groups of the pattern. Throws an `RpcError` for a cursor of another list or server. */
export function readCursor<Position>(
  cursor: string,
  pattern: RegExp,
  toPosition: (groups: (string | undefined)[]) => Position | undefined,
): Position {
  const bytes = fromBase64Url(cursor, MAX_CURSOR_LENGTH)
  try {
    const plain = bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const groups = plain === undefined ? null : pattern.exec(plain)
    const position = groups && toPosition(groups)
    if (position) return position
  } catch {
    // Not UTF-8: the cursor did not come from here.
  }
  throw invalidParams('Invalid cursor: it does not belong to this list; ask again without one')
}
