import { catchError } from '@mcpx/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAnnotations, encodeValue } from '../mirrored-headers.ts'
import { createToolHeaders } from './modern.ts'
import { empty, failure, modern, reach, result, type Seen, serve, stream } from './peer.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

describe('a value in a header', () => {
  it.each([
    ['us-west1', 'us-west1'],
    ['us west 1', 'us west 1'],
    ['', ''],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    [' us-west1', '=?base64?IHVzLXdlc3Qx?='],
    ['us-west1 ', '=?base64?dXMtd2VzdDEg?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['line1\r\nline2', '=?base64?bGluZTENCmxpbmUy?='],
    ['\tindented', '=?base64?CWluZGVudGVk?='],
    ['日本語', '=?base64?5pel5pys6Kqe?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['\u007f', '=?base64?fw==?='],
    [' ', '=?base64?IA==?='],
    ['a', 'a'],
    [42, '42'],
    [-7, '-7'],
    [0, '0'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [true, 'true'],
    [false, 'false'],
    ['https://e.com/r?id=1', 'https://e.com/r?id=1'],
  ])('%j is sent as %j [C-044]', (value, header) => expect(encodeValue(value)).toBe(header))

  it('is always accepted unchanged by fetch, and can be decoded [C-044]', () => {
    const decode = (header: string) => {
      if (!header.startsWith('=?base64?') || !header.endsWith('?=') || header.length < 11) return header
      return Buffer.from(header.slice(9, -2), 'base64').toString()
    }
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const header = encodeValue(text)
        expect(new Headers({ x: header }).get('x')).toBe(header)
        expect(decode(header)).toBe(text)
      }),
      { seed },
    )
  })
})

const annotated = (schema: object) => ({ type: 'object', properties: { a: schema } })
const region = { type: 'string', 'x-mcp-header': 'Region' }

describe('annotations', () => {
  it('are found on properties within properties', () => {
    const properties = { region, deep: annotated({ type: 'integer', 'x-mcp-header': 'N' }) }
    expect(checkAnnotations({ type: 'object', properties })).toEqual([
      { header: 'Region', path: ['region'] },
      { header: 'N', path: ['deep', 'a'] },
    ])
  })

  it('are not property names or data', () => {
    const properties = { 'x-mcp-header': { type: 'array' }, b: { default: region, enum: [region], examples: [region] } }
    expect(checkAnnotations({ type: 'object', properties, const: region })).toEqual([])
  })

  it.each([
    ['the schema itself', { type: 'object', 'x-mcp-header': 'A' }, 'allowed only on properties'],
    ['items', annotated({ type: 'array', items: region }), 'allowed only on properties'],
    ['properties of items', annotated({ type: 'array', items: annotated(region) }), 'allowed only on properties'],
    ['prefixItems', annotated({ prefixItems: [region] }), 'allowed only on properties'],
    ['anyOf', annotated({ anyOf: [{}, region] }), 'allowed only on properties'],
    ['allOf of the schema', { allOf: [annotated(region)] }, 'allowed only on properties'],
    ['$defs', { $defs: { a: region } }, 'allowed only on properties'],
    ['definitions', { definitions: { a: region } }, 'allowed only on properties'],
    ['if', { if: annotated(region) }, 'allowed only on properties'],
    ['not', annotated({ not: region }), 'allowed only on properties'],
    ['patternProperties', { patternProperties: { '^a': region } }, 'allowed only on properties'],
    ['additionalProperties', { additionalProperties: region }, 'allowed only on properties'],
    ['dependentSchemas', { dependentSchemas: { a: annotated(region) } }, 'allowed only on properties'],
    ['a number', annotated({ type: 'number', 'x-mcp-header': 'A' }), 'string, integer or boolean'],
    ['several types', annotated({ type: ['string', 'null'], 'x-mcp-header': 'A' }), 'string, integer or boolean'],
    ['no type', annotated({ 'x-mcp-header': 'A' }), 'string, integer or boolean'],
    ['an empty name', annotated({ ...region, 'x-mcp-header': '' }), 'not a valid header name'],
    ['a name with a space', annotated({ ...region, 'x-mcp-header': 'a b' }), 'not a valid header name'],
    ['a name that is not a string', annotated({ ...region, 'x-mcp-header': 7 }), 'not a valid header name'],
    ['a name twice', { properties: { a: region, b: { ...region, 'x-mcp-header': 'region' } } }, 'as another argument'],
  ])('are rejected on %s [C-045]', (_, schema, problem) => expect(checkAnnotations(schema)).toContain(problem))

  it('are rejected in an endless schema', () => {
    let schema: object = region
    for (let level = 0; level < 10_000; level++) schema = { properties: { a: schema } }
    expect(checkAnnotations(schema as never)).toContain('nests deeper')
  })
})

