import type { Responder } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { describe, expect, it, vi } from 'vitest'

const info = { name: 'mirror', version: '1' }
const annotated = {
  type: 'object' as const,
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, sql: { type: 'string' } },
}
const plain = { type: 'object' as const, properties: { region: { type: 'string' } } }
const content = [{ type: 'text' as const, text: 'ran' }]

const kinds = {
  'a registered tool': () => createServer(info).tool('query', { input: annotated }, () => 'ran'),
  'a tool of a handler object': () =>
    createServer(info, {
      listTools: async ({ cursor }) =>
        cursor === undefined ? { tools: [], nextCursor: '2' } : { tools: [{ name: 'query', inputSchema: annotated }] },
      callTool: () => ({ content }),
    }),
}

function call(app: ReturnType<typeof mcp>, name: string, args: object, headers: Record<string, string> = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: args, _meta: meta }
  return app.request('/', {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
  })
}

async function summarize(pending: Response | Promise<Response>) {
  const response = await pending
  const { error } = (await response.json()) as { error?: { code: number } }
  return [response.status, error?.code]
}

describe.each(Object.entries(kinds))('arguments of %s that are mirrored as headers', (_kind, make) => {
  const app = mcp(make())

  it.each([
    ['a missing header', { region: 'eu' }, {}],
    ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
    ['broken base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZX?=' }],
  ])('are rejected with %s [S-120]', async (_what, args, headers) => {
    expect(await summarize(call(app, 'query', args, headers))).toEqual([400, -32020])
  })

  it.each([
    ['the same value', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
    ['the same value in base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU=?=' }],
    ['no such argument', { sql: 'x' }, {}],
    ['an undeclared header', {}, { 'mcp-param-other': 'x' }],
  ])('are accepted with %s [S-120]', async (_what, args, headers) => {
    expect(await summarize(call(app, 'query', args, headers))).toEqual([200, undefined])
  })

  it('are not checked for an unknown tool', async () => {
    expect((await summarize(call(app, 'nope', { region: 'eu' })))[1]).not.toBe(-32020)
  })
})

describe('the lookup of annotations', () => {
  it('is synchronous for registered tools', async () => {
    const server: Responder = createServer(info).tool('plain', { input: plain }, () => 'ran')
    const spy = vi.spyOn(server as Required<Responder>, 'inputSchemaOf')
    const app = mcp(server)
    for (let n = 0; n < 3; n++) expect(await summarize(call(app, 'plain', { region: 'eu' }))).toEqual([200, undefined])
    const results = spy.mock.results.map(({ value }) => value)
    expect(results).toHaveLength(3)
    // Returns the same schema object each time, and not a promise, so that its annotations are read once.
    expect(new Set(results).size).toBe(1)
    expect(results[0]).toEqual(plain)
  })

  it('lists the tools of a handler object once for many calls', async () => {
    const listTools = vi.fn(() => ({ tools: [{ name: 'plain', inputSchema: plain }] }))
    const app = mcp(createServer(info, { listTools, callTool: () => ({ content }) }))
    for (let n = 0; n < 5; n++) expect(await summarize(call(app, 'plain', { region: 'eu' }))).toEqual([200, undefined])
    expect(listTools).toHaveBeenCalledTimes(1)
  })
})
