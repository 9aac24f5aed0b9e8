/** Cuts lists into pages. A cursor names the last item that was seen, so it survives what is added or removed. */

import { invalidParams } from '@mcpx/protocol'
import { toBase64 } from './content.ts'

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
  return { items, nextCursor: writeCursor(list, end, nameOf(last)) }
}

/** Behind the item that the cursor names; where that item is gone, where it stood: the next one has taken its place. */
function startOf<Item>(all: readonly Item[], nameOf: (item: Item) => string, list: string, cursor: string): number {
  const { end, name } = readCursor(list, cursor)
  const last = all[end - 1]
  if (last !== undefined && nameOf(last) === name) return end
  const found = all.findIndex((item) => nameOf(item) === name)
  return found === -1 ? Math.max(end - 1, 0) : found + 1
}

function writeCursor(list: string, end: number, name: string): string {
  const bytes = new TextEncoder().encode(`${list}:${end}:${name}`)
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function readCursor(list: string, cursor: string): { end: number; name: string } {
  try {
    const binary = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    const plain = new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(binary, (byte) => byte.charCodeAt(0)),
    )
    const [, kind, end, name] = /^(\w+):(\d{1,15}):(.*)$/s.exec(plain) ?? []
    if (kind === list && end !== undefined && name !== undefined) return { end: Number(end), name }
  } catch {
    // Not Base64, or no text in it: it did not come from here.
  }
  throw invalidParams('Invalid cursor: it does not belong to this list; ask again without one')
}
