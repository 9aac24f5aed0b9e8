/** A server as its author and its carriers see it: what is the same for servers of all kinds. */

import type { Responder } from '@mcpx/protocol'
import { asHandler } from './as-handler.ts'
import type { ServerCore } from './server-core.ts'
import { createToolSchemas } from './tool-schemas.ts'

type Method = (...args: never[]) => unknown
type Methods = Readonly<Record<string, Method>>

/**
 * The methods that are given back the server itself, `chained`, besides those that all have, and `others`. The types of what
 * was added are for the compiler alone: there is one object.
 */
export function faceOf<Server>(core: ServerCore, chained: Methods, others: Methods): Server {
  const { offered, wire } = core
  const { registry } = offered
  const { changes, ended } = wire
  const server = {
    respond: (message, exchange) =>
      'id' in message ? wire.answer(message, exchange, core) : wire.hear?.(message, exchange, core),
    legacy: core.servesLegacy && changes !== undefined,
    inputSchemaOf: createToolSchemas(core, offered),
    watchChanges: changes && ((session, tell) => changes(session, tell, core)),
    sessionEnded: ended && ((session) => ended(session, core)),
    handler: asHandler(core),
    removeTool: registry.removeTool,
    close: core.close,
    ...others,
  } as Responder & Record<string, unknown>
  for (const [name, run] of Object.entries({ tool: registry.addTool, use: core.use, ...chained } as Methods)) {
    server[name] = (...args: never[]) => {
      run(...args)
      return server
    }
  }
  return server as Server
}
