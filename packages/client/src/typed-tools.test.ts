import { describe, expect, it } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { ToolCallError } from './typed-tools.ts'

const text = (words: string) => ({ type: 'text', text: words })

function answering(result: object, revision: '2024-11-05' | '2026-07-28' = '2026-07-28') {
  return scriptedServer(revision, { answers: { 'tools/call': () => result } })
}

describe('a tool as a function', () => {
  it.each([{ sum: 3 }, 0, false, null, '', [1]])('resolves to its structured content, such as %j', async (value) => {
    const server = answering({ content: [text('x')], structuredContent: value })
    await using client = await connect(server)
    expect(await client.tools.add?.({ a: 1 })).toEqual(value)
    expect(server.asked('tools/call')[0]?.params).toMatchObject({ name: 'add', arguments: { a: 1 } })
  })

  it('resolves to the whole result without structured content', async () => {
    await using client = await connect(answering({ content: [text('5')] }))
    expect(await client.tools.add?.()).toMatchObject({ content: [text('5')] })
  })

  it('resolves to the value of a JSON text in revisions without structured content', async () => {
    await using client = await connect(answering({ content: [text('{"sum":3}')] }, '2024-11-05'))
    expect(await client.tools.add?.()).toEqual({ sum: 3 })
    await using other = await connect(answering({ content: [text('three')] }, '2024-11-05'))
    expect(await other.tools.add?.()).toEqual({ content: [text('three')] })
  })

  it('throws the text of a tool that failed', async () => {
    const server = answering({ content: [text('No such seat.'), text('Try 3.')], isError: true })
    await using client = await connect(server)
    const error = await client.tools.book?.({ seat: 4 }).then(undefined, (problem) => problem)
    expect(error).toBeInstanceOf(ToolCallError)
    expect(error).toMatchObject({ message: 'No such seat.\nTry 3.', tool: 'book', result: { isError: true } })
    await using silent = await connect(answering({ content: [], isError: true }))
    await expect(silent.tools.book?.()).rejects.toThrow('The tool book failed')
  })

  it('is not called by JSON.stringify', async () => {
    const server = answering({ content: [] })
    await using client = await connect(server)
    expect(JSON.parse(JSON.stringify(client))).toMatchObject({ tools: {} })
    expect(server.asked('tools/call')).toEqual([])
  })

  it('can have any name except "then" and "toJSON"', async () => {
    await using client = await connect(answering({ content: [], structuredContent: 1 }))
    expect(await client.tools.constructor?.()).toBe(1)
    expect(await client.tools['github.search']?.()).toBe(1)
    expect(await client.tools).toBe(client.tools)
    expect(client.tools.add).toBe(client.tools.add)
  })

  it('are kept for 10,000 names only', async () => {
    await using client = await connect(answering({ content: [], structuredContent: 1 }))
    const { first } = client.tools
    for (let index = 0; index < 10_000; index++) void client.tools[`t${index}`]
    expect(client.tools.first).not.toBe(first)
    expect(client.tools.t9999).toBe(client.tools.t9999)
  })
})

describe('the output of a tool', () => {
  const add = { name: 'add', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['sum'] } }

  function checked(result: object, tool: object = add) {
    return scriptedServer('2026-07-28', {
      answers: { 'tools/list': () => ({ tools: [tool] }), 'tools/call': () => ({ content: [], ...result }) },
    })
  }

  it('is validated once the tool was listed [C-105]', async () => {
    await using client = await connect(checked({ structuredContent: { product: 3 } }))
    await client.callTool('add')
    await client.listTools().all()
    await expect(client.callTool('add')).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'invalid-message',
      message: expect.stringContaining('result.structuredContent'),
    })
    await client.callTool('other')
  })

  it('must be there', async () => {
    await using client = await connect(checked({}))
    await client.listTools().all()
    await expect(client.callTool('add')).rejects.toMatchObject({ reason: 'invalid-message' })
  })

  it('is not validated when the tool failed', async () => {
    await using client = await connect(checked({ isError: true }))
    await client.listTools().all()
    expect(await client.callTool('add')).toMatchObject({ isError: true })
  })

  it('is accepted when it is valid', async () => {
    await using client = await connect(checked({ structuredContent: { sum: 3 } }))
    await client.listTools().all()
    expect(await client.tools.add?.()).toEqual({ sum: 3 })
  })

  it('is refused when its validation takes more than 500,000 steps', async () => {
    const outputSchema = { type: 'object', properties: { list: { items: { allOf: Array(9).fill({}) } } } }
    const listOf = (length: number) => ({ structuredContent: { list: Array(length).fill(0) } })
    await using below = await connect(checked(listOf(30_000), { ...add, outputSchema }))
    await below.listTools().all()
    expect(await below.callTool('add')).toMatchObject(listOf(30_000))
    await using above = await connect(checked(listOf(40_000), { ...add, outputSchema }))
    await above.listTools().all()
    await expect(above.callTool('add')).rejects.toMatchObject({
      reason: 'invalid-message',
      message: expect.stringContaining('result.structuredContent: takes more than 500000 steps to check'),
    })
  })

  it('is validated without running the patterns of the server, which could block this process', async () => {
    const properties = { code: { type: 'string', pattern: '^(a+)+$', maxLength: 40 } }
    const resultOf = (code: unknown) => ({ structuredContent: { code } })
    const codes: unknown[] = [`${'a'.repeat(30)}!`, 7]
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/list': () => ({ tools: [{ ...add, outputSchema: { type: 'object', properties } }] }),
        'tools/call': () => ({ content: [], ...resultOf(codes.shift()) }),
      },
    })
    await using client = await connect(server)
    await client.listTools().all()
    expect(await client.callTool('add')).toMatchObject(resultOf(`${'a'.repeat(30)}!`))
    await expect(client.callTool('add')).rejects.toMatchObject({
      message: expect.stringContaining('result.structuredContent.code: expected string, got number'),
    })
  })

  it('is not validated when the schema cannot be used, which is reported', async () => {
    const problems: string[] = []
    const server = checked({ structuredContent: 1 }, { ...add, outputSchema: { $ref: 'https://example.com/schema' } })
    await using client = await connect(server, { onWarning: ({ message }) => problems.push(message) })
    await client.listTools().all()
    await client.callTool('add')
    await client.callTool('add')
    expect(problems).toEqual(['The output of tool "add" is not checked: its outputSchema cannot be used'])
  })
})
