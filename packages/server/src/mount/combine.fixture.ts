/** Handlers to be combined in tests. */

import {
  type Context,
  type Handler,
  invalidParams,
  type ListToolsResult,
  type PageRequest,
  type RpcError,
  type Tool,
} from '@mcpx/protocol'
import type { OwningHandler } from './combine.ts'

export const ctx = {} as Context
export const tool = (name: string, description?: string): Tool => ({
  name,
  inputSchema: { type: 'object' },
  ...(description === undefined ? {} : { description }),
})

export interface Paged {
  pageSize?: number
  isAsync?: boolean
  owning?: boolean
  extra?: Partial<ListToolsResult>
}

/** A handler of these tools; each answers with the label and its name. */
export function toolbox(label: string, names: string[], { pageSize = 1e9, isAsync, owning = true, extra }: Paged = {}) {
  const known = () => new Set(names)
  const handler: OwningHandler = {
    listTools({ cursor }: PageRequest) {
      const start = cursor === undefined ? 0 : Number(cursor.split('é')[1])
      const end = start + pageSize
      const tools = names.slice(start, end).map((name) => tool(name, label))
      const result = { tools, ...extra, ...(end < names.length ? { nextCursor: `${label}é${end}` } : {}) }
      return isAsync ? Promise.resolve(result) : result
    },
    callTool({ name }) {
      if (!known().has(name)) throw invalidParams(`Unknown tool: "${name}" (${label})`)
      const result = { content: [{ type: 'text' as const, text: `${label}:${name}` }] }
      return isAsync ? Promise.resolve(result) : result
    },
  }
  if (owning) handler.owns = (kind, name) => kind === 'tool' && known().has(name)
  return handler
}

export async function walk(handler: Handler) {
  const pages: ListToolsResult[] = []
  let cursor: string | undefined
  do {
    const page = (await handler.listTools?.(cursor === undefined ? {} : { cursor }, ctx)) as ListToolsResult
    pages.push(page)
    cursor = page.nextCursor
  } while (cursor !== undefined && pages.length < 1_000)
  return { pages, names: pages.flatMap((page) => page.tools.map(({ name }) => name)) }
}

export const failureOf = async (run: () => unknown): Promise<RpcError> => {
  try {
    await run()
  } catch (error) {
    return error as RpcError
  }
  throw new Error('It did not fail')
}
