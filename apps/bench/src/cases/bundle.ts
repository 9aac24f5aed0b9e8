/** Bundle sizes: programs bundled for the edge, minified and gzipped. */
import type { Entry, SizeCase } from '../case.ts'

const schema = `const Input = z.object({ a: z.number(), b: z.number() })`
const raw = `const properties = { a: { type: 'number' }, b: { type: 'number' } }; const input = { type: 'object', properties, required: ['a', 'b'] }`
const add = `const add = ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }); const info = { name: 'bench', version: '1.0.0' }`
const ours = `import { createServer } from '@mcpx/server'; import { mcp } from '@mcpx/transport-http'; ${add}`
const bare = `const answer = async (request) => { const { id, params } = await request.json(); return Response.json({ jsonrpc: '2.0', id, result: add(check(params.arguments)) }) }`

const servers: readonly Entry[] = [
  {
    name: 'edge server, bare',
    code: `${add}; const check = (args) => args; ${bare}; export const fetch = answer`,
    says: 'a handler without a library',
    maker: 'bare',
    isServer: 'modern',
  },
  {
    name: 'edge server, bare with zod',
    code: `import * as z from 'zod'; ${add}; ${schema}; const check = (args) => Input.parse(args); ${bare}; export const fetch = answer; export const listed = z.toJSONSchema(Input)`,
    says: 'the same, arguments checked by zod',
    maker: 'bare',
    isServer: 'modern',
  },
  {
    name: 'edge server, bare with zod and Hono',
    code: `import { Hono } from 'hono'; import * as z from 'zod'; ${add}; ${schema}; const check = (args) => Input.parse(args); const app = new Hono(); app.post('*', async (c) => { const { id, params } = await c.req.json(); return c.json({ jsonrpc: '2.0', id, result: add(check(params.arguments)) }) }); export const { fetch } = app; export const listed = z.toJSONSchema(Input)`,
    says: 'the same in a Hono app',
    maker: 'bare',
    isServer: 'modern',
  },
  {
    name: 'edge server, zod tool',
    code: `${ours}; import * as z from 'zod'; ${schema}; export const { fetch } = mcp(createServer(info).tool('add', { input: Input }, add))`,
    says: '`mcp()` with a tool of zod, both eras',
    maker: 'ours',
    isServer: 'modern',
    atMost: 78_000,
  },
  {
    name: 'edge server, raw tool',
    code: `${ours}; ${raw}; export const { fetch } = mcp(createServer(info).tool('add', { input }, add))`,
    says: 'the same with a tool of plain JSON Schema',
    maker: 'ours',
    isServer: 'modern',
  },
  {
    name: 'edge server, modern only',
    code: `import { createServer } from '@mcpx/server'; import { mcp } from '@mcpx/transport-http'; ${add}; ${raw}; export const { fetch } = mcp(createServer(info, { legacy: false }).tool('add', { input }, add))`,
    says: 'the same with `legacy: false`',
    maker: 'ours',
    isServer: 'modern',
  },
  {
    name: 'edge server, official 2',
    code: `import { McpServer, createMcpHandler } from '@modelcontextprotocol/server'; import * as z from 'zod'; ${add}; ${schema}; const build = () => { const server = new McpServer(info); server.registerTool('add', { inputSchema: Input }, add); return server }; const handler = createMcpHandler(build); export const fetch = (request) => handler.fetch(request)`,
    says: 'official SDK 2 with a tool of zod',
    maker: 'official 2',
    isServer: 'modern',
  },
  {
    name: 'edge server, official 1',
    code: `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'; import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'; import * as z from 'zod'; ${add}; export const fetch = async (request) => { const server = new McpServer(info); server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, add); const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true }); await server.connect(transport); return transport.handleRequest(request) }`,
    says: 'official SDK 1 with a tool of zod',
    maker: 'official 1',
    isServer: 'legacy',
  },
  {
    name: 'edge server, mcp-lite',
    code: `import { McpServer, StreamableHttpTransport } from 'mcp-lite'; import * as z from 'zod'; ${add}; ${schema}; const server = new McpServer({ ...info, schemaAdapter: (each) => z.toJSONSchema(each) }); server.tool('add', { inputSchema: Input, handler: add }); export const fetch = new StreamableHttpTransport().bind(server)`,
    says: 'mcp-lite with a tool of zod',
    maker: 'mcp-lite',
    isServer: 'legacy',
  },
  {
    name: 'edge server, tmcp',
    code: `import { McpServer } from 'tmcp'; import { HttpTransport } from '@tmcp/transport-http'; import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'; import * as z from 'zod'; ${add}; ${schema}; const server = new McpServer({ ...info, description: 'bench' }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } }); server.tool({ name: 'add', description: 'Add', schema: Input }, add); const transport = new HttpTransport(server, { path: '/mcp' }); export const fetch = (request) => transport.respond(request)`,
    says: 'tmcp with a tool of zod',
    maker: 'tmcp',
    isServer: 'modern',
  },
]

