/** The server that clients of `mcpx dev` are connected to. It forwards their requests to the process that runs. */

import {
  type Context,
  type Implementation,
  type JsonObject,
  methodNotFound,
  type Responder,
  type WholeHandler,
} from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import type { ReplaceableServer } from './replaceable-server.ts'
import type { RequestMember, ServerProcess } from './server-process.ts'

/** A front and the facts about the server that it shows to clients. */
export interface Front {
  /** Serves any number of connections of both eras. */
  readonly responder: Responder
  /** Shows the name, the version and the instructions of a process to clients that connect from now on. */
  update(process: ServerProcess): void
}

/** The empty results of servers that lack a capability. The front declares all of them, because a save may add one. */
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

  // The server writes this object into its responses.
  const info: Implementation = { name, version: '0.0.0' }
  let instructions: string | undefined
  const front = createServer(info, { ...handler, onError }) as Responder
  return {
    responder: {
      ...front,
      async respond(message, exchange) {
        const isHandshake = message.method === 'initialize' || message.method === 'server/discover'
        // Its name and instructions are known when it has started. Without it, clients can wait for the next one.
        if (isHandshake) await server.getProcess().catch(() => {})
        const response = await front.respond(message, exchange)
        if (!isHandshake || instructions === undefined || response === undefined || 'error' in response) return response
        return { ...response, result: { ...(response.result as JsonObject), instructions } }
      },
    },
    update({ client }) {
      for (const key of Object.keys(info)) Reflect.deleteProperty(info, key)
      Object.assign(info, client.server.info ?? { name, version: '0.0.0' })
      instructions = client.server.instructions
    },
  }
}