const tool = (name: string, properties: object) => ({ name, inputSchema: { type: 'object', properties } })
const call = (name: string, args?: object) => ({
  jsonrpc: '2.0' as const,
  method: 'tools/call',
  params: { name, ...(args && { arguments: args }) },
})

describe('the headers of a message', () => {
  const mirror = () => createToolHeaders(() => {})

  it.each([
    ['tools/call', { name: 'add' }, 'add'],
    ['prompts/get', { name: 'greet' }, 'greet'],
    ['resources/read', { uri: 'file:///ä' }, '=?base64?ZmlsZTovLy/DpA==?='],
    ['tasks/get', { taskId: 't' }, 't'],
    ['tasks/update', { taskId: 't' }, 't'],
    ['tasks/cancel', { taskId: 't' }, 't'],
    ['tools/list', { name: 'x', uri: 'y' }, undefined],
    ['constructor', { name: 'x' }, undefined],
  ])('of %s contain its target [C-042]', (method, params, name) => {
    const headers = mirror().headersOf({ jsonrpc: '2.0', id: 1, method, params }, '2026-07-28')
    expect(headers['mcp-method']).toBe(method)
    expect(headers['mcp-protocol-version']).toBe('2026-07-28')
    expect(headers['mcp-name']).toBe(name)
  })

  it('contain exactly the values at the paths of the newest list [C-046]', async () => {
    const { learn, headersOf } = mirror()
    const nested = { type: 'object', properties: { b: { type: 'integer', 'x-mcp-header': 'B' } } }
    await learn({ tools: [tool('t', { old: { ...region, 'x-mcp-header': 'Old' } })] })
    await learn({ tools: [tool('t', { region, n: nested, flag: { type: 'boolean', 'x-mcp-header': 'Method' } })] })
    const paramsOf = (args?: object) =>
      Object.fromEntries(
        Object.entries(headersOf(call('t', args), '')).filter(([name]) => name.startsWith('mcp-param-')),
      )
    expect(paramsOf({ region: '', n: { b: 0 }, flag: false, old: 'x', B: 9 })).toEqual({
      'mcp-param-Region': '',
      'mcp-param-B': '0',
      'mcp-param-Method': 'false',
    })
    expect(paramsOf({ region: null, n: { c: 1 } })).toEqual({})
    expect(paramsOf({ region: { a: 1 }, n: 'text', 'n.b': 3 })).toEqual({})
    expect(paramsOf(Object.create({ region: 'inherited' }))).toEqual({})
    expect(paramsOf()).toEqual({})
    await learn({ tools: [tool('t', { region: { type: 'string' } })] })
    expect(paramsOf({ region: 'x' })).toEqual({})
  })

  it('omit tools with invalid annotations, with a warning [C-045]', async () => {
    const problems: Error[] = []
    const { learn } = createToolHeaders((problem) => void problems.push(problem))
    const good = tool('good', { region })
    const list = { tools: [good, tool('bad', { a: { type: 'number', 'x-mcp-header': 'A' } }), 'junk'], nextCursor: 'c' }
    expect(await learn(list)).toEqual({ tools: [good, 'junk'], nextCursor: 'c' })
    expect(problems.map(({ message }) => message)).toEqual([
      'The tool "bad" was left out. Its argument "a" has x-mcp-header, for which its type must be string, integer or boolean',
    ])
    const same = { tools: [good] }
    expect(await learn(same)).toBe(same)
    expect(await learn({ tools: 3 })).toEqual({ tools: 3 })
  })

  it('are evicted for the oldest of many tools', async () => {
    const { learn, headersOf } = mirror()
    for (let n = 0; n <= 10_000; n++) await learn({ tools: [tool(`t${n}`, { region })] })
    expect(headersOf(call('t0', { region: 'x' }), '')['mcp-param-Region']).toBeUndefined()
    expect(headersOf(call('t1', { region: 'x' }), '')['mcp-param-Region']).toBe('x')
  })
})

