/** A server as a handler, to be mounted in another one: its middleware goes along. */

import type { Context, Handler, JsonObject } from '@mcpx/protocol'
import type { Core } from './core.ts'
import { MEMBERS, membersWhile } from './members.ts'

/** Its members are there when those of the server's own handler are; `changes` always, for it may grow at any time. */
export function asHandler(core: Core): Handler {
  const answering = Object.entries(MEMBERS).map(([method, name]) => {
    return [name, (params: JsonObject, ctx: Context) => core.run({ method, params }, ctx)] as const
  })
  const handler = membersWhile(Object.fromEntries(answering), (name) =>
    name === 'setLogLevel' ? core.isLogging : core.handler[name] !== undefined,
  )
  return Object.assign(handler, { changes: core.audience.onChange })
}
