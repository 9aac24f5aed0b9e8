/** The shop with the official SDK 2.x: sessions for legacy clients beside its stateless endpoint. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import { load } from '../load.ts'
import { createEventStore } from './event-store.ts'
import { type HandleHttp, type HttpServer, listen } from './listening.ts'
import {
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
  readonly server: OfficialServer['server'] & {
    setRequestHandler(method: string, run: (request: { params?: object }) => object): void
    getClientVersion(): { name: string } | undefined
  }
}

interface Extra {
  readonly mcpReq: {
    readonly signal: AbortSignal
    readonly _meta?: { progressToken?: string | number }
    readonly envelope?: Record<string, unknown>
    readonly inputResponses?: Record<string, Record<string, unknown>>
    requestState(): string | undefined
    notify(notification: object): Promise<void>
    log(level: string, data: unknown, logger: string): Promise<void>
  }
  readonly http?: { req?: Request }
}

interface HttpTransport {
  handleRequest(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>
}

interface Handler {
  readonly notify: { resourceUpdated(uri: string): void; toolsChanged(): void }
  close(): Promise<void>
}

type Create = (context: { era: 'legacy' | 'modern' }) => Server

interface Module extends Pick<SdkAdapter, 'ResourceTemplate' | 'completable'> {
  McpServer: new (info: object, options: object) => Server
  NodeStreamableHTTPServerTransport: new (options: object) => HttpTransport
  CLIENT_INFO_META_KEY: string
  inputRequired(spec: object): object
  createMcpHandler(create: Create, options: object): Handler
  isLegacyRequest(request: Request): Promise<boolean>
  toNodeHandler(handler: Handler): HandleHttp
  toWebRequest(request: IncomingMessage, body: unknown): Promise<Request>
  serveStdio(create: Create): void
}

const NAMES = ['server', 'server/stdio', 'node'].map((name) => `@modelcontextprotocol/${name}`)
const capabilities = {
  logging: {},
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
}

export async function serveSdk2OverStdio(): Promise<void> {
  const sdk = await load<Module>(...NAMES)
  const state = createSharedState()
  sdk.serveStdio(({ era }) => createShop(sdk, state, era))
}

export async function serveSdk2OverHttp(): Promise<HttpServer> {
  const sdk = await load<Module>(...NAMES)
  const state = createSharedState()
  const { waits } = state
  const modern = sdk.createMcpHandler(({ era }) => createShop(sdk, state, era), { legacy: 'reject' })
  state.touched = async (uri) => modern.notify.resourceUpdated(uri)
  state.toolsChanged = () => modern.notify.toolsChanged()
  const handleModern = sdk.toNodeHandler(modern)
  const sessions = new Map<string, HttpTransport>()

  async function open(): Promise<HttpTransport> {
    const transport: HttpTransport = new sdk.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 10,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    })
    await createShop(sdk, { ...createSharedState(), waits }, 'legacy').connect(transport)
    return transport
  }

  const served = await listen(async (request, response, body) => {
    if (!(await sdk.isLegacyRequest(await sdk.toWebRequest(request, body))))
      return handleModern(request, response, body)
    const id = request.headers['mcp-session-id']
    const transport = typeof id === 'string' ? sessions.get(id) : await open()
    if (transport === undefined) return void response.writeHead(404).end()
    await transport.handleRequest(request, response, body)
  })
  const close = async () => {
    await modern.close()
    await served.close()
  }
  return { url: `${served.url}/mcp`, close }
}

function createShop(sdk: Module, state: SharedState, era: 'legacy' | 'modern'): Server {
  const server = new sdk.McpServer(info, { instructions, capabilities })
  const { ResourceTemplate, completable } = sdk
  const run: SdkAdapter['run'] = (one, extra, body) => runWithInputRequests(sdk, one as Server, extra, body)
  const optional = (complete: Complete) => completable(z.string(), complete).optional()
  fillShop(server, { ResourceTemplate, completable, optional, handle: handleMethod, run }, state)
  if (era === 'legacy') filterUpdates(server)
  return server
}

/** Sends updates only to subscribers. The SDK does not do this in the legacy era. */
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
  ;(server as Server['server']).setRequestHandler(method, ({ params = {} }) => run(params as Record<string, string>))
}

/** Runs a handler; returns missing input requests as the SDK expects. The state contains the answers of earlier rounds. */
async function runWithInputRequests(
  sdk: Module,
  server: Server,
  extra: Extra,
  body: (context: CallContext) => Promise<object>,
): Promise<object> {
  const { mcpReq } = extra
  const answers = { ...JSON.parse(mcpReq.requestState() ?? '{}'), ...mcpReq.inputResponses }
  let unanswered: [string, InputRequest][] = []
  const ask: CallContext['ask'] = async (requests) => {
    unanswered = Object.entries<InputRequest>(requests).filter(([key]) => !(key in answers))
    // Ends this run. The client repeats the call with the answers.
    if (unanswered.length > 0) throw new Error('not answered yet')
    return answers
  }
  try {
    return await body({ ...createContext(sdk, server, extra), ask })
  } catch (error) {
    if (unanswered.length === 0) throw error
    const inputRequests = Object.fromEntries(unanswered)
    return sdk.inputRequired({ inputRequests, requestState: JSON.stringify(answers) })
  }
}

function createContext(sdk: Module, server: Server, { mcpReq, http }: Extra): Omit<CallContext, 'ask'> {
  const progressToken = mcpReq._meta?.progressToken
  return {
    signal: mcpReq.signal,
    async progress(progress, total, message) {
      if (progressToken === undefined) return
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } })
    },
    log: (level, data, logger) => mcpReq.log(level, data, logger),
    header: (name) => http?.req?.headers.get(name) ?? undefined,
    clientName() {
      const clientInfo = mcpReq.envelope?.[sdk.CLIENT_INFO_META_KEY] as { name: string } | undefined
      return clientInfo?.name ?? server.server.getClientVersion()?.name
    },
  }
}