/** A server that wants the header of the newest list; the list has as many pages. */
async function demanding(pages: (object | number)[]) {
  const server = await serve((seen, response) => {
    const { method, params } = seen.message
    if (method === 'tools/list') {
      const page = Number(params.cursor ?? 0)
      if (typeof pages[page] === 'number') return failure(response, seen, 200, { code: pages[page] })
      const more = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}
      return result(response, seen, { tools: [pages[page]], ...more })
    }
    if (method.startsWith('notifications/')) return empty(response, 202)
    if (seen.headers['mcp-param-region'] === undefined) return failure(response, seen, 400, { code: -32020 })
    return result(response, seen, { content: [] })
  })
  const params = modern({ name: 't', arguments: { region: 'eu' }, _meta: { progressToken: 7 } })
  return { ...server, ...(await reach(server.url)), params }
}

const sent = (seen: Seen[]) => seen.map(({ message }) => message.method)

describe('a modern connection', () => {
  it('repeats revision, method, name and annotated arguments in headers [C-041, C-042, C-046]', async () => {
    const { seen, connection, params } = await demanding([tool('t', { region })])
    await connection.request('tools/list', modern())
    await connection.request('tools/call', params)
    expect(seen[0]?.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' })
    expect(seen[0]?.headers).not.toHaveProperty('mcp-name')
    expect(seen[1]?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 't', 'mcp-param-region': 'eu' })
    expect(sent(seen)).toEqual(['tools/list', 'tools/call'])
    await connection.notify('notifications/x', { a: 1 })
    expect(seen[2]?.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/x' })
  })

  it('returns lists without the tools that cannot be called [C-045]', async () => {
    const { connection, problems } = await demanding([tool('t', { a: { ...region, type: 'number' } })])
    expect(await connection.request('tools/list', modern())).toEqual({ tools: [] })
    expect(problems.length).toBe(1)
  })

  it('lists the tools if the server rejects the headers, and calls again with another id [C-047]', async () => {
    const { seen, connection, params } = await demanding([tool('other', {}), tool('t', { region }), tool('last', {})])
    expect(await connection.request('tools/call', params)).toEqual({ content: [] })
    expect(sent(seen)).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call'])
    expect(new Set(seen.map(({ message }) => message.id)).size).toBe(4)
    expect(seen[1]?.message.params._meta).not.toHaveProperty('progressToken')
    expect(seen[1]?.message.params._meta).toHaveProperty(['io.modelcontextprotocol/protocolVersion'], '2026-07-28')
  })

  it('receives the notifications about a call that it makes again', async () => {
    const { url } = await serve((one, response) => {
      const { id, method, params } = one.message
      if (method === 'tools/list') return result(response, one, { tools: [tool('t', { region })] })
      if (one.headers['mcp-param-region'] === undefined) return failure(response, one, 400, { code: -32020 })
      const { progressToken } = params._meta
      const events = stream(response)
      events.event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } })
      events.event({ jsonrpc: '2.0', id, result: {} })
      events.end()
    })
    const { connection, heard } = await reach(url)
    const notified: unknown[] = []
    const params = modern({ name: 't', arguments: { region: 'eu' } })
    const onNotification = ({ method }: { method: string }) => void notified.push(method)
    expect(await connection.request('tools/call', params, { onNotification })).toEqual({})
    expect([notified, heard]).toEqual([['notifications/progress'], []])
  })

  it('does not call again if the newest list is the same or missing', async () => {
    for (const page of [tool('t', { a: { type: 'string' } }), -32601]) {
      const { seen, connection, params } = await demanding([page])
      expect(await catchError(() => connection.request('tools/call', params))).toMatchObject({ code: -32020 })
      expect(sent(seen)).toEqual(['tools/call', 'tools/list'])
    }
  })

  it('calls again at most once [C-047]', async () => {
    const { url, seen } = await serve((one, response) => {
      if (one.message.method === 'tools/list') return result(response, one, { tools: [tool('t', { region })] })
      return failure(response, one, 400, { code: -32020 })
    })
    const { connection } = await reach(url)
    const params = modern({ name: 't', arguments: { region: 'eu' } })
    expect(await catchError(() => connection.request('tools/call', params))).toMatchObject({ code: -32020 })
    expect(sent(seen)).toEqual(['tools/call', 'tools/list', 'tools/call'])
  })
})
