import { connect, connectAll } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { anthropicMessages, createToolset, listSchemaChanges, toText } from './index.ts'
import { connectZoo, zoo } from './zoo.fixture.ts'

const noTool = { inputSchema: { type: 'object' } } as const

/** A client with tools of some names, whose calls return the name. */
function sourceOf(...names: string[]) {
  const list = names.map((name) => ({ name, ...noTool }))
  return {
    list,
    listTools: () => ({ all: async () => list }),
    callTool: async (name: string) => ({ content: [{ type: 'text' as const, text: name }] }),
  }
}

test('names that model APIs reject are replaced, and lead back to their tools', async () => {
  const long = 'x'.repeat(70)
  const names = ['git.log', 'git_log', 'git/log', `${long}1`, `${long}2`, '1st', 'Ärger', '-a', '']
  const toolset = await createToolset(sourceOf(...names))
  const modelNames = [...toolset.tools.keys()]
  expect(modelNames).toHaveLength(names.length)
  for (const [index, name] of modelNames.entries()) {
    expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/)
    expect(toText(await toolset.call(name, {}))).toBe(names[index])
  }
  expect(modelNames.slice(0, 3)).toEqual(['git_log', 'git_log_2', 'git_log_3'])
})

test('a tool keeps its name when the list is read again in another order', async () => {
  const source = sourceOf('a.b', 'a_b')
  const toolset = await createToolset(source)
  expect([...toolset.tools.keys()]).toEqual(['a_b', 'a_b_2'])
  source.list.reverse()
  await toolset.refresh()
  expect([...toolset.tools].map(([name, tool]) => [name, tool.name])).toEqual([
    ['a_b_2', 'a_b'],
    ['a_b', 'a.b'],
  ])
})

test('two tools of one name are reported, and the first one is used', async () => {
  const warnings: string[] = []
  const source = sourceOf('a', 'a')
  const toolset = await createToolset(source, { onWarning: ({ message }) => void warnings.push(message) })
  expect(toolset.tools.get('a')).toBe(source.list[0])
  expect(warnings).toEqual(['createToolset: two tools are named "a"; the first one is used'])
})

test('with `follow`, the tools are those of the servers after each change', async () => {
  const server = createServer({ name: 'plugins', version: '1.0.0' }).tool('one', {}, () => '1')
  await using client = await connect(server)
  const onChange = vi.fn()
  const toolset = await createToolset(client, { follow: true, onChange })
  await vi.waitUntil(async () => {
    server.tool(`more-${onChange.mock.calls.length}-${Date.now()}`, {}, () => '2')
    await new Promise((resolve) => setTimeout(resolve, 20))
    return toolset.tools.size > 1
  })
  expect(onChange).toHaveBeenCalled()
  toolset.close()
})

test('with `follow`, a list that cannot be read and the end of the changes are reported', async () => {
  const warnings: string[] = []
  const source = sourceOf('a')
  let isBroken = false
  const toolset = await createToolset(
    {
      ...source,
      listTools: () => ({ all: async () => (isBroken ? Promise.reject(new Error('broken')) : source.list) }),
      listen() {
        async function* changes() {
          isBroken = true
          yield 'tools'
          isBroken = false
          source.list.push({ name: 'b', ...noTool })
          yield 'tools'
        }
        return Object.assign(changes(), { close: () => {} })
      },
    },
    { follow: true, onWarning: ({ message }) => void warnings.push(message) },
  )
  await vi.waitUntil(() => warnings.length === 2)
  expect([...toolset.tools.keys()]).toEqual(['a', 'b'])
  expect(warnings).toEqual([
    'follow: the tools could not be read again',
    'follow: the stream of changes has ended; call `refresh` instead',
  ])
})

test('`follow` refuses a client that cannot listen', async () => {
  await expect(createToolset(sourceOf('a'), { follow: true })).rejects.toThrow(
    'follow: expected a client with `listen`; call `refresh` instead',
  )
})

