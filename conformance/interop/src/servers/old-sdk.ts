/** A server with an old release of the official SDK. Over stdio: `node old-sdk.ts sdk-1.7` */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { load } from '../load.ts'
import type { ListeningServer } from '../third-party/program.ts'
import { listen } from '../third-party/small-server.ts'

interface Server {
  setRequestHandler(schema: object, handler: (request: CallRequest) => Promise<object>): void
  connect(transport: object): Promise<void>
  close(): Promise<void>
}

interface CallRequest {
  readonly params: { readonly arguments: { readonly a: number; readonly b: number } }
}

interface Module {
  readonly Server: new (info: object, options: object) => Server
  readonly ListToolsRequestSchema: object
  readonly CallToolRequestSchema: object
}

interface HttpTransport {
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>
}

async function createAdder(name: string): Promise<Server> {
  const module = await load<Module>(`${name}/server/index.js`, `${name}/types.js`)
  const server = new module.Server({ name, version: '1.0.0' }, { capabilities: { tools: {} } })
  const number = { type: 'number' }
  const inputSchema = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] }
  server.setRequestHandler(module.ListToolsRequestSchema, async () => ({ tools: [{ name: 'add', inputSchema }] }))
  server.setRequestHandler(module.CallToolRequestSchema, async ({ params: { arguments: terms } }) => ({
    content: [{ type: 'text', text: `${terms.a + terms.b}` }],
  }))
  return server
}

/**
 * Serves one session. `forget` replaces the session, as a restart does: then the server reports that it is not
 * initialized.
 */
export async function serveOldSdkOverHttp(name: string): Promise<ListeningServer & { forget(): Promise<void> }> {
  const { StreamableHTTPServerTransport } = await load<{
    StreamableHTTPServerTransport: new (options: object) => HttpTransport
  }>(`${name}/server/streamableHttp.js`)
  let server: Server
  let transport: HttpTransport
  const open = async () => {
    server = await createAdder(name)
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
    await server.connect(transport)
  }
  await open()
  const listening = await listen((request, response) => void transport.handleRequest(request, response))
  return { ...listening, forget: () => open() }
}

const [, program = '', release] = process.argv
if (program.endsWith('old-sdk.ts') && release !== undefined) {
  const { StdioServerTransport } = await load<{ StdioServerTransport: new () => object }>(`${release}/server/stdio.js`)
  await (await createAdder(release)).connect(new StdioServerTransport())
}
