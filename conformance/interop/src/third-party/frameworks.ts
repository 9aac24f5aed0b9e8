/** Servers with tmcp, FastMCP, @hono/mcp and mcp-handler, called by our client over HTTP. */

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import * as z from 'zod'
import { connectOurs } from '../clients/ours.ts'
import { load } from '../load.ts'
import type { ListeningServer } from './program.ts'
import { checkAdd, listen } from './small-server.ts'
import type { ThirdParty } from './third-party.ts'

interface Terms {
  readonly a: number
  readonly b: number
}

type Respond = (request: Request) => Promise<Response | null | undefined>

const terms = z.object({ a: z.number(), b: z.number() })
const sum = ({ a, b }: Terms) => ({ content: [{ type: 'text' as const, text: `${a + b}` }] })

function listenFetch(respond: Respond): Promise<ListeningServer> {
  const answer = async (request: Request) => (await respond(request)) ?? new Response(null, { status: 404 })
  return listen(getRequestListener(answer, { overrideGlobalObjects: false }))
}

async function serveTmcp(): Promise<ListeningServer> {
  const { McpServer, HttpTransport, ZodJsonSchemaAdapter } = await load<{
    McpServer: new (info: object, options: object) => { tool(definition: object, handler: typeof sum): void }
    HttpTransport: new (server: object, options: object) => { respond: Respond }
    ZodJsonSchemaAdapter: new () => object
  }>('tmcp', '@tmcp/transport-http', '@tmcp/adapter-zod')
  const info = { name: 'tmcp', version: '1.0.0', description: 'Adds' }
  const server = new McpServer(info, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } })
  server.tool({ name: 'add', description: 'Adds', schema: terms }, sum)
  const transport = new HttpTransport(server, { path: '/mcp' })
  return listenFetch((request) => transport.respond(request))
}

async function serveHonoMcp(): Promise<ListeningServer> {
  const { McpServer, StreamableHTTPTransport } = await load<{
    McpServer: new (
      info: object,
    ) => {
      registerTool(name: string, definition: object, handler: typeof sum): void
      connect(transport: object): Promise<void>
    }
    StreamableHTTPTransport: new (options: object) => { handleRequest(context: object): Promise<Response> }
  }>('@modelcontextprotocol/sdk/server/mcp.js', '@hono/mcp')
  const server = new McpServer({ name: 'hono-mcp', version: '1.0.0' })
  server.registerTool('add', { inputSchema: terms.shape }, sum)
  const transport = new StreamableHTTPTransport({ sessionIdGenerator: () => crypto.randomUUID() })
  await server.connect(transport)
  const app = new Hono().all('/mcp', (context) => transport.handleRequest(context))
  return listenFetch(async (request) => app.fetch(request))
}

async function serveMcpHandler(): Promise<ListeningServer> {
  const { createMcpHandler } = await load<{
    createMcpHandler(
      initialize: (server: { registerTool(name: string, definition: object, handler: typeof sum): void }) => void,
    ): Respond
  }>('mcp-handler')
  return listenFetch(createMcpHandler((server) => server.registerTool('add', { inputSchema: terms }, sum)))
}

async function serveFastMcp(): Promise<ListeningServer> {
  const { FastMCP } = await load<{
    FastMCP: new (
      options: object,
    ) => {
      addTool(tool: object): void
      start(options: object): Promise<void>
      stop(): Promise<void>
    }
  }>('fastmcp')
  const server = new FastMCP({ name: 'fastmcp', version: '1.0.0', logger: silentLogger })
  server.addTool({
    name: 'add',
    description: 'Adds',
    parameters: terms,
    execute: async ({ a, b }: Terms) => `${a + b}`,
  })
  const port = await freePort()
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } })
  return { port, close: () => server.stop() }
}

const silentLogger = { debug() {}, error() {}, info() {}, log() {}, warn() {} }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Servers with the tool `add`, by the package that they use. */
export const frameworkServers: readonly { readonly name: string; serve(): Promise<ListeningServer> }[] = [
  { name: 'tmcp', serve: serveTmcp },
  { name: '@hono/mcp', serve: serveHonoMcp },
  { name: 'mcp-handler', serve: serveMcpHandler },
  { name: 'fastmcp', serve: serveFastMcp },
]

export const frameworks: readonly ThirdParty[] = frameworkServers.map(({ name, serve }) => ({
  package: name,
  is: 'server',
  over: 'http',
  async run(check) {
    const server = await serve()
    const driver = await connectOurs({ transport: 'http', url: `http://127.0.0.1:${server.port}/mcp` })
    await checkAdd(check, driver)
    await driver.close()
    await server.close()
  },
}))
