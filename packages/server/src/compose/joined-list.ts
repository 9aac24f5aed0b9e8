/** One list out of the lists of several parts, page by page. */

import { type Awaitable, type Context, isPromise, isTextKept, keepText, type PageRequest } from '@mcpx/protocol'
import { createDraft, type Draft, type List, type Source, writePage } from './joined-page.ts'
import { type ListPosition, readCursor } from './list-cursor.ts'
import { isTaken, type OwningHandler } from './owning-handler.ts'

/** Lists of several parts are joined to pages of this many items at most. A page of a part is never cut. */
const PAGE_SIZE = 1_000

export const LISTS = {
  tools: { method: 'listTools', items: 'tools', kind: 'tool', name: 'name' },
  prompts: { method: 'listPrompts', items: 'prompts', kind: 'prompt', name: 'name' },
  resources: { method: 'listResources', items: 'resources', kind: 'resource', name: 'uri' },
  templates: { method: 'listResourceTemplates', items: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' },
} as const satisfies Record<string, List>

type ListMethod = (page: PageRequest, ctx: Context) => Awaitable<Source>

/** A page of parts' pages that do not change. */
interface Kept extends Pick<Draft, 'start' | 'sources'> {
  readonly size: number
  readonly result: object
}

/** Where the parts' pages are kept and the same as before, so is the page made of them. */
export function joinedList<Result>(parts: readonly OwningHandler[], list: List) {
  const kept = new WeakMap<Source, Kept>()
  const sourceOf = (part: OwningHandler | undefined, page: PageRequest, ctx: Context) =>
    (part as unknown as Record<string, ListMethod | undefined>)[list.method]?.(page, ctx)

  function collect(draft: Draft, from: ListPosition | undefined, page: PageRequest, ctx: Context): Awaitable<object> {
    let at = from
    while (at !== undefined) {
      const here = at
      const source = sourceOf(parts[here.index], pageOf(page, here), ctx)
      if (source === undefined) at = following(parts, list, here.index + 1)
      else if (isPromise(source)) {
        return source.then((settled) => collect(draft, take(draft, parts, list, here, settled), page, ctx))
      } else at = take(draft, parts, list, here, source)
    }
    return finish(draft)
  }

  function finish(draft: Draft): object {
    const { start, items, sources } = draft
    const isOnlyPart = parts.filter((part) => part[list.method] !== undefined).length === 1
    const [first] = sources
    if (first === undefined || !sources.every(isTextKept)) return writePage(draft, list, isOnlyPart)
    const known = kept.get(first)
    const isSame = known?.sources.length === sources.length && known.sources.every((each, at) => each === sources[at])
    // What a part has taken over from another shows in the number of items alone.
    if (isSame && known.size === items.length && isSamePosition(known.start, start)) return known.result
    const result = writePage(draft, list, isOnlyPart)
    if (!isTextKept(result)) keepText(result)
    kept.set(first, { start, sources, size: items.length, result })
    return result
  }

  return (page: PageRequest, ctx: Context): Awaitable<Result> => {
    const start = page.cursor === undefined ? undefined : readCursor(page.cursor, parts.length)
    return collect(createDraft(start), start ?? following(parts, list, 0), page, ctx) as Awaitable<Result>
  }
}

/** The first page of the next part that has such a list, from this index on. */
function following(parts: readonly OwningHandler[], list: List, from: number): ListPosition | undefined {
  const index = parts.findIndex((part, at) => at >= from && part[list.method] !== undefined)
  return index === -1 ? undefined : { index, cursor: undefined }
}

/** Adds a page of a part; gives where to go on for this draft, or nothing when it is done. */
function take(
  draft: Draft,
  parts: readonly OwningHandler[],
  list: List,
  at: ListPosition,
  source: Source,
): ListPosition | undefined {
  const items = source[list.items]
  if (draft.items.length > 0 && draft.items.length + items.length > PAGE_SIZE) {
    draft.next = at
    return undefined
  }
  draft.sources.push(source)
  for (const item of items) {
    const name = item[list.name]
    if (draft.names.has(name) || isTaken(parts, at.index, list.kind, name)) continue
    draft.names.add(name)
    draft.items.push(item)
  }
  if (source.nextCursor === undefined) return following(parts, list, at.index + 1)
  draft.next = { index: at.index, cursor: source.nextCursor }
  return undefined
}

function isSamePosition(a: ListPosition | undefined, b: ListPosition | undefined): boolean {
  return a?.index === b?.index && a?.cursor === b?.cursor
}

/** The request as the part gets it: with the part's own cursor. */
function pageOf(page: PageRequest, { cursor }: ListPosition): PageRequest {
  if (page.cursor === cursor) return page
  const { cursor: outer, ...rest } = page
  return cursor === undefined ? rest : { ...rest, cursor }
}
