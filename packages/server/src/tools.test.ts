import {
  type CallToolResult,
  CallToolResult as CallToolResultShape,
  type Context,
  check,
  RpcError,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { audio, image, link, resource, text } from './content.ts'
import { ResultError, ToolError } from './errors.ts'
import { createRegistry, type Registry } from './registry.ts'

const ctx = { auth: undefined } as unknown as Context

function call(registry: Registry, name: string, args?: Record<string, unknown>): unknown {
  return registry.callTool?.({ name, ...(args && { arguments: args }) }, ctx)
}

function returning(value: unknown): unknown {
  const registry = createRegistry()
  registry.addTool('it', {}, () => value)
  return call(registry, 'it')
}

describe('calling a tool', () => {
  it('passes the validated arguments', async () => {
    const registry = createRegistry()
    const input = z.object({ a: z.number(), b: z.number().default(2) })
    registry.addTool('add', { input, output: z.object({ sum: z.number() }) }, ({ a, b }) => ({ sum: a + b }))
    expect(await call(registry, 'add', { a: 1 })).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    })
  })

  it('awaits asynchronous schemas and tools', async () => {
    const registry = createRegistry()
    const later = z.object({ a: z.string().refine(async (a) => a !== 'no') })
    registry.addTool('echo', { input: later, output: later }, async ({ a }) => ({ a }))
    expect(await call(registry, 'echo', { a: 'yes' })).toMatchObject({ structuredContent: { a: 'yes' } })
    expect(await call(registry, 'echo', { a: 'no' })).toMatchObject({ isError: true })
  })

  it('returns an error result with the places of invalid arguments', async () => {
    const registry = createRegistry()
    const input = z.object({ a: z.number(), list: z.array(z.object({ 'odd key': z.string() })) })
    registry.addTool('add', { input }, () => 'never')
    const result = (await call(registry, 'add', { a: 'x', list: [{ 'odd key': 'y' }, {}] })) as CallToolResult
    expect(result.isError).toBe(true)
    expect(result.content).toEqual([
      {
        type: 'text',
        text:
          'arguments.a: Invalid input: expected number, received string\n' +
          'arguments.list[1]["odd key"]: Invalid input: expected string, received undefined',
      },
    ])
    expect(await call(registry, 'add')).toMatchObject({ isError: true })
  })

  it('reports ten problems and counts the rest', async () => {
    const registry = createRegistry()
    registry.addTool('list', { input: z.object({ items: z.array(z.number()) }) }, () => '')
    const result = (await call(registry, 'list', { items: Array.from({ length: 50 }, () => 'x') })) as CallToolResult
    const [block] = result.content
    expect(block?.type === 'text' && block.text.split('\n')).toHaveLength(11)
    expect(block).toMatchObject({ text: expect.stringMatching(/\nand 40 more$/) })
  })

  it('rejects an unknown name', async () => {
    const registry = createRegistry()
    registry.addTool('other', {}, () => '')
    await expect(call(registry, 'x')).rejects.toThrow(new RpcError(-32602, 'Unknown tool: "x"'))
    await expect(call(registry, '__proto__')).rejects.toThrow('Unknown tool')
  })

  it('passes an empty object to a tool without input schema', async () => {
    const registry = createRegistry()
    const seen: unknown[] = []
    registry.addTool('it', {}, (args) => {
      seen.push(args)
    })
    await call(registry, 'it', { a: 1 })
    await call(registry, 'it')
    expect(seen).toEqual([{}, {}])
  })

  it('returns only ToolErrors to the caller', async () => {
    const registry = createRegistry()
    registry.addTool('now', {}, () => {
      throw new ToolError('No such city')
    })
    registry.addTool('later', {}, async () => {
      throw new ToolError('No such town')
    })
    registry.addTool('broken', {}, () => {
      throw new TypeError('secret')
    })
    registry.addTool('broken later', {}, () => Promise.reject(new TypeError('secret')))
    expect(await call(registry, 'now')).toEqual({ content: [text('No such city')], isError: true })
    expect(await call(registry, 'later')).toEqual({ content: [text('No such town')], isError: true })
    await expect(call(registry, 'broken')).rejects.toThrow(TypeError)
    await expect(call(registry, 'broken later')).rejects.toThrow(TypeError)
  })
})

