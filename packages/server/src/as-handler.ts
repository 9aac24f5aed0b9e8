/** A server as a handler, to be mounted in another one: its middleware goes along. */

import type { Context, Handler, JsonObject, OtherHandler } from '@mcpx/protocol'
import type { Core } from './core.ts'
import { MEMBERS, membersWhile } from './members.ts'

/** Its members are there when those of the server's own handler are. */
export function asHandler(core: Core): Handler {
  const answering = Object.entries(MEMBERS).map(([method, name]) => {
    return [name, (params: JsonObject, ctx: Context) => core.run({ method, params }, ctx)] as const
  })
  const changes: OtherHandler['changes'] = (listener) => core.onChange(listener)
  return membersWhile({ ...Object.fromEntries(answering), changes }, (name) =>
    name === 'setLogLevel' ? core.isLogging : core.handler[name] !== undefined,
  )
}
