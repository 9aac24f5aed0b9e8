/** The shop, made and served with the official SDK 2.x: sessions for older clients beside its own stateless endpoint. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import { load } from '../load.ts'
import { createEventStore } from './event-store.ts'
import { info, instructions } from './goods.ts'
import { type HandleHttp, listen, type Served } from './listening.ts'
import {
  type Back,
  type Complete,
  createBack,
  fillShop,
  type Line,
  type OfficialServer,
  type Question,
  type Talk,
} from './official.ts'

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

interface Module extends Pick<Line, 'ResourceTemplate' | 'completable'> {
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
  const back = createBack()
  sdk.serveStdio(({ era }) => createShop(sdk, back, era))
}

export async function serveSdk2OverHttp(): Promise<Served> {
  const sdk = await load<Module>(...NAMES)
  const back = createBack()
  const { waits } = back
  const modern = sdk.createMcpHandler(({ era }) => createShop(sdk, back, era), { legacy: 'reject' })
  back.touched = async (uri) => modern.notify.resourceUpdated(uri)
  back.toolsChanged = () => modern.notify.toolsChanged()
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
    await createShop(sdk, { ...createBack(), waits }, 'legacy').connect(transport)
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

function createShop(sdk: Module, back: Back, era: 'legacy' | 'modern'): Server {
  const server = new sdk.McpServer(info, { instructions, capabilities })
  const { ResourceTemplate, completable } = sdk
  const run: Line['run'] = (one, extra, body) => withQuestions(sdk, one as Server, extra, body)
  const optional = (complete: Complete) => completable(z.string(), complete).optional()
  fillShop(server, { ResourceTemplate, completable, optional, handle: handleMethod, run }, back)
  if (era === 'legacy') keepSubscriptions(server)
  return server
}

/** In the older revisions it is up to the author of a server who hears of what. */
function keepSubscriptions(server: Server): void {
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

/** The SDK wants questions returned; state carries the answers of earlier rounds. */
async function withQuestions(
  sdk: Module,
  server: Server,
  extra: Extra,
  body: (talk: Talk) => Promise<object>,
): Promise<object> {
  const { mcpReq } = extra
  const answers = { ...JSON.parse(mcpReq.requestState() ?? '{}'), ...mcpReq.inputResponses }
  let unanswered: [string, Question][] = []
  const ask: Talk['ask'] = async (questions) => {
    unanswered = Object.entries<Question>(questions).filter(([key]) => !(key in answers))
    // This run ends here, and the call comes again with the answers.
    if (unanswered.length > 0) throw new Error('not answered yet')
    return answers
  }
  try {
    return await body({ ...talkOf(sdk, server, extra), ask })
  } catch (error) {
    if (unanswered.length === 0) throw error
    const inputRequests = Object.fromEntries(unanswered)
    return sdk.inputRequired({ inputRequests, requestState: JSON.stringify(answers) })
  }
}

function talkOf(sdk: Module, server: Server, { mcpReq, http }: Extra): Omit<Talk, 'ask'> {
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
      const told = mcpReq.envelope?.[sdk.CLIENT_INFO_META_KEY] as { name: string } | undefined
      return told?.name ?? server.server.getClientVersion()?.name
    },
  }
}
