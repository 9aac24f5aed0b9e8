/** Lists that come in many pages. */

import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'

const COUNT = 53
const names = Array.from({ length: COUNT }, (_, index) => `n${index}`)

function crowded(pageSize: number) {
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
  async 'every list is read through all of its pages, in order'({ connect }) {
    const client = await connect(crowded(5))
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listResources().all()).map(({ name }) => name)).toEqual(names)
    expect((await client.listResourceTemplates().all()).map(({ name }) => name)).toEqual(names)
  },

  async 'pages are as large as the server says, and only those wanted are asked for'({ connect }) {
    let asked = 0
    const server = crowded(5).use((request, _ctx, next) => {
      if (request.method === 'tools/list') asked += 1
      return next()
    })
    const client = await connect(server)
    const sizes: number[] = []
    for await (const page of client.listTools().pages()) sizes.push(page.length)
    expect(sizes).toEqual([...Array(10).fill(5), 3])
    asked = 0
    for await (const tool of client.listTools({ fresh: true })) if (tool.name === 'n7') break
    expect(asked).toBe(2)
  },

  async 'a list that is too long for the client ends in a named error'({ connect }) {
    const client = await connect(crowded(5), { maxPages: 3 })
    await expect(client.listTools().all()).rejects.toMatchObject({ name: 'ConnectionError', reason: 'limit' })
  },

  async 'a cursor that the server never gave is refused'({ connect }) {
    const client = await connect(crowded(5))
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      await expect(client.request(method, { cursor: 'mine' })).rejects.toMatchObject({
        code: -32602,
        message: 'Invalid cursor: it does not belong to this list; ask again without one',
      })
    }
  },

  async 'a list that loses an item while it is read keeps all others'({ connect }) {
    const server = crowded(5)
    const client = await connect(server)
    const seen: string[] = []
    for await (const page of client.listTools().pages()) {
      seen.push(...page.map(({ name }) => name))
      server.removeTool(`n${seen.length - 1}`)
    }
    expect(seen).toEqual(names)
  },

  async 'a list that gains an item while it is read repeats none'({ connect }) {
    const server = crowded(5)
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