test('faults of the model are results that it can read', async () => {
  await using all = await connectZoo()
  const toolset = await createToolset(all)
  const say = async (name: string, args: unknown) => {
    const result = await toolset.call(name, args)
    expect(result.isError).toBe(true)
    return toText(result)
  }
  expect(await say('fly', {})).toMatch(/^There is no tool called fly. There are: feed, photo,/)
  expect(await say('feed', '{"animal":"ow')).toBe(
    'feed: expected the arguments as a JSON object, got text that is not a complete JSON object',
  )
  expect(await say('feed', [1])).toBe('feed: expected the arguments as a JSON object, got [1]')
  expect(await say('feed', { animal: 3 })).toMatch(/animal/)
  expect(await say('fail', '')).toBe('The owl is asleep.')
})

test('a call is cancelled by its signal, and passes on its progress', async () => {
  await using all = await connectZoo()
  const toolset = await createToolset(all)
  const abort = new AbortController()
  const onProgress = vi.fn(() => abort.abort(new Error('enough')))
  await expect(toolset.call('slow', {}, { signal: abort.signal, onProgress })).rejects.toThrow('enough')
  expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2, message: 'half' })
})

test('long texts are shortened, and say so', async () => {
  const server = createServer({ name: 'long', version: '1.0.0' })
    .tool('text', {}, () => 'x'.repeat(5_000))
    .tool('resource', {}, () => [{ type: 'resource', resource: { uri: 'a://b', text: 'y'.repeat(2_000) } }])
  await using client = await connect(server)
  const toolset = await createToolset(client, { maxText: 1_000 })
  expect(toText(await toolset.call('text', {}))).toBe(`${'x'.repeat(1_000)}\n[4,000 more characters left out]`)
  expect(toText(await toolset.call('resource', {}))).toMatch(/^\[resource a:\/\/b\]\ny{1000}\n\[1,000 more/)
})

test('media types that servers write in other ways are those that APIs accept', async () => {
  const image = (mimeType: string) => ({ type: 'image' as const, data: 'AAAA', mimeType })
  const toolset = await createToolset({
    ...sourceOf('photo'),
    callTool: async () => ({ content: [image('image/jpg'), image('IMAGE/PNG')] }),
  })
  const call = { type: 'tool_use', id: '1', name: 'photo', input: {} }
  expect(await anthropicMessages(toolset).run([call])).toMatchObject([
    { content: [{ source: { media_type: 'image/jpeg' } }, { source: { media_type: 'image/png' } }] },
  ])
})

test('a text is not shortened within a character', async () => {
  const server = createServer({ name: 'long', version: '1.0.0' }).tool('text', {}, () => 'ab😀cd')
  await using client = await connect(server)
  const toolset = await createToolset(client, { maxText: 3 })
  expect(toText(await toolset.call('text', {}))).toBe('ab\n[4 more characters left out]')
})

test('arguments are checked with the original schema where the model saw another one', async () => {
  const calls: unknown[] = []
  const schema = {
    type: 'object',
    properties: { $filter: { type: 'string', maxLength: 3 }, size: { type: 'integer', exclusiveMinimum: 0 } },
    required: ['$filter'],
  } as const
  const toolset = await createToolset({
    listTools: () => ({ all: async () => [{ name: 'find', inputSchema: schema }] }),
    callTool: async (_, args) => {
      calls.push(args)
      return { content: [] }
    },
  })
  const changes = listSchemaChanges(toolset, 'gemini').map(
    ({ path, keyword, effect }) => `${path} ${keyword} ${effect}`,
  )
  expect(changes).toEqual([
    '#/properties/$filter maxLength wider',
    '#/properties/size exclusiveMinimum wider',
    '#/properties $filter same',
  ])
  const dialect = 'gemini'
  expect(toText(await toolset.call('find', { _filter: 'abcd', size: 0 }, { dialect }))).toBe(
    'find: the arguments do not fit the tool. arguments.$filter: expected at most 3 characters, got 4; arguments.size: expected more than 0',
  )
  expect(calls).toEqual([])
  await toolset.call('find', { _filter: 'abc', size: 1 }, { dialect })
  expect(calls).toEqual([{ $filter: 'abc', size: 1 }])
})

test('tools of several servers are distinguished', async () => {
  const shop = createServer({ name: 'shop', version: '1.0.0' }).tool('feed', { input: z.object({}) }, () => 'sold')
  await using all = await connectAll({ zoo, shop })
  const toolset = await createToolset(all)
  expect(toText(await toolset.call('shop_feed', {}))).toBe('sold')
  expect(toText(await toolset.call('zoo_feed', { animal: 'owl' }))).toBe('The owl is fed 1 times.')
})
