/** Takes a request to the method of the handler that answers it. */

import {
  type Awaitable,
  type CallToolRequestParams,
  type Context,
  type Handler,
  isPromise,
  methodNotFound,
} from '@mcpx/protocol'
import { type Faults, toolFault } from './faults.ts'
import { MEMBERS } from './members.ts'
import type { ServerRequest } from './middleware.ts'
import { whenDone } from './settle.ts'

type Answering = (params: object, ctx: Context) => Awaitable<object>

/** What handlers are told. That a server takes these requests at all is for its capabilities to say. */
const TOLD: readonly string[] = ['subscribe', 'unsubscribe', 'setLogLevel']

/** Gives the result, or throws. A method that the handler does not have is unknown. */
export function dispatch(
  handler: Handler,
  { method, params }: ServerRequest,
  ctx: Context,
  faults: Faults,
): Awaitable<object> {
  // The most frequent request goes first.
  if (method === 'tools/call' && handler.callTool !== undefined) {
    return callTool(handler as Required<Handler>, params as never, ctx, faults)
  }
  const member = Object.hasOwn(MEMBERS, method) ? MEMBERS[method as keyof typeof MEMBERS] : undefined
  if (member === undefined) throw methodNotFound(method)
  if (TOLD.includes(member)) {
    return whenDone<unknown, object>(handler[member]?.(params as never, ctx), () => ({}))
  }
  if (handler[member] !== undefined) return (handler as Record<typeof member, Answering>)[member](params, ctx)
  // Whoever lists resources can list templates, if only none.
  if (member === 'listResourceTemplates' && handler.listResources !== undefined) return { resourceTemplates: [] }
  throw methodNotFound(method)
}

/** A tool's failure is a result, so that the model can read it. */
function callTool(
  handler: Required<Handler>,
  params: CallToolRequestParams,
  ctx: Context,
  faults: Faults,
): Awaitable<object> {
  try {
    const result = handler.callTool(params, ctx)
    return isPromise(result) ? result.then(undefined, (error) => toolFault(error, ctx, faults)) : result
  } catch (error) {
    return toolFault(error, ctx, faults)
  }
}
