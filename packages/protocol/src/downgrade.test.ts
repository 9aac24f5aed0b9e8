import { describe, expect, it } from 'vitest'
import { stripParamsFor as stripParams, stripFor as stripResult } from './downgrade.ts'

/** Freezes a value deeply, so that a change of the input throws. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}

const icons = [{ src: 'data:,' }]
const meta = { 'com.example/a': 1 }
const tool = frozen({
  name: 'add',
  title: 'Add',
  description: 'Adds.',
  icons,
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { a: true, b: { type: 'number' }, c: false } },
  outputSchema: { type: 'object' },
  execution: { taskSupport: 'optional' },
  _meta: meta,
})

describe('a result for an older revision', () => {
  it('is the same object if nothing has to be removed', () => {
    const result = frozen({ content: [{ type: 'text', text: '' }], structuredContent: {}, _meta: meta, isError: false })
    expect(stripResult('2025-11-25', 'tools/call', result)).toBe(result)
    const list = frozen({
      tools: [{ name: 'a', inputSchema: { type: 'object', properties: { a: {} } } }],
      nextCursor: 'x',
    })
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const) {
      expect(stripResult(revision, 'tools/list', list)).toBe(list)
    }
  })

  it('shares unchanged parts', () => {
    const plain = { name: 'a', inputSchema: { type: 'object' } }
    const list = frozen({ tools: [plain, tool], ttlMs: 0, cacheScope: 'private', resultType: 'complete' })
    const stripped = stripResult('2025-11-25', 'tools/list', list)
    expect(Object.keys(stripped)).toEqual(['tools'])
    expect(stripped.tools[0]).toBe(plain)
    expect(stripped.tools[1]).not.toBe(tool)
  })

  it('loses modern members for every method', () => {
    const extras = frozen({ resultType: 'complete', ttlMs: 1, cacheScope: 'public', kept: 1 })
    for (const method of ['ping', 'tools/list', 'resources/read', 'com.example/own']) {
      expect(stripResult('2025-11-25', method, extras)).toEqual({ kept: 1 })
    }
  })

  it('describes tools as in each revision', () => {
    const asObjects = { type: 'object', properties: { a: {}, b: { type: 'number' }, c: { not: {} } } }
    const of = (revision: '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25') =>
      stripResult(revision, 'tools/list', { tools: [tool] }).tools[0]
    expect(of('2025-11-25')).toEqual({ ...tool, inputSchema: asObjects })
    expect(Object.keys(of('2025-06-18') ?? {}).sort()).toEqual(
      ['_meta', 'annotations', 'description', 'inputSchema', 'name', 'outputSchema', 'title'].sort(),
    )
    expect(Object.keys(of('2025-03-26') ?? {}).sort()).toEqual(['annotations', 'description', 'inputSchema', 'name'])
    expect(of('2024-11-05')).toEqual({ name: 'add', description: 'Adds.', inputSchema: asObjects })
  })

  it('has only objects as output schemas and structured content', () => {
    for (const outputSchema of [{ type: 'array' }, { anyOf: [] }, { type: ['object', 'null'] }]) {
      const list = frozen({ tools: [{ name: 'a', inputSchema: { type: 'object' }, outputSchema }] })
      expect(stripResult('2025-11-25', 'tools/list', list).tools[0]).not.toHaveProperty('outputSchema')
    }
    const writesItself = { toJSON: () => 'x' }
    for (const structuredContent of [[], 'x', 0, false, null, new Date(0), writesItself]) {
      const result = frozen({ content: [], structuredContent })
      expect(stripResult('2025-11-25', 'tools/call', result)).toEqual({ content: [] })
    }
    const result = frozen({ content: [], structuredContent: {} })
    expect(stripResult('2025-06-18', 'tools/call', result)).toBe(result)
    expect(stripResult('2025-03-26', 'tools/call', result)).toEqual({ content: [] })
  })

  it('replaces unsupported content blocks by text', () => {
    const link = { type: 'resource_link', uri: 'a:b', name: 'b', title: 'B', icons, annotations: { priority: 1 } }
    const audio = { type: 'audio', data: 'YQ==', mimeType: 'audio/wav', _meta: meta }
    const result = frozen({ content: [link, audio] })
    expect(stripResult('2025-11-25', 'tools/call', result)).toBe(result)
    expect(stripResult('2025-06-18', 'tools/call', result).content).toEqual([
      { type: 'resource_link', uri: 'a:b', name: 'b', title: 'B', annotations: { priority: 1 } },
      audio,
    ])
    const text = { type: 'text', text: 'B: a:b', annotations: { priority: 1 } }
    expect(stripResult('2025-03-26', 'tools/call', result).content).toEqual([
      text,
      { type: 'audio', data: 'YQ==', mimeType: 'audio/wav' },
    ])
    expect(stripResult('2024-11-05', 'tools/call', result).content).toEqual([
      text,
      { type: 'text', text: '[audio left out: audio/wav]' },
    ])
    const prompt = frozen({ messages: [{ role: 'user', content: audio }] })
    expect(stripResult('2024-11-05', 'prompts/get', prompt).messages[0]?.content).toEqual({
      type: 'text',
      text: '[audio left out: audio/wav]',
    })
  })

  it('loses metadata, titles, icons and dates of items', () => {
    const item = {
      uri: 'a:b',
      name: 'b',
      title: 'B',
      icons,
      _meta: meta,
      annotations: { priority: 1, lastModified: 'x' },
    }
    const bare = { uri: 'a:b', name: 'b', annotations: { priority: 1 } }
    expect(stripResult('2025-03-26', 'resources/list', frozen({ resources: [item] }))).toEqual({ resources: [bare] })
    expect(stripResult('2025-03-26', 'resources/templates/list', frozen({ resourceTemplates: [item] }))).toEqual({
      resourceTemplates: [bare],
    })
    const contents = frozen({ contents: [{ uri: 'a:b', text: '', _meta: meta }], _meta: meta })
    expect(stripResult('2025-03-26', 'resources/read', contents)).toEqual({
      contents: [{ uri: 'a:b', text: '' }],
      _meta: meta,
    })
    const prompts = frozen({ prompts: [{ name: 'a', title: 'A', arguments: [{ name: 'x', title: 'X' }] }] })
    expect(stripResult('2025-03-26', 'prompts/list', prompts)).toEqual({
      prompts: [{ name: 'a', arguments: [{ name: 'x' }] }],
    })
  })

  it('declares only capabilities of the revision', () => {
    const result = frozen({
      protocolVersion: 'x',
      capabilities: { tools: { listChanged: true }, completions: {}, tasks: {}, extensions: {}, experimental: {} },
      serverInfo: { name: 's', version: '1', title: 'S', description: 'd', websiteUrl: 'w:', icons },
    })
    expect(stripResult('2025-11-25', 'initialize', result)).toBe(result)
    expect(stripResult('2025-06-18', 'initialize', result)).toEqual({
      protocolVersion: 'x',
      capabilities: { tools: { listChanged: true }, completions: {}, experimental: {} },
      serverInfo: { name: 's', version: '1', title: 'S' },
    })
    expect(stripResult('2024-11-05', 'initialize', result)).toEqual({
      protocolVersion: 'x',
      capabilities: { tools: { listChanged: true }, experimental: {} },
      serverInfo: { name: 's', version: '1' },
    })
  })

  it('has a single block of sampling content', () => {
    const text = { type: 'text', text: 'a' }
    const image = { type: 'image', data: '', mimeType: 'image/png' }
    const use = { type: 'tool_use', id: '1', name: 'add', input: {} }
    const strip = (content: unknown) =>
      stripResult('2025-06-18', 'sampling/createMessage', frozen({ role: 'assistant', model: 'm', content })).content
    expect(strip(text)).toBe(text)
    expect(strip([image])).toBe(image)
    expect(strip([text, image])).toEqual({ type: 'text', text: 'a\n[image left out: image/png]' })
    expect(strip(use)).toEqual({ type: 'text', text: JSON.stringify(use) })
  })
})

describe('parameters for an older revision', () => {
  it('are the same object if nothing has to be removed', () => {
    const params = frozen({ name: 'add', arguments: { title: 1 }, _meta: { progressToken: 1 } })
    expect(stripParams('2024-11-05', 'tools/call', params)).toBe(params)
    expect(stripParams('2024-11-05', 'tools/list', params)).toBe(params)
  })

  it('have no modern input responses and request state', () => {
    const params = frozen({ uri: 'a:b', inputResponses: {}, requestState: 'x' })
    for (const method of ['tools/call', 'resources/read', 'prompts/get']) {
      expect(stripParams('2025-11-25', method, params)).toEqual({ uri: 'a:b' })
    }
  })

  it('lose newer members', () => {
    expect(stripParams('2024-11-05', 'notifications/progress', { progress: 1, message: 'm' })).toEqual({ progress: 1 })
    const complete = frozen({ ref: { type: 'ref/prompt', name: 'p', title: 'P' }, argument: {}, context: {} })
    expect(stripParams('2025-03-26', 'completion/complete', complete)).toEqual({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: {},
    })
    const hello = frozen({
      capabilities: { elicitation: { url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
    })
    expect(stripParams('2025-06-18', 'initialize', hello).capabilities).toEqual({
      elicitation: {},
      sampling: {},
      roots: { listChanged: true },
    })
    expect(stripParams('2025-03-26', 'initialize', hello).capabilities).toEqual({
      sampling: {},
      roots: { listChanged: true },
    })
  })

  it('split content of one sampling message into several messages', () => {
    const text = { type: 'text', text: 'a' }
    const params = frozen({
      messages: [
        { role: 'user', content: text },
        { role: 'user', content: [text, { type: 'audio', data: '', mimeType: 'audio/wav' }], _meta: meta },
        { role: 'user', content: { type: 'tool_result', toolUseId: '1', content: [], structuredContent: 1 } },
      ],
      maxTokens: 1,
      tools: [tool],
      toolChoice: { mode: 'auto' },
      task: {},
    })
    const old = stripParams('2024-11-05', 'sampling/createMessage', params)
    expect(Object.keys(old)).toEqual(['messages', 'maxTokens'])
    expect(old.messages).toEqual([
      { role: 'user', content: text },
      { role: 'user', content: text },
      { role: 'user', content: { type: 'text', text: '[audio left out: audio/wav]' } },
      { role: 'user', content: { type: 'text', text: JSON.stringify(params.messages[2]?.content) } },
    ])
    const last = stripParams('2025-11-25', 'sampling/createMessage', params)
    expect(last.messages[1]).toBe(params.messages[1])
    expect(last.messages[2]?.content).toEqual({ type: 'tool_result', toolUseId: '1', content: [] })
  })

  it('use the form fields of that revision', () => {
    const fields = {
      name: { type: 'string', default: 'x' },
      agreed: { type: 'boolean', default: true },
      size: { type: 'string', title: 'Size', oneOf: [{ const: 's', title: 'Small' }], default: 's' },
      tags: { type: 'array', items: { type: 'string', enum: ['a'] } },
    }
    const form = { $schema: 'x', type: 'object', properties: fields, required: ['name', 'tags'] }
    const params = frozen({ mode: 'form', message: 'm', requestedSchema: form })
    expect(stripParams('2025-11-25', 'elicitation/create', params)).toBe(params)
    expect(stripParams('2025-06-18', 'elicitation/create', params)).toEqual({
      message: 'm',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          agreed: { type: 'boolean', default: true },
          size: { type: 'string', title: 'Size', enum: ['s'], enumNames: ['Small'] },
        },
        required: ['name'],
      },
    })
    const plain = frozen({ message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } })
    expect(stripParams('2025-06-18', 'elicitation/create', plain)).toBe(plain)
  })
})

describe('a value of an unexpected type', () => {
  it('is passed on unchanged', () => {
    for (const value of [null, 1, 'x', [1], { a: 1 }]) {
      const result = frozen({ tools: value, content: value, messages: value, capabilities: value })
      for (const method of ['tools/list', 'tools/call', 'prompts/get', 'initialize']) {
        expect(stripResult('2024-11-05', method, result)).toEqual(result)
        expect(stripParams('2024-11-05', method, result)).toEqual(result)
      }
    }
  })
})
