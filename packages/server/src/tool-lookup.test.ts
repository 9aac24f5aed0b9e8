import type { Context, ListToolsResult, Tool } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { wrap } from './middleware.ts'

const ctx = {} as Context
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })

/** Looks for a tool in a middleware, on a server that has this list. */
function find(list: (cursor: string | undefined) => ListToolsResult | Promise<ListToolsResult>, name: string) {
  const run = wrap([async (_request, _ctx, _next, findTool) => ({ found: await findTool(name, ctx) })], ({ params }) =>
    list(params.cursor as string | undefined),
  )
  return run({ method: 'tools/call', params: {} }, ctx) as Promise<{ found: Tool | undefined }>
}

describe('the lookup of a tool', () => {
  it.each([true, false])('reads all pages of the list (async: %s)', async (isAsync) => {
    const list = (cursor = '0') => {
      const result = { tools: [tool(`t${cursor}`)], ...(cursor === '5' ? {} : { nextCursor: `${Number(cursor) + 1}` }) }
      return isAsync ? Promise.resolve(result) : result
    }
    expect(await find(list, 't5')).toEqual({ found: tool('t5') })
    expect(await find(list, 't6')).toEqual({ found: undefined })
  })

  it('returns the first tool with the name', async () => {
    const tools = [
      { ...tool('a'), title: 'first' },
      { ...tool('a'), title: 'second' },
    ]
    expect(await find(() => ({ tools }), 'a')).toMatchObject({ found: { title: 'first' } })
    expect(await find(() => ({ tools }), 'b')).toEqual({ found: undefined })
  })

  it.each([true, false])('fails if the list fails or has no end (async: %s)', async (isAsync) => {
    const endless = () => {
      const result = { tools: [], nextCursor: 'again' }
      return isAsync ? Promise.resolve(result) : result
    }
    await expect(find(endless, 'a')).rejects.toThrow('more than 1000 pages')
    const broken = () => {
      if (isAsync) return Promise.reject(new Error('no list'))
      throw new Error('no list')
    }
    await expect(find(broken, 'a')).rejects.toThrow('no list')
  })
})
