/** A server as a handler, to be mounted in another one: its middleware goes along. */

import type { Awaitable, Context, Handler, JsonObject } from '@mcpx/protocol'
import type { Core } from './core.ts'

/** Which method of the protocol each method of a handler answers. */
const methods = {
  listTools: 'tools/list',
  callTool: 'tools/call',
  listResources: 'resources/list',
  listResourceTemplates: 'resources/templates/list',
  readResource: 'resources/read',
  listPrompts: 'prompts/list',
  getPrompt: 'prompts/get',
  complete: 'completion/complete',
  subscribe: 'resources/subscribe',
  unsubscribe: 'resources/unsubscribe',
} as const satisfies Partial<Record<keyof Handler, string>>

/** Its members are there when those of the server's own handler are. */
export function asHandler(core: Core): Handler {
  const handler: Handler = {}
  for (const [name, method] of Object.entries(methods)) {
    const answer = (params: JsonObject, ctx: Context): Awaitable<object> => core.run({ method, params }, ctx)
    const get = () => (core.handler[name as keyof Handler] === undefined ? undefined : answer)
    Object.defineProperty(handler, name, { get, enumerable: true })
  }
  const setLogLevel = (params: JsonObject, ctx: Context) => core.run({ method: 'logging/setLevel', params }, ctx)
  Object.defineProperty(handler, 'setLogLevel', {
    get: () => (core.isLogging ? setLogLevel : undefined),
    enumerable: true,
  })
  Object.defineProperty(handler, 'changes', {
    get: () => core.handler.changes?.bind(core.handler),
    enumerable: true,
  })
  return handler
}
