/** Static and dynamic resources, and resource templates. */

import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'

const info = { name: 'resources', version: '1' }
const bytes = new Uint8Array([1, 2, 3])

function library() {
  let reads = 0
  return createServer(info)
    .resource(
      'note://static',
      { name: 'Static', title: 'T', description: 'D', size: 6, annotations: { priority: 1 } },
      'as is',
    )
    .resource('note://bytes', { mimeType: 'image/png' }, bytes)
    .resource('note://json', {}, { a: 1 })
    .resource('note://dynamic', {}, () => `read ${++reads} times`)
    .resource('note://many', {}, () => [
      { uri: 'note://many/1', text: 'one' },
      { uri: 'note://many/2', blob: 'AQID' },
    ])
    .resource(
      'user://{id}/{+path}',
      {
        name: 'Users',
        description: 'By id',
        mimeType: 'application/json',
        list: () => [{ uri: 'user://1/a', name: 'One' }],
        complete: { id: ['10', '11', '20'], path: (value, known) => [`${known.id ?? '?'}/${value}`] },
      },
      ({ id, path }, _ctx, uri) => (id === '404' ? undefined : { id, path, uri }),
    )
}

export const resources: Behaviours = {
  async 'resources are listed, including those of a template'({ connect, revision }) {
    const client = await connect(library())
    const listed = await client.listResources().all()
    expect(listed.map(({ uri }) => uri)).toEqual([
      'note://static',
      'note://bytes',
      'note://json',
      'note://dynamic',
      'note://many',
      'user://1/a',
    ])
    expect(listed[0]).toMatchObject({ name: 'Static', description: 'D', size: 6, annotations: { priority: 1 } })
    expect(listed[0]?.title).toBe(revision < '2025-06-18' ? undefined : 'T')
    expect(listed[5]).toMatchObject({ name: 'One' })
  },

  async 'templates are listed'({ connect }) {
    expect(await (await connect(library())).listResourceTemplates().all()).toEqual([
      { uriTemplate: 'user://{id}/{+path}', name: 'Users', description: 'By id', mimeType: 'application/json' },
    ])
  },

  async 'a resource returns text, bytes, JSON, or several contents'({ connect }) {
    const client = await connect(library())
    const read = async (uri: string) => (await client.readResource(uri)).contents
    expect(await read('note://static')).toEqual([{ uri: 'note://static', mimeType: 'text/plain', text: 'as is' }])
    expect(await read('note://bytes')).toEqual([{ uri: 'note://bytes', mimeType: 'image/png', blob: 'AQID' }])
    expect(await read('note://json')).toEqual([{ uri: 'note://json', mimeType: 'application/json', text: '{"a":1}' }])
    expect(await read('note://many')).toEqual([
      { uri: 'note://many/1', text: 'one' },
      { uri: 'note://many/2', blob: 'AQID' },
    ])
  },

  async 'a dynamic resource is computed for each read'({ connect }) {
    const client = await connect(library())
    const texts = [await client.readResource('note://dynamic'), await client.readResource('note://dynamic')]
    expect(texts.map(({ contents }) => contents[0])).toMatchObject([{ text: 'read 1 times' }, { text: 'read 2 times' }])
  },

  async 'a resource template passes its variables to the handler'({ connect }) {
    const { contents } = await (await connect(library())).readResource('user://7/a/b%20c')
    expect(contents[0]).toMatchObject({ mimeType: 'application/json' })
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({
      id: '7',
      path: 'a/b c',
      uri: 'user://7/a/b%20c',
    })
  },

  async 'a missing resource fails with the code of the era'({ connect, era }) {
    const client = await connect(library())
    const code = era === 'legacy' ? -32002 : -32602
    for (const uri of ['note://nope', 'user://404/x', 'mailto:a@example.com']) {
      await expect(client.readResource(uri)).rejects.toMatchObject({ code, data: { uri } })
    }
  },

  async 'variables of a template are completed'({ connect }) {
    const client = await connect(library())
    const ref = { type: 'ref/resource', uri: 'user://{id}/{+path}' } as const
    expect((await client.complete({ ref, argument: { name: 'id', value: '1' } })).completion).toEqual({
      values: ['10', '11'],
      total: 2,
      hasMore: false,
    })
    await expect(client.complete({ ref, argument: { name: 'nope', value: '' } })).rejects.toMatchObject({
      code: -32602,
    })
  },

  async 'a completion receives the other arguments'({ connect }) {
    const client = await connect(library())
    const ref = { type: 'ref/resource', uri: 'user://{id}/{+path}' } as const
    const context = { arguments: { id: '7' } }
    const { completion } = await client.complete({ ref, argument: { name: 'path', value: 'a' }, context })
    expect(completion.values).toEqual(['7/a'])
  },
}
