/** Finds what a server says of a tool, in its own list as the caller would get it. */

import { type Awaitable, isTextKept, type ListToolsResult, type PageRequest, type Tool } from '@mcpx/protocol'
import { whenDone } from '../settle.ts'
import type { ToolContext } from '../tool-context.ts'

/** The tool of this name that the caller may see; nothing when there is none. Throws what the list throws. */
export type ToolLookup = (name: string, ctx: ToolContext) => Awaitable<Tool | undefined>

/** A list with more pages is not searched to its end; that is an error, as the tool may be on the next page. */
const MAX_PAGES = 1_000

export function createToolLookup(
  list: (page: PageRequest, ctx: ToolContext) => Awaitable<ListToolsResult>,
): ToolLookup {
  const indexes = new WeakMap<ListToolsResult, ReadonlyMap<string, Tool>>()

  function findIn(result: ListToolsResult, name: string): Tool | undefined {
    if (!isTextKept(result)) return result.tools.find((tool) => tool.name === name)
    const index = indexes.get(result) ?? new Map(result.tools.toReversed().map((tool) => [tool.name, tool]))
    indexes.set(result, index)
    return index.get(name)
  }

  function search(name: string, ctx: ToolContext, page: PageRequest, count: number): Awaitable<Tool | undefined> {
    if (count > MAX_PAGES) {
      const rest = `${JSON.stringify(name)} was not looked for to its end`
      throw new Error(`The list of tools has more than ${MAX_PAGES} pages: ${rest}`)
    }
    return whenDone(list(page, ctx), (result) => {
      const { nextCursor } = result
      const tool = findIn(result, name)
      return tool !== undefined || nextCursor === undefined
        ? tool
        : search(name, ctx, { cursor: nextCursor }, count + 1)
    })
  }

  return (name, ctx) => search(name, ctx, {}, 1)
}
