import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { placeOf } from './json.ts'
import {
  CreateMessageRequestParams,
  ElicitRequestParams,
  ElicitResult,
  InputRequiredResult,
  RequestedSchema,
  SamplingMessage,
} from './schemas/client-features.ts'
import {
  CallToolRequestParams,
  CallToolResult,
  ContentBlock,
  GetPromptRequestParams,
  ListToolsResult,
  LoggingMessageNotificationParams,
} from './schemas/server-features.ts'
import { ClientCapabilities, RequestId } from './schemas/shared.ts'
import { check, record, type Schema } from './validate.ts'
import { workOf } from './work.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`validate.test.ts: FC_SEED=${seed}`)

function problem(schema: Schema<unknown>, value: unknown, root = 'params'): string | undefined {
  return check(schema, value, root).problem
}

describe('check', () => {
  it('returns valid values', () => {
    expect(check(CallToolRequestParams, { name: 'add' })).toEqual({ value: { name: 'add' } })
  })

  it.each([
    [CallToolRequestParams, { name: 1 }, 'params.name: expected string, got number'],
    [CallToolRequestParams, {}, 'params.name: expected string, got nothing'],
    [CallToolRequestParams, null, 'params: expected object, got null'],
    [CallToolRequestParams, [], 'params: expected object, got array'],
    [CallToolRequestParams, { name: 'a', arguments: [] }, 'params.arguments: expected object, got array'],
    [
      CallToolRequestParams,
      { name: 'a', _meta: { progressToken: 0.5 } },
      'params._meta.progressToken: expected string or integer, got number',
    ],
    [LoggingMessageNotificationParams, { level: 'info' }, 'params.data: expected a value, got nothing'],
    [
      LoggingMessageNotificationParams,
      { level: 'loud', data: 1 },
      'params.level: expected one of "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", got another string',
    ],
    [RequestId, null, 'params: expected string or integer, got null'],
  ])('names the place, the expected and the actual value (%#)', (schema, value, text) => {
    expect(problem(schema as Schema<unknown>, value)).toBe(text)
  })

  it('omits the place if it has no name', () => {
    expect(problem(CallToolRequestParams, 1, '')).toBe('expected object, got number')
    expect(problem(CallToolRequestParams, {}, '')).toBe('name: expected string, got nothing')
  })

  it('names at most three problems', () => {
    const tools = [{}, {}, {}]
    expect(problem(ListToolsResult, { tools }, 'result')).toBe(
      'result.tools[0].name: expected string, got nothing; ' +
        'result.tools[0].inputSchema: expected object, got nothing; ' +
        'result.tools[1].name: expected string, got nothing; and more',
    )
  })

  describe('in a union', () => {
    it.each([
      [
        'the shape with the matching tag',
        ContentBlock,
        { type: 'image', data: 'x' },
        'mimeType: expected string, got nothing',
      ],
      [
        'all tags if none matches',
        ContentBlock,
        { type: 'video' },
        'type: expected one of "text", "image", "audio", "resource_link", "resource", got another string',
      ],
      ['all types if none matches', ContentBlock, 7, 'expected object, got number'],
      [
        'a union in a union',
        SamplingMessage,
        { role: 'user', content: [{ type: 'text' }] },
        'content[0].text: expected string, got nothing',
      ],
      [
        'one of several simple types',
        ElicitResult,
        { action: 'accept', content: { a: null } },
        'content.a: expected one of string, number, boolean, array, got null',
      ],
      [
        'an item of the only type with items',
        ElicitResult,
        { action: 'accept', content: { a: ['x', 1] } },
        'content.a[1]: expected string, got number',
      ],
      [
        'the mode that was chosen',
        ElicitRequestParams,
        { mode: 'url', message: 'm' },
        'url: expected string, got nothing',
      ],
      ['the default mode', ElicitRequestParams, { message: 'm' }, 'requestedSchema: expected object, got nothing'],
      [
        'the request behind a name',
        InputRequiredResult,
        {
          resultType: 'input_required',
          inputRequests: { k: { method: 'sampling/createMessage', params: { messages: [] } } },
        },
        'inputRequests.k.params.maxTokens: expected integer, got nothing',
      ],
      [
        'all methods if none matches',
        InputRequiredResult,
        { resultType: 'input_required', inputRequests: { k: { method: 'tools/list' } } },
        'inputRequests.k.method: expected one of "sampling/createMessage", "roots/list", "elicitation/create", got another string',
      ],
      [
        'the field of a form with another invalid keyword',
        RequestedSchema,
        { type: 'object', properties: { a: { type: 'string', format: 'colour' } } },
        'properties.a.format: expected one of "email", "uri", "date", "date-time", got another string',
      ],
      [
        'the field of a form',
        RequestedSchema,
        { type: 'object', properties: { a: { type: 'number', minimum: 'x' } } },
        'properties.a.minimum: expected number, got string',
      ],
    ])('names %s', (_, schema, value, text) => {
      expect(problem(schema as Schema<unknown>, value, '')).toBe(text)
    })
  })

  it('quotes and shortens the names that a peer chose', () => {
    const prompts = record(z.string())
    expect(problem(prompts, { 'a"\n\u001b[31m': 1 })).toBe('params["a\\"\\n\\u001b[31m"]: expected string, got number')
    const long = problem(prompts, { ['x'.repeat(1e6)]: 1 }) as string
    expect(long.length).toBeLessThan(200)
    expect(placeOf(['a', 0, 'b-c'], 'params')).toBe('params.a[0]["b-c"]')
  })

  it('never throws, and never repeats a value', () => {
    const schemas = [
      CallToolResult,
      CreateMessageRequestParams,
      InputRequiredResult,
      ElicitRequestParams,
      ListToolsResult,
    ]
    fc.assert(
      fc.property(fc.constantFrom(...(schemas as Schema<unknown>[])), fc.jsonValue(), (schema, noise) => {
        const secret = 'hunter2-hunter2'
        const value = { role: secret, content: [noise, secret], messages: secret, tools: [{ name: noise, title: 1 }] }
        const text = problem(schema, value)
        expect(text).toBeTypeOf('string')
        expect(text).not.toContain(secret)
        expect((text as string).length).toBeLessThan(1500)
      }),
      { seed, numRuns: 300 },
    )
  })

  it('names a few of many problems without searching for all', () => {
    const content = Array.from({ length: 900_000 }, () => ({}))
    let problem: string | undefined
    const work = workOf(() => {
      problem = check(CallToolResult, { content }).problem
    })
    expect(work).toBeLessThan(500)
    expect(problem).toMatch(/^content\[0\].*and more$/)
  })

  it.each<[string, Schema, (count: number) => unknown]>([
    ['capabilities', ClientCapabilities, (count) => ({ experimental: membersOf(count, 1) })],
    ['form fields', RequestedSchema, (count) => ({ type: 'object', properties: membersOf(count, {}) })],
    [
      'input requests',
      InputRequiredResult,
      (count) => ({ resultType: 'input_required', inputRequests: membersOf(count, {}) }),
    ],
    ['arguments', GetPromptRequestParams, (count) => ({ name: 'a', arguments: membersOf(count, 1) })],
    ['form values', ElicitResult, (count) => ({ action: 'accept', content: membersOf(count, {}) })],
    ['messages', CreateMessageRequestParams, (count) => ({ maxTokens: 1, messages: Array(count).fill({}) })],
  ])('names a few of many problems of %s, and never throws', (_, schema, make) => {
    const value = make(300_000)
    let problem: string | undefined
    const work = workOf(() => {
      problem = check(schema, value).problem
    })
    expect(problem).toMatch(/and more$/)
    expect((problem as string).length).toBeLessThan(1_000)
    expect(work).toBeLessThan(300)
  })
})

function membersOf(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, value]))
}
