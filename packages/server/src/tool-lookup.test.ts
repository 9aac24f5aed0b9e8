import { type Context, keepText, type ListToolsResult, type Tool } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { createToolLookup } from './middleware.ts'

const ctx = {} as Context
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })

describe('looking for a tool', () => {
  it.each([true, false])('walks the pages of the list (async: %s)', async (isAsync) => {
    const find = createToolLookup(({ cursor = '0' }) => {
      const result = { tools: [tool(`t${cursor}`)], ...(cursor === '5' ? {} : { nextCursor: `${Number(cursor) + 1}` }) }
      return isAsync ? Promise.resolve(result) : result
    })
    expect(await find('t5', ctx)).toEqual(tool('t5'))
    expect(await find('t6', ctx)).toBeUndefined()
    if (!isAsync) expect(find('t1', ctx)).toEqual(tool('t1'))
  })

  it('finds the first of a name, also in a kept list, which is indexed once', async () => {
    let reads = 0
    const tools = [
      { ...tool('a'), title: 'first' },
      { ...tool('a'), title: 'second' },
    ]
    const kept: ListToolsResult = keepText({
      get tools() {
        reads++
        return tools
      },
    })
    const find = createToolLookup(() => kept)
    expect(await find('a', ctx)).toMatchObject({ title: 'first' })
    await find('b', ctx)
    expect(await find('a', ctx)).toMatchObject({ title: 'first' })
    expect(reads).toBe(1)
  })

  it.each([true, false])('fails when the list does, or when it has no end (async: %s)', async (isAsync) => {
    const endless = createToolLookup(() => {
      const result = { tools: [], nextCursor: 'again' }
      return isAsync ? Promise.resolve(result) : result
    })
    await expect(async () => endless('a', ctx)).rejects.toThrow('more than 1000 pages')
    const broken = createToolLookup(() => {
      if (isAsync) return Promise.reject(new Error('no list'))
      throw new Error('no list')
    })
    await expect(async () => broken('a', ctx)).rejects.toThrow('no list')
  })
})
