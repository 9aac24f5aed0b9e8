import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  aiSdkTools,
  anthropicMessages,
  createToolset,
  fitSchema,
  geminiContent,
  langchainTools,
  listSchemaChanges,
  openaiChat,
  openaiResponses,
  searchTools,
} from './index.ts'

const server = createServer({ name: 'clock', version: '1.0.0' }).tool('now', {}, () => 'noon')
const client = await connect(server)
const toolset = await createToolset(client)
const jsonSchema = (schema: never) => schema

test.each([
  [{ onchange: () => {} }, 'createToolset: there is no option "onchange"; expected one of follow, onChange, maxText'],
  ['x', 'createToolset: expected an object of options, got string'],
  [{ maxText: -1 }, 'createToolset: maxText: expected a number from 0, got -1'],
  [{ maxText: Number.NaN }, 'createToolset: maxText: expected a number from 0, got NaN'],
  [{ maxText: '9' }, 'createToolset: maxText: expected a number from 0, got 9'],
])('createToolset refuses the options %j', async (options, message) => {
  await expect(createToolset(client, options as never)).rejects.toThrow(message)
})

test.each([
  [connect(server), 'createToolset: expected a connected client, got a promise; write createToolset(await connect(…))'],
  [server, 'createToolset: expected a connected client, got object'],
  [undefined, 'createToolset: expected a connected client, got nothing'],
])('createToolset refuses %s', async (source, message) => {
  await expect(createToolset(source as never)).rejects.toThrow(message)
})

const adapters = {
  openaiChat,
  openaiResponses,
  anthropicMessages,
  geminiContent,
  aiSdkTools,
  langchainTools,
  searchTools,
}

describe.each(Object.entries(adapters))('%s', (name, adapter) => {
  const adapt = adapter as (given: unknown, options?: object) => unknown
  const required = { aiSdkTools: { jsonSchema }, langchainTools: { create: () => {}, ToolMessage: class {} } }
  const options = name in required ? required[name as keyof typeof required] : {}

  test('refuses a toolset that was not awaited, and a client', () => {
    const message = `${name}: expected a toolset, got a promise; write ${name}(await createToolset(client))`
    expect(() => adapt(createToolset(client), options)).toThrow(message)
    expect(() => adapt(client, options)).toThrow(`${name}: expected a toolset, got object`)
  })

  test('refuses an option that does not exist', () => {
    expect(() => adapt(toolset, { ...options, Strict: true })).toThrow(`${name}: there is no option "Strict"; expected`)
  })
})

test.each([
  [() => aiSdkTools(toolset, {} as never), 'aiSdkTools: jsonSchema: expected a function, got nothing'],
  [() => langchainTools(toolset, {} as never), 'langchainTools: create: expected a function, got nothing'],
  [() => langchainTools(toolset, { create: () => 1 } as never), 'langchainTools: ToolMessage: expected a function'],
  [
    () => searchTools(toolset, { maxResults: Number.NaN }),
    'searchTools: maxResults: expected a number from 0, got NaN',
  ],
  [() => searchTools(toolset, { direct: 'now' as never }), 'searchTools: direct: expected array, got string'],
])('%s is refused', (use, message) => {
  expect(use).toThrow(message)
})

test.each([
  ['openaiChat.run', openaiChat(toolset), 'message.tool_calls'],
  ['openaiResponses.run', openaiResponses(toolset), 'response.output'],
  ['anthropicMessages.run', anthropicMessages(toolset), 'message.content'],
  ['geminiContent.run', geminiContent(toolset), 'response.functionCalls'],
])('%s refuses a whole message, and unknown options', async (name, { run }, argument) => {
  await expect(run({ role: 'assistant' } as never)).rejects.toThrow(
    `${name}: expected array, got object; pass ${argument}`,
  )
  await expect(run([], { sginal: 1 } as never)).rejects.toThrow(`${name}: there is no option "sginal"`)
})

test('a dialect that does not exist is refused by name', () => {
  const message =
    'dialect: expected one of common, openai, openai-strict, anthropic, anthropic-strict, gemini, got "openia"'
  const dialect = 'openia' as never
  expect(() => fitSchema({ type: 'object' }, dialect)).toThrow(message)
  expect(() => listSchemaChanges(toolset, dialect)).toThrow(message)
  expect(() => aiSdkTools(toolset, { jsonSchema, dialect })).toThrow(message)
})

test('only a JSON Schema can be fitted', () => {
  expect(() => fitSchema(undefined as never, 'openai')).toThrow('fitSchema: expected a JSON Schema, got nothing')
  expect(fitSchema(z.toJSONSchema(z.object({ a: z.string() })), 'openai-strict').strict).toBe(true)
})

test('arguments that JSON cannot express are results that the model can read', async () => {
  for (const args of [5n, () => 1, Symbol('a')]) {
    const { isError, content } = await toolset.call('now', args)
    expect(isError).toBe(true)
    expect(content).toMatchObject([{ text: `now: expected the arguments as a JSON object, got ${typeof args}` }])
  }
})
