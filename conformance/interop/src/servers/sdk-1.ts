/** The shop with the official SDK 1.x, over stdio and HTTP. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import { load } from '../load.ts'
import { createEventStore } from './event-store.ts'
import { type HttpServer, listen } from './listening.ts'
import {
  type Answer,
  type CallContext,
  type Complete,
  createSharedState,
  fillShop,
  type InputRequest,
  type OfficialServer,
  type SdkAdapter,
  type SharedState,
} from './official.ts'
import { info, instructions } from './shop-data.ts'

interface Server extends OfficialServer {
  sendLoggingMessage(params: object, sessionId?: string): Promise<void>
  readonly server: OfficialServer['server'] & {
    setRequestHandler(schema: z.ZodType, run: (request: { params?: object }) => object): void
    getClientVersion(): { name: string } | undefined
  }
}

interface Extra {
  readonly signal: AbortSignal
  readonly sessionId?: string
  readonly _meta?: { progressToken?: string | number }
  readonly requestInfo?: { headers: Record<string, string | undefined> }
  sendNotification(notification: object): Promise<void>
  sendRequest(request: InputRequest, schema: z.ZodType): Promise<Record<string, unknown>>
}

interface HttpTransport {
  readonly sessionId?: string
  handleRequest(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>
}

interface SseTransport {
  readonly sessionId: string
  handlePostMessage(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>
}

interface Module extends Pick<SdkAdapter, 'ResourceTemplate' | 'completable'> {
  McpServer: new (info: object, options: object) => Server
  StdioServerTransport: new () => object
  StreamableHTTPServerTransport: new (options: object) => HttpTransport
  SSEServerTransport: new (path: string, response: ServerResponse) => SseTransport
}

const FILES = ['mcp', 'completable', 'stdio', 'streamableHttp', 'sse'].map(
  (file) => `@modelcontextprotocol/sdk/server/${file}.js`,
)
const capabilities = {
  logging: {},
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
}

export async function serveSdk1OverStdio(): Promise<void> {
  const sdk = await load<Module>(...FILES)
  await createShop(sdk, createSharedState()).connect(new sdk.StdioServerTransport())
}

export async function serveSdk1OverHttp(): Promise<HttpServer> {
  const sdk = await load<Module>(...FILES)
  // Waiting calls are shared by all sessions; added tools belong to the server object of one session.
  const { waits } = createSharedState()
  const shop = () => createShop(sdk, { ...createSharedState(), waits })
  const sessions = new Map<string, HttpTransport>()
  const streams = new Map<string, SseTransport>()

  async function handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === '/sse') {
      if (request.method !== 'GET') return void response.writeHead(405).end()
      const transport = new sdk.SSEServerTransport('/messages', response)
      streams.set(transport.sessionId, transport)
      return shop().connect(transport)
    }
    if (url.pathname === '/messages') {
      return streams.get(url.searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response, body)
    }
    const id = request.headers['mcp-session-id']
    const transport = typeof id === 'string' ? sessions.get(id) : await open()
    if (transport === undefined) return void response.writeHead(404).end()
    await transport.handleRequest(request, response, body)
  }

  async function open(): Promise<HttpTransport> {
    const transport: HttpTransport = new sdk.StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 10,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    })
    await shop().connect(transport)
    return transport
  }

  const served = await listen(handle)
  return { ...served, url: `${served.url}/mcp` }
}

function createShop(sdk: Module, state: SharedState): Server {
  const server = new sdk.McpServer(info, { instructions, capabilities })
  const { ResourceTemplate, completable } = sdk
  const optional = (complete: Complete) => completable(z.string().optional(), complete)
  fillShop(server, { ResourceTemplate, completable, optional, handle: handleMethod, run }, state)
  filterUpdates(server)
  return server
}

/** Sends updates only to subscribers. The SDK does not do this. */
function filterUpdates(server: Server): void {
  const subscribed = new Set<string>()
  handleMethod(server, 'resources/subscribe', ({ uri = '' }) => {
    subscribed.add(uri)
    return {}
  })
  handleMethod(server, 'resources/unsubscribe', ({ uri = '' }) => {
    subscribed.delete(uri)
    return {}
  })
  const { server: inner } = server
  const sendResourceUpdated = inner.sendResourceUpdated.bind(inner)
  inner.sendResourceUpdated = async (params) => {
    if (subscribed.has((params as { uri: string }).uri)) await sendResourceUpdated(params)
  }
}

function handleMethod(
  { server }: OfficialServer,
  method: string,
  run: (params: Record<string, string>) => object,
): void {
  const schema = z.object({ method: z.literal(method), params: z.looseObject({}).optional() })
  ;(server as Server['server']).setRequestHandler(schema, ({ params = {} }) => run(params as Record<string, string>))
}

function run(server: OfficialServer, extra: never, body: (context: CallContext) => Promise<object>): Promise<object> {
  return body(createContext(server as Server, extra))
}

function createContext(server: Server, extra: Extra): CallContext {
  const progressToken = extra._meta?.progressToken
  return {
    signal: extra.signal,
    async progress(progress, total, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress, total, message }
      await extra.sendNotification({ method: 'notifications/progress', params })
    },
    log: (level, data, logger) => server.sendLoggingMessage({ level, data, logger }, extra.sessionId),
    header: (name) => extra.requestInfo?.headers[name],
    clientName: () => server.server.getClientVersion()?.name,
    async ask(requests) {
      const pending = Object.entries<InputRequest>(requests).map(
        async ([key, request]) => [key, await extra.sendRequest(request, z.looseObject({}))] as const,
      )
      return Object.fromEntries(await Promise.all(pending)) as Record<keyof typeof requests, Answer>
    },
  }
}
