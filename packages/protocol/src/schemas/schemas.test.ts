import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { check, type Schema } from '../validate.ts'
import { ElicitResult, PrimitiveSchemaDefinition, SamplingMessage } from './client-features.ts'
import {
  CallToolRequestParams,
  CallToolResult,
  ContentBlock,
  LOGGING_LEVELS,
  LoggingMessageNotificationParams,
  Tool,
} from './server-features.ts'
import { ClientCapabilities, Integer, RequestId } from './shared.ts'

function fits(schema: Schema<unknown>, value: unknown): boolean {
  return check(schema, value).problem === undefined
}

describe('a protocol shape', () => {
  it('keeps unknown members at every depth', () => {
    const tool = {
      name: 'add',
      inputSchema: { type: 'object', properties: { a: true } },
      annotations: { newHint: 1 },
      new: [1],
    }
    expect(check(Tool, tool).value).toEqual(tool)
  })

  it('accepts undefined as absent, and rejects null', () => {
    expect(fits(Tool, { name: 'a', title: undefined, inputSchema: { type: 'object' } })).toBe(true)
    expect(fits(Tool, { name: 'a', title: null, inputSchema: { type: 'object' } })).toBe(false)
  })

  it('passes on arguments without copying', () => {
    const params = { name: 'add', arguments: { b: 1, a: 2 } }
    expect(check(CallToolRequestParams, params).value?.arguments).toBe(params.arguments)
  })

  it('distinguishes structured null from missing structured content', () => {
    expect(check(CallToolResult, { content: [], structuredContent: null }).value).toHaveProperty(
      'structuredContent',
      null,
    )
    expect(check(CallToolResult, { content: [] }).value).not.toHaveProperty('structuredContent')
  })

  it('requires data of any type', () => {
    expect(fits(LoggingMessageNotificationParams, { level: 'info', data: null })).toBe(true)
    expect(fits(LoggingMessageNotificationParams, { level: 'info' })).toBe(false)
  })

  it('distinguishes blocks by their type', () => {
    expect(fits(ContentBlock, { type: 'resource', resource: { uri: 'a:b', text: '' } })).toBe(true)
    expect(fits(ContentBlock, { type: 'resource', resource: { uri: 'a:b' } })).toBe(false)
    expect(fits(ContentBlock, { type: 'video', data: '', mimeType: '' })).toBe(false)
    expect(fits(ContentBlock, { type: 'tool_use', id: '1', name: 'a', input: {} })).toBe(false)
  })

  it('accepts one or several blocks in a sampling message', () => {
    const block = { type: 'text', text: '' }
    expect(fits(SamplingMessage, { role: 'user', content: block })).toBe(true)
    expect(fits(SamplingMessage, { role: 'user', content: [block, block] })).toBe(true)
    expect(fits(SamplingMessage, { role: 'user', content: [block, 1] })).toBe(false)
  })

  it('accepts every type of form field', () => {
    const fields = [
      { type: 'string', format: 'email' },
      { type: 'integer', minimum: 0.5 },
      { type: 'boolean', default: true },
      { type: 'string', enum: ['a'], enumNames: ['A'] },
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      { type: 'array', items: { type: 'string', enum: ['a'] } },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, default: ['a'] },
    ]
    for (const field of fields) expect(fits(PrimitiveSchemaDefinition, field)).toBe(true)
    expect(fits(PrimitiveSchemaDefinition, { type: 'array', items: { type: 'number' } })).toBe(false)
    expect(fits(PrimitiveSchemaDefinition, { type: 'object' })).toBe(false)
  })

  it('accepts fractions and lists as form values', () => {
    expect(fits(ElicitResult, { action: 'accept', content: { a: 0.5, b: ['x'] } })).toBe(true)
    expect(fits(ElicitResult, { action: 'accept', content: { a: [1] } })).toBe(false)
  })

  it('accepts only objects as capabilities', () => {
    expect(fits(ClientCapabilities, { elicitation: {}, roots: { listChanged: true } })).toBe(true)
    expect(fits(ClientCapabilities, { elicitation: true })).toBe(false)
    expect(fits(ClientCapabilities, { elicitation: { url: true } })).toBe(false)
  })

  it('accepts strings and integers as ids', () => {
    for (const id of [0, '', -1, 2 ** 53 - 1]) expect(fits(RequestId, id)).toBe(true)
    for (const id of [0.5, null, 2 ** 53, Number.NaN]) expect(fits(RequestId, id)).toBe(false)
    expect(fits(Integer, '1')).toBe(false)
  })

  it('can be parsed, extended and checked with custom messages', () => {
    const PricedTool = z.extend(Tool, { price: z.number(), unit: z.string({ error: 'name a currency' }) })
    const tool = { name: 'add', inputSchema: { type: 'object' }, price: 1, unit: 'EUR' }
    expect(z.parse(PricedTool, tool)).toEqual(tool)
    expect(Tool.safeParse({ name: 1 }).success).toBe(false)
    expect(check(PricedTool, { ...tool, price: '1', unit: 2 }, 'tool').problem).toBe(
      'tool.price: expected number, got string; tool.unit: name a currency',
    )
  })

  it('orders log levels by severity', () => {
    expect(LOGGING_LEVELS.indexOf('debug')).toBeLessThan(LOGGING_LEVELS.indexOf('warning'))
    expect(LOGGING_LEVELS.at(-1)).toBe('emergency')
  })
})