describe('the return value of a tool without output schema', () => {
  it.each([
    ['a string', 'hi', [text('hi')]],
    ['an empty string', '', [text('')]],
    ['nothing', undefined, []],
    ['null', null, []],
    ['content', image('AAAA', 'image/png'), [image('AAAA', 'image/png')]],
    [
      'an array of content and strings',
      ['see', audio('AAAA', 'audio/wav'), link('a:b', 'b')],
      [text('see'), audio('AAAA', 'audio/wav'), link('a:b', 'b')],
    ],
    ['an embedded resource', resource('a:b', 'c'), [resource('a:b', 'c')]],
    ['an object', { a: 1 }, [text('{"a":1}')]],
    ['an object that has other content', { content: ['a'] }, [text('{"content":["a"]}')]],
    ['an object with a type', { type: 'text' }, [text('{"type":"text"}')]],
    ['strings', ['a', 'b'], [text('["a","b"]')]],
    ['an empty array', [], [text('[]')]],
    ['a number', 0, [text('0')]],
    ['false', false, [text('false')]],
  ])('becomes content: %s', async (_name, value, content) => {
    const result = await returning(value)
    expect(result).toEqual({ content })
    expect(check(CallToolResultShape, result).problem).toBeUndefined()
  })

  it('is passed on unchanged if it is a complete result or an input request', async () => {
    const whole = { content: [text('a')], structuredContent: 0, isError: true, _meta: { 'a/b': 1 } }
    expect(await returning(whole)).toBe(whole)
    const asking = { resultType: 'input_required', requestState: 'x' }
    expect(await returning(asking)).toBe(asking)
  })

  it('fails if JSON cannot represent it', async () => {
    await expect(returning(() => 1)).rejects.toThrow('Tool "it", result: a function cannot be written as JSON')
    await expect(returning(1n)).rejects.toThrow('Tool "it", result: a bigint cannot be written as JSON')
  })
})

describe('the return value of a tool with output schema', () => {
  const registry = createRegistry()
  let value: unknown
  const give = (): never => value as never
  registry.addTool('object', { output: z.object({ n: z.number() }) }, give)
  registry.addTool('any', { output: z.union([z.number(), z.string(), z.boolean(), z.null()]) }, give)
  registry.addTool('content', { output: z.object({ content: z.array(z.string()) }) }, give)
  const giving = (name: string, given: unknown): unknown => {
    value = given
    return call(registry, name)
  }

  it('may be any JSON value', async () => {
    for (const falsy of [0, '', false, null]) {
      expect(await giving('any', falsy)).toEqual({ content: [text(JSON.stringify(falsy))], structuredContent: falsy })
    }
  })

  it('loses members that the schema drops', async () => {
    expect(await giving('object', { n: 1, secret: 2 })).toMatchObject({ structuredContent: { n: 1 } })
  })

  it('fails with a named error if it does not match the schema [S-162]', async () => {
    await expect(giving('object', { n: 'x' })).rejects.toThrow(ResultError)
    await expect(giving('object', { n: 'x' })).rejects.toThrow(
      'Tool "object" returned a value that does not match its output schema. result.n: ',
    )
    await expect(giving('object', undefined)).rejects.toThrow(ResultError)
    await expect(giving('object', text('hi'))).rejects.toThrow(ResultError)
  })

  it('may be a complete result, whose structured content is validated unless it is an error', async () => {
    const blocks = [text('one')]
    expect(await giving('object', { content: blocks, structuredContent: { n: 1, x: 2 }, _meta: { a: 1 } })).toEqual({
      content: blocks,
      structuredContent: { n: 1 },
      _meta: { a: 1 },
    })
    const failed = { content: [text('no')], isError: true }
    expect(await giving('object', failed)).toBe(failed)
    await expect(giving('object', { content: [], structuredContent: { n: '1' } })).rejects.toThrow(ResultError)
    await expect(giving('object', { content: blocks })).rejects.toThrow(ResultError)
  })

  it('may be a complete result with any JSON value', async () => {
    const whole = { content: [text('none')], structuredContent: 0 }
    expect(await giving('any', whole)).toEqual(whole)
    expect(await giving('any', { ...whole, structuredContent: null })).toEqual({ ...whole, structuredContent: null })
  })

  it('may have a member called content', async () => {
    expect(await giving('content', { content: [] })).toMatchObject({ structuredContent: { content: [] } })
    expect(await giving('content', { content: ['a'] })).toMatchObject({ structuredContent: { content: ['a'] } })
  })

  it('may be an input request', async () => {
    const asking = { resultType: 'input_required', inputRequests: {} }
    expect(await giving('object', asking)).toBe(asking)
  })
})
