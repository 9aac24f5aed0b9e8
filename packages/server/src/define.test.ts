import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { createServer, definePrompt, defineResource, defineTool, RegistrationError } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

const info = { name: 's', version: '1' }
const add = defineTool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`)
const note = defineResource('note://{id}', { complete: { id: ['1'] } }, ({ id }) => `Note ${id}`)
const config = defineResource('config://app', {}, { debug: true })
const review = definePrompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review ${code}`)

it('adds tools, resources and prompts that were created as values', async () => {
  const server = createServer(info)
    .tool('first', {}, () => '')
    .add(add, note, config, review)
  const peer = await connect(server, '2026-07-28')
  expect((await peer.call('tools/list')).tools).toMatchObject([{ name: 'first' }, { name: 'add' }])
  expect((await peer.call('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })).content[0]?.text).toBe('3')
  expect(await peer.call('resources/read', { uri: 'note://7' })).toMatchObject({ contents: [{ text: 'Note 7' }] })
  expect(await peer.call('resources/read', { uri: 'config://app' })).toMatchObject({
    contents: [{ text: '{"debug":true}' }],
  })
  expect(await peer.call('prompts/get', { name: 'review', arguments: { code: 'x' } })).toMatchObject({
    messages: [{ content: { text: 'Review x' } }],
  })
})

it('adds a value to several servers, also while they run', async () => {
  const [one, other] = [createServer(info), createServer(info)]
  const peer = await connect(one.add(add), '2026-07-28')
  one.add(review)
  other.add(add)
  expect(await peer.call('prompts/get', { name: 'review', arguments: { code: 'x' } })).toHaveProperty('messages')
  expect(() => one.add(add)).toThrow('Tool "add" is already registered')
})

it('lets a test call the handler of a tool without a server', () => {
  expect(add.run({ a: 1, b: 2 }, {} as never)).toBe('3')
})

it('refuses other values, and invalid ones by name', () => {
  const server = createServer(info)
  for (const [item, kind] of [
    [undefined, 'nothing'],
    [{ name: 'x' }, 'object'],
    [() => {}, 'function'],
  ] as const) {
    expect(() => server.add(item as never)).toThrow(RegistrationError)
    expect(() => server.add(item as never)).toThrow(
      `add: expected a value of defineTool, defineResource or definePrompt, got ${kind}`,
    )
  }
  expect(() => server.add(defineTool('x', { descripton: '' } as object, () => ''))).toThrow(
    'Tool "x": there is no option',
  )
  expect(() => server.add((defineTool as (name: string) => never)('x'))).toThrow('Tool "x": expected .tool(name, {')
})
