/** The server that clients of `mcpx dev` are connected to. It forwards their requests to the current server process. */

import {
  type Context,
  ErrorCode,
  type Exchange,
  errorMessage,
  type Implementation,
  internalError,
  isReservedMetaKey,
  isRevision,
  type JsonObject,
  methodNotFound,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  RpcError,
  readEnvelope,
  resultMessage,
  stripFor,
  TASKS_EXTENSION,
  type WholeHandler,
} from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import type { ReplaceableServer } from './replaceable-server.ts'
import type { RequestMember, ServerProcess } from './server-process.ts'

/** The front: the server that clients see while the server processes behind it are replaced. */
export interface Front {
  /** Serves any number of connections of both eras. */
  readonly responder: Responder
  /** Sets the name and the version that all further responses contain. */
  update(process: ServerProcess): void
}

/**
 * The empty results for capabilities that the server process lacks. The front declares all capabilities, because the
 * next save may add one.
 */
const EMPTY_RESULTS: Partial<Record<RequestMember, JsonObject>> = {
  listTools: { tools: [] },
  listPrompts: { prompts: [] },
  listResources: { resources: [] },
  listResourceTemplates: { resourceTemplates: [] },
  complete: { completion: { values: [] } },
}

const METHODS: Partial<Record<RequestMember, string>> = {
  callTool: 'tools/call',
  getPrompt: 'prompts/get',
  readResource: 'resources/read',
}

/**
 * Creates the front of a server.
 *
 * @param name the name of the server until a process has started
 */
export function createFront(server: ReplaceableServer, name: string, onError: (error: unknown) => void): Front {
  async function forward<Result>(member: RequestMember, params: object, ctx: Context): Promise<Result> {
    const process = await server.getProcessOf(ctx.requestState)
    if (process.handler[member] !== undefined) return process.run(member, params, ctx)
    const empty = EMPTY_RESULTS[member]
    if (empty === undefined) throw methodNotFound(METHODS[member] ?? member)
    return empty as Result
  }

  const handler = {
    listTools: (page, ctx) => forward('listTools', page, ctx),
    callTool: (params, ctx) => forward('callTool', params, ctx),
    listPrompts: (page, ctx) => forward('listPrompts', page, ctx),
    getPrompt: (params, ctx) => forward('getPrompt', params, ctx),
    listResources: (page, ctx) => forward('listResources', page, ctx),
    listResourceTemplates: (page, ctx) => forward('listResourceTemplates', page, ctx),
    readResource: (params, ctx) => forward('readResource', params, ctx),
    complete: (params, ctx) => forward('complete', params, ctx),
    subscribe: ({ uri }) => server.subscribe(uri),
    unsubscribe: ({ uri }) => server.unsubscribe(uri),
    setLogLevel: ({ level }) => server.setLogLevel(level),
    changes: (listener) => server.onChange(listener),
  } satisfies WholeHandler

  // The server adds this object to its responses.
  const info: Implementation = { name, version: '0.0.0' }
  const front = createServer(info, { ...handler, onError }) as Responder
  return {
    responder: {
      ...front,
      async respond(message, exchange) {
        const isHandshake = message.method === 'initialize' || message.method === 'server/discover'
        // The name and the instructions are known after the process has started. If it does not start, the handshake
        // succeeds without them.
        const process = isHandshake ? await server.getProcess().catch(() => undefined) : undefined
        const response = await front.respond(message, exchange)
        if (!('id' in message) || response === undefined) return response
        if ('error' in response) {
          const isUnknown = response.error.code === ErrorCode.MethodNotFound
          return isUnknown ? forwardExtension(server, message, exchange, response) : response
        }
        return process === undefined ? response : resultMessage(message.id, describe(response.result, process))
      },
    },
    update({ client }) {
      for (const key of Object.keys(info)) Reflect.deleteProperty(info, key)
      Object.assign(info, client.server.info ?? { name, version: '0.0.0' })
    },
  }
}

/** Adds the instructions and the extensions of a process to the result of a handshake. */
function describe(result: object, { client }: ServerProcess): object {
  const { instructions, capabilities } = client.server
  // Do not declare the tasks extension: the client inside `mcpx dev` waits for tasks, and returns their results.
  const { [TASKS_EXTENSION]: _, ...extensions } = capabilities.extensions ?? {}
  const { capabilities: ours, ...rest } = result as { capabilities: object; protocolVersion?: string }
  const described = {
    ...rest,
    capabilities: Object.keys(extensions).length === 0 ? ours : { ...ours, extensions },
    ...(instructions !== undefined && { instructions }),
  }
  // Older revisions have no extensions.
  const { protocolVersion: revision } = rest
  return isRevision(revision) ? stripFor(revision, 'initialize', described) : described
}

/** Forwards a request with a method that is not in the protocol, for example of an extension. */
async function forwardExtension(
  server: ReplaceableServer,
  { id, method, params = {} }: RequestMessage,
  { signal, session }: Exchange,
  refusal: ResponseMessage,
): Promise<ResponseMessage> {
  const process = await server.getProcess().catch(() => undefined)
  if (process?.client.server.capabilities.extensions === undefined) return refusal
  const { _meta = {}, ...rest } = params as JsonObject & { _meta?: JsonObject }
  const envelope = readEnvelope(params)
  const declared = typeof envelope === 'string' ? session?.state.clientCapabilities : envelope.clientCapabilities
  const isOwn = ([key]: [string, unknown]) => key !== 'progressToken' && !isReservedMetaKey(key)
  const meta = Object.fromEntries(Object.entries(_meta).filter(isOwn)) as JsonObject
  try {
    return resultMessage(
      id,
      await process.request(method, rest, { signal, capabilities: declared, input: 'pass', meta }),
    )
  } catch (error) {
    return errorMessage(id, error instanceof RpcError ? error : internalError((error as Error).message))
  }
}
