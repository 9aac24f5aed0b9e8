/** Lists with several pages. */

import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'

const COUNT = 53
const names = Array.from({ length: COUNT }, (_, index) => `n${index}`)

function createPagedServer(pageSize: number) {
  const server = createServer({ name: 'pages', version: '1' }, { pageSize })
  for (const name of names) {
    server
      .tool(name, {}, () => name)
      .prompt(name, {}, () => name)
      .resource(`note://${name}`, { name }, name)
      .resource(`${name}://{id}`, { name }, ({ id }) => String(id))
  }
  return server
}

export const pages: Behaviours = {
  async 'a list is read through all pages in order'({ connect }) {
    const client = await connect(createPagedServer(5))
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listResources().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listResourceTemplates().all()).map(({ name }) => name)).toEqual(names)
  },

  async 'pages have the configured size and are requested lazily'({ connect }) {
    let requests = 0
    const server = createPagedServer(5).use((request, _ctx, next) => {
      if (request.method === 'tools/list') requests += 1
      return next()
    })
    const client = await connect(server)
    const sizes: number[] = []
    for await (const page of client.listTools().pages()) sizes.push(page.length)
    expect(sizes).toEqual([...Array(10).fill(5), 3])
    requests = 0
    for await (const tool of client.listTools({ fresh: true })) if (tool.name === 'n7') break
    expect(requests).toBe(2)
  },

  async 'a list with more pages than maxPages fails'({ connect }) {
    const client = await connect(createPagedServer(5), { maxPages: 3 })
    await expect(client.listTools().all()).rejects.toMatchObject({ name: 'ConnectionError', reason: 'limit' })
  },

  async 'an unknown cursor is rejected'({ connect }) {
    const client = await connect(createPagedServer(5))
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      await expect(client.request(method, { cursor: 'mine' })).rejects.toMatchObject({
        code: -32602,
        message: 'Invalid cursor: it does not belong to this list; request the list without a cursor',
      })
    }
  },

  async 'a list that loses an item while it is read returns all others'({ connect }) {
    const server = createPagedServer(5)
    const client = await connect(server)
    const seen: string[] = []
    for await (const page of client.listTools().pages()) {
      seen.push(...page.map(({ name }) => name))
      server.removeTool(`n${seen.length - 1}`)
    }
    expect(seen).toEqual(names)
  },

  async 'a list that gains an item while it is read returns each item once'({ connect }) {
    const server = createPagedServer(5)
    const client = await connect(server)
    const seen: string[] = []
    for await (const page of client.listTools().pages()) {
      if (seen.length === 0) server.tool('more', {}, () => 'x')
      seen.push(...page.map(({ name }) => name))
    }
    expect(seen).toEqual([...names, 'more'])
  },

  async 'empty lists are empty'({ connect }) {
    const server = createServer(
      { name: 'empty', version: '1' },
      {
        listTools: () => ({ tools: [] }),
        callTool: () => ({ content: [] }),
        listPrompts: () => ({ prompts: [] }),
        getPrompt: () => ({ messages: [] }),
        listResources: () => ({ resources: [] }),
        readResource: () => ({ contents: [] }),
      },
    )
    const client = await connect(server)
    const lists = [client.listTools(), client.listPrompts(), client.listResources(), client.listResourceTemplates()]
    expect(await Promise.all(lists.map((list) => list.all()))).toEqual([[], [], [], []])
  },
}
