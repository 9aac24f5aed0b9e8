/** Finds what a server says of a tool, in its own list as the caller would get it. */

import {
  type Awaitable,
  type Context,
  isPromise,
  isTextKept,
  type ListToolsResult,
  type PageRequest,
  type Tool,
} from '@mcpx/protocol'

/** The tool of this name that the caller may see; nothing when there is none. Throws what the list throws. */
export type ToolLookup = (name: string, ctx: Context) => Awaitable<Tool | undefined>

/** A list with more pages is not searched to its end; that is an error, as the tool may be on the next page. */
const MAX_PAGES = 1_000

export function createToolLookup(list: (page: PageRequest, ctx: Context) => Awaitable<ListToolsResult>): ToolLookup {
  const indexes = new WeakMap<ListToolsResult, ReadonlyMap<string, Tool>>()

  function findIn(result: ListToolsResult, name: string): Tool | undefined {
    if (!isTextKept(result)) return result.tools.find((tool) => tool.name === name)
    const index = indexes.get(result) ?? new Map(result.tools.toReversed().map((tool) => [tool.name, tool]))
    indexes.set(result, index)
    return index.get(name)
  }

  function search(name: string, ctx: Context, first: PageRequest, firstCount: number): Awaitable<Tool | undefined> {
    let page = first
    for (let count = firstCount; count <= MAX_PAGES; count++) {
      const result = list(page, ctx)
      if (isPromise(result)) {
        return result.then(
          (settled) =>
            findIn(settled, name) ??
            (settled.nextCursor === undefined
              ? undefined
              : search(name, ctx, { cursor: settled.nextCursor }, count + 1)),
        )
      }
      const tool = findIn(result, name)
      if (tool !== undefined || result.nextCursor === undefined) return tool
      page = { cursor: result.nextCursor }
    }
    throw new Error(
      `The list of tools has more than ${MAX_PAGES} pages: ${JSON.stringify(name)} was not looked for to its end`,
    )
  }

  return (name, ctx) => search(name, ctx, {}, 1)
}
