import { expect, test } from 'vitest'
import { createToolset, openaiChat, searchTools, type Toolset, toText } from './index.ts'
import { rankTools } from './search.ts'
import type { ToolInfo } from './toolset.ts'
import { connectZoo } from './zoo.fixture.ts'

async function found(toolset: Toolset, query: string): Promise<string[]> {
  const text = toText(await toolset.call('search_tools', { query }))
  return JSON.parse(text).map(({ name }: { name: string }) => name)
}

test('a model finds a tool and calls it', async () => {
  await using all = await connectZoo()
  const toolset = searchTools(await createToolset(all))
  expect([...toolset.tools.keys()]).toEqual(['search_tools', 'call_tool'])
  expect(await found(toolset, 'feeding an animal')).toEqual(['feed'])
  const args = { name: 'feed', arguments: { animal: 'owl' } }
  expect(toText(await toolset.call('call_tool', args))).toBe('The owl is fed 1 times.')
  expect(toText(await toolset.call('search_tools', { query: 'qqq' }))).toBe('No tool fits "qqq". Try other words.')
  expect(toText(await toolset.call('feed', {}))).toMatch(/^There is no tool called feed/)
  expect(await toolset.call('call_tool', { name: 'fail' })).toMatchObject({ isError: true })
})

test('the adapters accept it, and tools can be offered beside it', async () => {
  await using all = await connectZoo()
  const chat = openaiChat(searchTools(await createToolset(all), { direct: ['feed'], maxResults: 1 }), {
    strict: true,
  })
  expect(chat.tools.map((tool) => [tool.function.name, tool.function.strict])).toEqual([
    ['search_tools', true],
    ['call_tool', false], // its arguments have any name
    ['feed', true],
  ])
  const call = { name: 'call_tool', arguments: '{"name":"feed","arguments":{"animal":"owl"}}' }
  const feed = { name: 'feed', arguments: '{"animal":"cat","portions":null}' }
  const messages = await chat.run([
    { id: 'c1', type: 'function', function: call },
    { id: 'c2', type: 'function', function: feed },
  ])
  expect(messages.map(({ content }) => content)).toEqual(['The owl is fed 1 times.', 'The cat is fed 1 times.'])
})

test('ranks names above descriptions, rare words above frequent ones, and keeps the order of equals', () => {
  const tool = (description: string, ...properties: string[]): ToolInfo => {
    const inputSchema = {
      type: 'object',
      properties: Object.fromEntries(properties.map((name) => [name, {}])),
    } as const
    return { name: '', description, inputSchema }
  }
  const tools = new Map([
    ['mail_send', tool('Sends a mail to people', 'to', 'body')],
    ['listFiles', tool('Lists the files of a folder', 'folder')],
    ['file_read', tool('Reads the text of a file', 'path')],
    ['mail_list', tool('Lists the mail')],
    ['clock', tool('Tells the time')],
  ])
  expect(rankTools(tools, 'read a file')[0]).toBe('file_read')
  expect(rankTools(tools, 'list files')[0]).toBe('listFiles')
  expect(rankTools(tools, 'SEND MAIL')[0]).toBe('mail_send')
  expect(rankTools(tools, 'mail')).toEqual(['mail_send', 'mail_list'])
  expect(rankTools(tools, 'path')).toEqual(['file_read'])
  expect(rankTools(tools, 'xylophone')).toEqual([])
})
