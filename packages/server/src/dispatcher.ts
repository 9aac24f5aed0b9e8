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
import type { ServerRequest } from './middleware.ts'

type Answering = (params: object, ctx: Context) => Awaitable<object>

/**
 * The method of a handler that answers each method of the protocol. Those that an era answers by itself have none, and
 * calls of tools are special.
 */
const members = {
  'tools/list': 'listTools',
  'resources/list': 'listResources',
  'resources/templates/list': 'listResourceTemplates',
  'resources/read': 'readResource',
  'prompts/list': 'listPrompts',
  'prompts/get': 'getPrompt',
  'completion/complete': 'complete',
} as const satisfies Readonly<Record<string, keyof Handler>>

/** What handlers are told. That a server takes these requests at all is for its capabilities to say. */
const told = {
  'resources/subscribe': 'subscribe',
  'resources/unsubscribe': 'unsubscribe',
  'logging/setLevel': 'setLogLevel',
} as const satisfies Readonly<Record<string, keyof Handler>>

/** Gives the result, or throws. A method that the handler does not have is unknown. */
export function dispatch(
  handler: Handler,
  { method, params }: ServerRequest,
  ctx: Context,
  faults: Faults,
): Awaitable<object> {
  if (method === 'tools/call' && handler.callTool !== undefined) {
    return callTool(handler as Handler & Required<Pick<Handler, 'callTool'>>, params as never, ctx, faults)
  }
  const member = Object.hasOwn(members, method) ? members[method as keyof typeof members] : undefined
  if (member === undefined || handler[member] === undefined) return unlisted(handler, method, params, ctx)
  return (handler as Record<typeof member, Answering>)[member](params, ctx)
}

/** What is told to a handler and needs no method of it. Whoever lists resources can list templates, if only none. */
function unlisted(handler: Handler, method: string, params: object, ctx: Context): Awaitable<object> {
  if (method === 'resources/templates/list' && handler.listResources !== undefined) return { resourceTemplates: [] }
  const member = Object.hasOwn(told, method) ? told[method as keyof typeof told] : undefined
  if (member === undefined) throw methodNotFound(method)
  const done = handler[member]?.(params as never, ctx)
  return isPromise(done) ? done.then(() => ({})) : {}
}

/** A tool's failure is a result, so that the model can read it. */
function callTool(
  handler: Required<Pick<Handler, 'callTool'>>,
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
