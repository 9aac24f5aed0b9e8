/** Cuts lists into pages. A cursor names the last item that was seen, so it survives what is added or removed. */

import { readCursor, writeCursor } from './list-cursor.ts'

/** How many items a page holds unless told otherwise. */
export const PAGE_SIZE = 1_000

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/** The page behind a cursor. `list` keeps the cursors of one list from being used for another. */
export function cutPage<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  list: string,
  cursor: string | undefined,
  pageSize: number,
): Page<Item> {
  const start = cursor === undefined ? 0 : startOf(all, nameOf, list, cursor)
  const end = start + pageSize
  if (start === 0 && end >= all.length) return { items: all }
  const items = all.slice(start, end)
  const last = items.at(-1)
  if (last === undefined || end >= all.length) return { items }
  return { items, nextCursor: writeCursor(`${list}:${end}:${nameOf(last)}`) }
}

/** Behind the item that the cursor names; where that item is gone, where it stood: the next one has taken its place. */
function startOf<Item>(all: readonly Item[], nameOf: (item: Item) => string, list: string, cursor: string): number {
  const { end, name } = readCursor(cursor, /^(\w+):(\d{1,15}):(.*)$/s, ([, kind, end, name]) =>
    kind === list ? { end: Number(end), name } : undefined,
  )
  const last = all[end - 1]
  if (last !== undefined && nameOf(last) === name) return end
  const found = all.findIndex((item) => nameOf(item) === name)
  return found === -1 ? Math.max(end - 1, 0) : found + 1
}
