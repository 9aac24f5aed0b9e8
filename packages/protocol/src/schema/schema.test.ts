import { describe, expect, it } from 'vitest'
import { ContentBlock } from './content.ts'
import { ElicitResult } from './elicitation.ts'
import { PrimitiveSchemaDefinition } from './elicitation-fields.ts'
import { ClientCapabilities } from './lifecycle.ts'
import { LOGGING_LEVELS, LoggingMessageNotificationParams } from './logging.ts'
import { Integer, RequestId } from './primitives.ts'
import { SamplingMessage } from './sampling.ts'
import { CallToolRequestParams, CallToolResult, Tool } from './tools.ts'

describe('a protocol shape', () => {
  it('keeps members that it does not know, at every depth', () => {
    const tool = {
      name: 'add',
      inputSchema: { type: 'object', properties: { a: true } },
      annotations: { newHint: 1 },
      new: [1],
    }
    expect(Tool.parse(tool)).toEqual(tool)
  })

  it('takes undefined for absent, and refuses null', () => {
    expect(Tool.safeParse({ name: 'a', title: undefined, inputSchema: { type: 'object' } }).success).toBe(true)
    expect(Tool.safeParse({ name: 'a', title: null, inputSchema: { type: 'object' } }).success).toBe(false)
  })

  it('hands on arguments as they came, uncopied', () => {
    const params = { name: 'add', arguments: { b: 1, a: 2 } }
    expect(CallToolRequestParams.parse(params).arguments).toBe(params.arguments)
  })

  it('tells a structured null from no structured content', () => {
    expect(CallToolResult.parse({ content: [], structuredContent: null })).toHaveProperty('structuredContent', null)
    expect(CallToolResult.parse({ content: [] })).not.toHaveProperty('structuredContent')
  })

  it('requires data of any kind to be there', () => {
    expect(LoggingMessageNotificationParams.safeParse({ level: 'info', data: null }).success).toBe(true)
    expect(LoggingMessageNotificationParams.safeParse({ level: 'info' }).success).toBe(false)
  })

  it('tells blocks apart by their type', () => {
    expect(ContentBlock.safeParse({ type: 'resource', resource: { uri: 'a:b', text: '' } }).success).toBe(true)
    expect(ContentBlock.safeParse({ type: 'resource', resource: { uri: 'a:b' } }).success).toBe(false)
    expect(ContentBlock.safeParse({ type: 'video', data: '', mimeType: '' }).success).toBe(false)
    expect(ContentBlock.safeParse({ type: 'tool_use', id: '1', name: 'a', input: {} }).success).toBe(false)
  })

  it('lets a sampling message hold one block or several', () => {
    const block = { type: 'text', text: '' }
    expect(SamplingMessage.safeParse({ role: 'user', content: block }).success).toBe(true)
    expect(SamplingMessage.safeParse({ role: 'user', content: [block, block] }).success).toBe(true)
    expect(SamplingMessage.safeParse({ role: 'user', content: [block, 1] }).success).toBe(false)
  })

  it('knows every kind of form field', () => {
    const fields = [
      { type: 'string', format: 'email' },
      { type: 'integer', minimum: 0.5 },
      { type: 'boolean', default: true },
      { type: 'string', enum: ['a'], enumNames: ['A'] },
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      { type: 'array', items: { type: 'string', enum: ['a'] } },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, default: ['a'] },
    ]
    for (const field of fields) expect(PrimitiveSchemaDefinition.safeParse(field).success).toBe(true)
    expect(PrimitiveSchemaDefinition.safeParse({ type: 'array', items: { type: 'number' } }).success).toBe(false)
    expect(PrimitiveSchemaDefinition.safeParse({ type: 'object' }).success).toBe(false)
  })

  it('takes fractions and lists for the values of a form', () => {
    expect(ElicitResult.safeParse({ action: 'accept', content: { a: 0.5, b: ['x'] } }).success).toBe(true)
    expect(ElicitResult.safeParse({ action: 'accept', content: { a: [1] } }).success).toBe(false)
  })

  it('has capabilities be objects, never booleans', () => {
    expect(ClientCapabilities.safeParse({ elicitation: {}, roots: { listChanged: true } }).success).toBe(true)
    expect(ClientCapabilities.safeParse({ elicitation: true }).success).toBe(false)
    expect(ClientCapabilities.safeParse({ elicitation: { url: true } }).success).toBe(false)
  })

  it('takes strings and whole numbers for ids', () => {
    for (const id of [0, '', -1, 2 ** 53 - 1]) expect(RequestId.safeParse(id).success).toBe(true)
    for (const id of [0.5, null, 2 ** 53, Number.NaN]) expect(RequestId.safeParse(id).success).toBe(false)
    expect(Integer.safeParse('1').success).toBe(false)
  })

  it('orders log levels from mild to severe', () => {
    expect(LOGGING_LEVELS.indexOf('debug')).toBeLessThan(LOGGING_LEVELS.indexOf('warning'))
    expect(LOGGING_LEVELS.at(-1)).toBe('emergency')
  })
})
