/** Stores tools, resources and prompts by name, checks who may see and use them, and lists them in pages. */

import {
  type AuthInfo,
  type CacheableResult,
  type Context,
  insufficientScope,
  invalidParams,
  MAX_CURSOR_LENGTH,
  quoted,
} from '@mcpx/protocol'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { type ItemKind, unknownNameError } from './dispatch.ts'
import { RegistrationError } from './errors.ts'

export interface VisibilityOptions {
  /**
   * Returns whether the item exists for a caller. `auth` is undefined if the caller is not authenticated. Only `true`
   * grants visibility; a promise does not. Default: the item exists for all callers, and is listed for callers that
   * have its `scopes`.
   */
  visible?: ((auth: AuthInfo | undefined) => boolean | undefined) | undefined
  /** The scopes that a caller needs to use the item. If scopes are missing, the error names them. Default: none. */
  scopes?: readonly string[] | undefined
}

/** Decides who may see and use an item. */
export interface AccessRule {
  /** Returns whether the item is in the lists of this caller. */
  lists(auth: AuthInfo | undefined): boolean
  /**
   * Returns whether the item exists for this caller. Throws `insufficientScope` if the item exists but the caller lacks
   * scopes.
   */
  admits(auth: AuthInfo | undefined): boolean
}

/** Creates the access rule of an item. Returns undefined if all callers may see and use it. */
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
  /** The access rule. Undefined if all callers may see and use the item. */
  readonly access: AccessRule | undefined
}

/** Returns whether the item exists for this caller. Throws `insufficientScope` for a caller who lacks scopes. */
export function isAdmitted({ access }: NamedItem, auth: AuthInfo | undefined): boolean {
  return access === undefined || access.admits(auth)
}

function isListed({ access }: NamedItem, auth: AuthInfo | undefined): boolean {
  return access === undefined || access.lists(auth)
}

/** How long a result may be cached, and whether caches may share it between callers. */
export type CacheHints = Pick<CacheableResult, 'ttlMs' | 'cacheScope'>

/** Completes the hints of the author. Restricted items are never `public`. */
export function toCacheHints(hints: CacheHints | undefined, isRestricted: boolean): CacheHints {
  return isRestricted ? { ...hints, cacheScope: 'private' } : { ...hints }
}

/** Returns the name of an item, for `cutPage`. */
export const nameOf = ({ name }: NamedItem): string => name

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

  /** Whether an item has an access rule. */
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

  /** Returns an item if it is in the lists of this caller. */
  getListed(name: string, auth: AuthInfo | undefined): Item | undefined {
    const item = this.#items.get(name)
    return item && isListed(item, auth) ? item : undefined
  }

  /** Returns an item if the caller may use it. */
  getAdmitted(name: string, auth: AuthInfo | undefined): Item | undefined {
    const item = this.#items.get(name)
    try {
      return item && isAdmitted(item, auth) ? item : undefined
    } catch {
      // The caller lacks scopes. The call itself fails with the error that names the scopes.
      return undefined
    }
  }

  /** Returns an item. Throws if it does not exist for this caller, or the caller lacks scopes. */
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
      throw new RegistrationError(`${label} is already registered; remove it first, or pass \`replace: true\``)
    }
    this.#items.set(name, item)
  }

  /** Removes an item. Returns whether it existed. */
  remove(name: string): boolean {
    return this.#items.delete(name)
  }
}

export interface ListOptions {
  readonly pageSize: number
  readonly hints: CacheHints | undefined
}

/** A page of a list, and the cursor of the next page. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/** The most characters of a name that a cursor contains, because the length of cursors is limited. */
const MAX_KEY_LENGTH = 1_024

/**
 * Returns the page after a cursor. A cursor contains the name of the last item of the previous page, so it stays valid when
 * items are added or removed. It also contains `list`, so it is valid only for this list.
 */
export function cutPage<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  list: string,
  cursor: string | undefined,
  pageSize: number,
): Page<Item> {
  const keyOf = (item: Item) => nameOf(item).slice(0, MAX_KEY_LENGTH)
  const start = cursor === undefined ? 0 : startOf(all, keyOf, list, cursor)
  const end = start + pageSize
  const items = all.slice(start, end)
  const last = items.at(-1)
  if (last === undefined || end >= all.length) return { items }
  return { items, nextCursor: writeCursor(`${list}:${end}:${keyOf(last)}`) }
}

/**
 * Returns the index after the item that the cursor names. If that item was removed, returns its old index, because the next
 * item has moved there.
 */
function startOf<Item>(all: readonly Item[], keyOf: (item: Item) => string, list: string, cursor: string): number {
  const { end, name } = readCursor(cursor, /^(\w+):(\d{1,15}):(.*)$/s, ([, kind, end, name]) =>
    kind === list ? { end: Number(end), name } : undefined,
  )
  const last = all[end - 1]
  if (last !== undefined && keyOf(last) === name) return end
  const found = all.findIndex((item) => keyOf(item) === name)
  return found === -1 ? Math.max(end - 1, 0) : found + 1
}

export const writeCursor: (position: string) => string = toBase64Url

/** Reads the position in a cursor with a pattern. Throws an `RpcError` for a cursor of another list or server. */
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
    // The cursor is not UTF-8, so this server has not created it.
  }
  throw invalidParams('Invalid cursor: it does not belong to this list; request the list without a cursor')
}
