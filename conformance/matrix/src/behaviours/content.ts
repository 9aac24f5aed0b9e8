/** Every kind of content, and its conversion for revisions without that kind. */

import type { ContentBlock, Revision } from '@mcpx/protocol'
import { audio, createServer, image, link, resource, text } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'

const bytes = new Uint8Array([0, 255, 10])
const lastModified = '2026-01-01T00:00:00Z'

const blocks: readonly ContentBlock[] = [
  text('words', { annotations: { audience: ['user'], priority: 0.5, lastModified }, _meta: { 'com.example/a': 1 } }),
  image(bytes, 'image/png'),
  audio(bytes, 'audio/wav'),
  resource('file:///a.txt', 'inside'),
  resource('file:///a.bin', bytes, { mimeType: 'image/png' }),
  link('file:///b.txt', 'b', { title: 'The B', mimeType: 'text/plain', description: 'Read it' }),
]

/** The content as the revision defines it. */
function expected(revision: Revision): unknown[] {
  const annotations = { audience: ['user'], priority: 0.5 }
  const textBlock = { type: 'text', text: 'words' }
  return [
    revision < '2025-06-18'
      ? { ...textBlock, annotations }
      : { ...textBlock, annotations: { ...annotations, lastModified }, _meta: { 'com.example/a': 1 } },
    { type: 'image', data: 'AP8K', mimeType: 'image/png' },
    revision < '2025-03-26'
      ? { type: 'text', text: '[audio left out: audio/wav]' }
      : { type: 'audio', data: 'AP8K', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'image/png', blob: 'AP8K' } },
    revision < '2025-06-18' ? { type: 'text', text: 'The B: file:///b.txt' } : blocks[5],
  ]
}

export const content: Behaviours = {
  async 'a tool returns content of every kind, converted for older revisions'(rig) {
    const server = createServer({ name: 'content', version: '1' }).tool('all', {}, () => ({ content: [...blocks] }))
    expect((await (await rig.connect(server)).callTool('all')).content).toEqual(expected(rig.revision))
  },

  async 'a prompt returns content of every kind, converted for older revisions'(rig) {
    const server = createServer({ name: 'content', version: '1' }).prompt('all', {}, () =>
      blocks.map((block, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: block })),
    )
    const { messages } = await (await rig.connect(server)).getPrompt('all')
    expect(messages.map((message) => message.content)).toEqual(expected(rig.revision))
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant'])
  },

  async 'strings, blocks, lists, undefined and plain values are valid results'({ connect }) {
    const returned: Record<string, unknown> = {
      string: 'a',
      block: text('a'),
      list: ['a', text('b')],
      nothing: undefined,
      value: { a: [1, null] },
    }
    const server = createServer({ name: 'content', version: '1' })
    for (const [name, value] of Object.entries(returned)) server.tool(name, {}, () => value as never)
    const client = await connect(server)
    const texts = async (name: string) =>
      (await client.callTool(name)).content.map((block) => (block.type === 'text' ? block.text : block))
    expect(await texts('string')).toEqual(['a'])
    expect(await texts('block')).toEqual(['a'])
    expect(await texts('list')).toEqual(['a', 'b'])
    expect(await texts('nothing')).toEqual([])
    expect(await texts('value')).toEqual(['{"a":[1,null]}'])
  },

  async 'a call carries metadata in both directions'({ connect }) {
    const server = createServer({ name: 'content', version: '1' }).tool('meta', {}, (_args, ctx) => ({
      content: [],
      _meta: { 'com.example/back': ctx.meta['com.example/there'] ?? null },
    }))
    const client = await connect(server)
    const result = await client.callTool('meta', {}, { meta: { 'com.example/there': { a: 1 } } })
    expect(result._meta).toMatchObject({ 'com.example/back': { a: 1 } })
  },

  async 'text of any script and size arrives unchanged'({ connect }) {
    const string = `\u0000\u2028"\\ é 日本 😀 ${'x'.repeat(1_000_000)}`
    const server = createServer({ name: 'content', version: '1' }).tool('echo', { input: { type: 'object' } }, (args) =>
      text(String(args.string)),
    )
    const client = await connect(server)
    const { content: blocks } = await client.callTool('echo', { string })
    expect(blocks[0]?.type === 'text' && blocks[0].text === string).toBe(true)
  },
}
