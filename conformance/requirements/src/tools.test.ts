import { createJsonSchemaValidator } from '@mcpx/json-schema'
import type { AuthInfo } from '@mcpx/protocol'
import { createServer, rateLimit } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFullServer } from './full-server.ts'
import { closeAll, connectLegacyRawClient, connectRawClient, type RawClient } from './raw-client.ts'

afterEach(closeAll)

interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly type: string }
  readonly [member: string]: unknown
}
const info = { name: 's', version: '1' }

async function listOf(client: RawClient): Promise<ListedTool[]> {
  const { result } = await client.call('tools/list')
  return (result?.tools ?? []) as ListedTool[]
}

describe('tools', () => {
  it('are declared and listed, with input schemas of type object [S-160, S-161]', async () => {
    const server = createServer(info)
      .tool('none', {}, () => '')
      .tool('zod', { input: z.object({ a: z.string() }) }, () => '')
      .tool(
        'raw',
        { input: { type: 'object', $defs: { x: { type: 'string' } }, anyOf: [{ required: ['a'] }] } },
        () => '',
      )
    const client = connectRawClient(server)
    expect((await client.call('server/discover')).result?.capabilities).toHaveProperty('tools')
    const tools = await listOf(client)
    expect(tools.map(({ name }) => name)).toEqual(['none', 'zod', 'raw'])
    expect(tools.map(({ inputSchema }) => inputSchema.type)).toEqual(['object', 'object', 'object'])
    expect(tools[0]?.inputSchema).toEqual({ type: 'object', additionalProperties: false })
    expect(tools[2]?.inputSchema).toHaveProperty('anyOf')
  })

  it.each([
    ['a string', z.string()],
    ['a list', { type: 'array' }],
    ['an invalid type', { type: 'object', properties: { a: { type: 'strnig' } } }],
  ])('cannot have an input of %s, with a validator [S-161]', (_, input) => {
    const server = createServer(info, { validator: createJsonSchemaValidator() })
    expect(() => server.tool('t', { input: input as never }, () => '')).toThrow(/^Tool "t", input/)
  })

  it('get the type object if the JSON Schema has no type [S-161]', async () => {
    const input = { properties: { a: { type: 'string' } } } as never
    const [tool] = await listOf(connectRawClient(createServer(info).tool('t', { input }, () => '')))
    expect(tool?.inputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  it('cause a warning for names that clients may reject [S-167]', () => {
    const warnings: string[] = []
    const server = createServer(info, { onWarning: ({ message }) => void warnings.push(message) })
    for (const name of ['ok', 'a.b-c_D9', 'with space', 'ä', 'x'.repeat(129)]) server.tool(name, {}, () => '')
    expect(warnings).toHaveLength(3)
    expect(() => server.tool('ok', {}, () => '')).toThrow('is already registered')
    expect(() => server.tool('OK', {}, () => '')).not.toThrow()
  })

  it.each(['', 'My Region', 'A\r\nB'])('cannot have the header annotation %j [S-170]', (header) => {
    const input = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': header } } } as const
    expect(() => createServer(info).tool('t', { input }, () => '')).toThrow('x-mcp-header')
  })

  it('cannot have duplicate header annotations, or annotations on other types or inside arrays and unions [S-170]', () => {
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

  it('list icons and annotations unchanged [S-290]', async () => {
    const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'] }]
    const annotations = { readOnlyHint: true, title: 'T' }
    const [tool] = await listOf(connectRawClient(createServer(info).tool('t', { icons, annotations }, () => '')))
    expect(tool).toMatchObject({ icons, annotations })
  })
})

describe('the result of a tool', () => {
  it.each([{ a: 1 }, 0, false, null, '', [1, 2], 'x'])(
    'has structured content that matches its output schema, and the same as text: %j [S-162, S-163, S-164, S-165]',
    async (value) => {
      const output = {
        anyOf: [{ type: ['number', 'boolean', 'null', 'string', 'array'] }, { type: 'object' }],
      } as never
      const client = connectRawClient(createServer(info).tool('t', { output }, () => value as never))
      const { result } = await client.call('tools/call', { name: 't' })
      expect(result).toHaveProperty('structuredContent', value)
      expect(result?.content).toEqual([{ type: 'text', text: JSON.stringify(value) }])
      expect(result?.isError).toBeUndefined()
    },
  )

  it('is an error without structured content if that does not match the output schema [S-162]', async () => {
    const server = createServer(info)
      .tool('bad', { output: z.object({ n: z.number() }) }, () => ({ n: 'x' }) as never)
      .tool('raw', { output: { type: 'object', required: ['n'] } }, () => ({}))
      .tool(
        'whole',
        { output: z.object({ n: z.number() }) },
        () => ({ content: [], structuredContent: { n: '1' } }) as never,
      )
      .tool('failed', { output: z.object({ n: z.number() }) }, () => ({ content: [], isError: true }))
    const client = connectRawClient(server)
    for (const name of ['bad', 'raw', 'whole', 'failed']) {
      const { result } = await client.call('tools/call', { name })
      expect(result).toMatchObject({ isError: true, content: expect.any(Array) })
      expect(result).not.toHaveProperty('structuredContent')
    }
  })

  it.each([undefined, null, '', [], 5])('has content for every returned value: %j [S-165]', async (value) => {
    const client = connectRawClient(createServer(info).tool('t', {}, () => value))
    expect((await client.call('tools/call', { name: 't' })).result?.content).toBeInstanceOf(Array)
  })

  it('is a protocol error for invalid requests, and an error result for other failures [S-166]', async () => {
    const client = connectRawClient(createFullServer())
    const codes = [
      await client.call('tools/call', { name: 'nobody' }),
      await client.call('tools/call', {}),
      await client.call('tools/call', { name: 'echo', arguments: [] }),
    ].map(({ error }) => error?.code)
    expect(codes).toEqual([-32602, -32602, -32602])
    const texts = []
    for (const params of [{ name: 'echo', arguments: { text: 5 } }, { name: 'echo' }, { name: 'fail' }]) {
      const { result } = await client.call('tools/call', params)
      expect(result?.isError).toBe(true)
      texts.push(result?.content)
    }
    expect(JSON.stringify(texts)).toContain('arguments.text')
    expect(JSON.stringify(texts)).toContain('It failed')
  })
})

describe('a tool is protected', () => {
  const admin = { auth: { subject: 'ann', scopes: ['admin'] } as unknown as AuthInfo }

  it('by its input schema, its scopes and a rate limit, and does not leak data [S-168]', async () => {
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
    const client = connectRawClient(make())
    for (const args of [{}, { n: 'x' }, { n: 1, more: 2 }]) {
      expect((await client.call('tools/call', { name: 'add', arguments: args })).result?.isError).toBe(true)
    }
    expect(ran).toEqual([])
    const { result } = await client.call('tools/call', { name: 'add', arguments: { n: 1 } })
    expect(result?.structuredContent).toEqual({ n: 1 })
    await client.call('tools/call', { name: 'crash' })
    expect(JSON.stringify(client.received)).not.toContain('hunter2')
    const limited = await client.call('tools/call', { name: 'add', arguments: { n: 1 } })
    expect(limited.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Too many') }] })
    expect((await connectRawClient(make()).call('tools/call', { name: 'admin' })).error?.code).toBe(403)
    expect(
      (await connectRawClient(make(), admin).call('tools/call', { name: 'admin' })).result?.isError,
    ).toBeUndefined()
  })

  it('in both eras [S-168]', async () => {
    const server = createServer(info).tool('admin', { scopes: ['admin'] }, () => 'x')
    const older = await connectLegacyRawClient(server)
    expect((await older.ask('tools/call', { name: 'admin' })).error?.code).toBe(403)
    expect((await older.ask('tools/list', {})).result?.tools).toEqual([])
  })
})