const clients: readonly Entry[] = [
  {
    name: 'client-http, a whole client',
    code: `import { connect } from '@mcpx/client'; import { http } from '@mcpx/transport-http/client'; export const client = (url) => connect(http(url))`,
    maker: 'ours',
  },
  {
    name: 'client over HTTP, official 2',
    says: 'the client of the official SDK 2 over HTTP',
    code: `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'; export const client = async (url) => { const client = new Client({ name: 'c', version: '1' }); await client.connect(new StreamableHTTPClientTransport(new URL(url))); return client }`,
    maker: 'official 2',
  },
  {
    name: 'client over HTTP, official 1',
    says: 'the client of the official SDK 1 over HTTP',
    code: `import { Client } from '@modelcontextprotocol/sdk/client/index.js'; import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'; export const client = async (url) => { const client = new Client({ name: 'c', version: '1' }); await client.connect(new StreamableHTTPClientTransport(new URL(url))); return client }`,
    maker: 'official 1',
  },
  { name: 'only connect', code: `export { connect } from '@mcpx/client'` },
  { name: 'only http, for clients', code: `export { http } from '@mcpx/transport-http/client'`, atMost: 22_000 },
]

export const bundle: SizeCase = {
  kind: 'size',
  name: 'bundle',
  says:
    'Whole programs, bundled with all their dependencies for a worker or a browser, minified, `gzip -9`: ' +
    'at first without the parts that are loaded on demand, and in all. The minified size and its shares are of all parts ' +
    'for servers, and of the first parts for others.',
  entries: [
    ...servers,
    ...clients,
    { name: '@mcpx/protocol, all of it', code: `export * from '@mcpx/protocol'` },
    { name: 'only createDuplex', code: `export { createDuplex } from '@mcpx/protocol'`, atMost: 10_000 },
    { name: 'only decode and encode', code: `export { decode, encode } from '@mcpx/protocol'`, atMost: 6_000 },
    { name: 'only one schema', code: `export { Tool } from '@mcpx/protocol'` },
    {
      name: 'bare zod/mini, one object',
      code: `import { object, string } from 'zod/mini'; export const Tool = object({ name: string() })`,
      maker: 'bare',
    },
    { name: '@mcpx/protocol/memory', code: `export * from '@mcpx/protocol/memory'` },
    { name: '@mcpx/protocol/uri-template', code: `export * from '@mcpx/protocol/uri-template'` },
    { name: '@mcpx/json-schema', code: `export * from '@mcpx/json-schema'` },
    { name: '@mcpx/toolset, all of it', code: `export * from '@mcpx/toolset'` },
    { name: '@mcpx/sse, all of it', code: `export * from '@mcpx/sse'`, atMost: 3_000 },
    { name: 'only encodeEvent', code: `export { encodeEvent } from '@mcpx/sse'` },
  ],
}
