import { createJsonSchemaValidator } from '@mcpx/json-schema'
import type { AuthInfo } from '@mcpx/protocol'
import { createServer, rateLimit } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFullServer } from './full-server.ts'
import { closeAll, connectLegacy, connectWire, type Wire } from './wire.ts'

afterEach(closeAll)

interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly type: string }
  readonly [member: string]: unknown
}
const info = { name: 's', version: '1' }

async function listOf(wire: Wire): Promise<ListedTool[]> {
  const { result } = await wire.call('tools/list')
  return (result?.tools ?? []) as ListedTool[]
}

describe('tools', () => {
  it('are declared and listed, each with an object at the root of its input [S-160, S-161]', async () => {
    const server = createServer(info)
      .tool('none', {}, () => '')
      .tool('zod', { input: z.object({ a: z.string() }) }, () => '')
      .tool(
        'raw',
        { input: { type: 'object', $defs: { x: { type: 'string' } }, anyOf: [{ required: ['a'] }] } },
        () => '',
      )
    const wire = connectWire(server)
    expect((await wire.call('server/discover')).result?.capabilities).toHaveProperty('tools')
    const tools = await listOf(wire)
    expect(tools.map(({ name }) => name)).toEqual(['none', 'zod', 'raw'])
    expect(tools.map(({ inputSchema }) => inputSchema.type)).toEqual(['object', 'object', 'object'])
    expect(tools[0]?.inputSchema).toEqual({ type: 'object', additionalProperties: false })
    expect(tools[2]?.inputSchema).toHaveProperty('anyOf')
  })

  it.each([
    ['a text', z.string()],
    ['a list', { type: 'array' }],
    ['a type that is none', { type: 'object', properties: { a: { type: 'strnig' } } }],
  ])('cannot have an input of %s, with a validator at hand [S-161]', (_, input) => {
    const server = createServer(info, { validator: createJsonSchemaValidator() })
    expect(() => server.tool('t', { input: input as never }, () => '')).toThrow(/^Tool "t", input/)
  })

  it('have an object at the root of their input also where a JSON Schema does not say so [S-161]', async () => {
    const input = { properties: { a: { type: 'string' } } } as never
    const [tool] = await listOf(connectWire(createServer(info).tool('t', { input }, () => '')))
    expect(tool?.inputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  it('may have names that clients refuse, with a warning [S-167]', () => {
    const warnings: string[] = []
    const server = createServer(info, { onWarning: ({ message }) => void warnings.push(message) })
    for (const name of ['ok', 'a.b-c_D9', 'with space', 'ä', 'x'.repeat(129)]) server.tool(name, {}, () => '')
    expect(warnings).toHaveLength(3)
    expect(() => server.tool('ok', {}, () => '')).toThrow('is there already')
    expect(() => server.tool('OK', {}, () => '')).not.toThrow()
  })

  it.each(['', 'My Region', 'A\r\nB'])('cannot be given the header annotation %j [S-170]', (header) => {
    const input = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': header } } } as const
    expect(() => createServer(info).tool('t', { input }, () => '')).toThrow('x-mcp-header')
  })

  it('cannot be given annotations twice, on other types, or out of reach [S-170]', () => {
    const annotated = (type: string, header = 'A') => ({ type, 'x-mcp-header': header })
    const wrong = [
      { a: annotated('number') },
      { a: annotated('object') },
      { a: annotated('string', 'Same'), b: annotated('string', 'SAME') },
      { a: { type: 'array', items: annotated('string') } },
      { a: { anyOf: [annotated('string')] } },
    ]
    for (const properties of wrong) {
      const input = { type: 'object', properties } as never
      expect(() => createServer(info).tool('t', { input }, () => '')).toThrow('x-mcp-header')
    }
    const right = { a: annotated('string'), b: { type: 'object', properties: { c: annotated('integer', 'B') } } }
    expect(() =>
      createServer(info).tool('t', { input: { type: 'object', properties: right } as never }, () => ''),
    ).not.toThrow()
  })

  it('show icons and annotations as they are [S-290]', async () => {
    const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'] }]
    const annotations = { readOnlyHint: true, title: 'T' }
    const [tool] = await listOf(connectWire(createServer(info).tool('t', { icons, annotations }, () => '')))
    expect(tool).toMatchObject({ icons, annotations })
  })
})

describe('the result of a tool', () => {
  it.each([{ a: 1 }, 0, false, null, '', [1, 2], 'x'])(
    'has structured content that fits its output, and its text: %j [S-162, S-163, S-164, S-165]',
    async (value) => {
      const output = {
        anyOf: [{ type: ['number', 'boolean', 'null', 'string', 'array'] }, { type: 'object' }],
      } as never
      const wire = connectWire(createServer(info).tool('t', { output }, () => value as never))
      const { result } = await wire.call('tools/call', { name: 't' })
      expect(result).toHaveProperty('structuredContent', value)
      expect(result?.content).toEqual([{ type: 'text', text: JSON.stringify(value) }])
      expect(result?.isError).toBeUndefined()
    },
  )

  it('is never structured content that does not fit, but a failure without it [S-162]', async () => {
    const server = createServer(info)
      .tool('bad', { output: z.object({ n: z.number() }) }, () => ({ n: 'x' }) as never)
      .tool('raw', { output: { type: 'object', required: ['n'] } }, () => ({}))
      .tool(
        'whole',
        { output: z.object({ n: z.number() }) },
        () => ({ content: [], structuredContent: { n: '1' } }) as never,
      )
      .tool('failed', { output: z.object({ n: z.number() }) }, () => ({ content: [], isError: true }))
    const wire = connectWire(server)
    for (const name of ['bad', 'raw', 'whole', 'failed']) {
      const { result } = await wire.call('tools/call', { name })
      expect(result).toMatchObject({ isError: true, content: expect.any(Array) })
      expect(result).not.toHaveProperty('structuredContent')
    }
  })

  it.each([undefined, null, '', [], 5])('has content, whatever the tool gives: %j [S-165]', async (value) => {
    const wire = connectWire(createServer(info).tool('t', {}, () => value))
    expect((await wire.call('tools/call', { name: 't' })).result?.content).toBeInstanceOf(Array)
  })

  it('is an error for what the caller did wrong with the protocol, and a result for all else [S-166]', async () => {
    const wire = connectWire(createFullServer())
    const codes = [
      await wire.call('tools/call', { name: 'nobody' }),
      await wire.call('tools/call', {}),
      await wire.call('tools/call', { name: 'echo', arguments: [] }),
    ].map(({ error }) => error?.code)
    expect(codes).toEqual([-32602, -32602, -32602])
    const texts = []
    for (const params of [{ name: 'echo', arguments: { text: 5 } }, { name: 'echo' }, { name: 'fail' }]) {
      const { result } = await wire.call('tools/call', params)
      expect(result?.isError).toBe(true)
      texts.push(result?.content)
    }
    expect(JSON.stringify(texts)).toContain('arguments.text')
    expect(JSON.stringify(texts)).toContain('It failed')
  })
})

describe('a tool is guarded', () => {
  const admin = { auth: { subject: 'ann', scopes: ['admin'] } as unknown as AuthInfo }

  it('by its input, its audience and a rate, and gives away nothing that was not meant [S-168]', async () => {
    const ran: unknown[] = []
    const secret = { n: 1, password: 'hunter2' }
    const make = () =>
      createServer(info)
        .tool('add', { input: z.strictObject({ n: z.number() }), output: z.object({ n: z.number() }) }, (args) => {
          ran.push(args)
          return secret as never
        })
        .tool('admin', { scopes: ['admin'] }, () => 'x')
        .tool('crash', {}, () => {
          throw new Error('hunter2')
        })
        .use(rateLimit({ limit: 5, window: 60_000 }))
    const wire = connectWire(make())
    for (const args of [{}, { n: 'x' }, { n: 1, more: 2 }]) {
      expect((await wire.call('tools/call', { name: 'add', arguments: args })).result?.isError).toBe(true)
    }
    expect(ran).toEqual([])
    const { result } = await wire.call('tools/call', { name: 'add', arguments: { n: 1 } })
    expect(result?.structuredContent).toEqual({ n: 1 })
    await wire.call('tools/call', { name: 'crash' })
    expect(JSON.stringify(wire.heard)).not.toContain('hunter2')
    const limited = await wire.call('tools/call', { name: 'add', arguments: { n: 1 } })
    expect(limited.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Too many') }] })
    expect((await connectWire(make()).call('tools/call', { name: 'admin' })).error?.code).toBe(403)
    expect((await connectWire(make(), admin).call('tools/call', { name: 'admin' })).result?.isError).toBeUndefined()
  })

  it('in both eras [S-168]', async () => {
    const server = createServer(info).tool('admin', { scopes: ['admin'] }, () => 'x')
    const older = await connectLegacy(server)
    expect((await older.ask('tools/call', { name: 'admin' })).error?.code).toBe(403)
    expect((await older.ask('tools/list', {})).result?.tools).toEqual([])
  })
})
