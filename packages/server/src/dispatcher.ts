/** Takes a request to the method of the handler that answers it. */

import {
  type Awaitable,
  type CallToolRequestParams,
  type CompleteRequestParams,
  type Context,
  type GetPromptRequestParams,
  type Handler,
  isPromise,
  methodNotFound,
} from '@mcpx/protocol'
import { type Faults, toolFault } from './faults.ts'
import type { ServerRequest } from './middleware.ts'

type Method = (handler: Handler, params: never, ctx: Context) => Awaitable<object | undefined> | undefined

/** The methods that handlers answer; those that an era answers by itself are not among them. */
const methods: Readonly<Record<string, Method>> = {
  'tools/list': (handler, params, ctx) => handler.listTools?.(params, ctx),
  'resources/list': (handler, params, ctx) => handler.listResources?.(params, ctx),
  'resources/templates/list': listTemplates,
  'resources/read': (handler, params, ctx) => handler.readResource?.(params, ctx),
  'prompts/list': (handler, params, ctx) => handler.listPrompts?.(params, ctx),
  'prompts/get': (handler, params: GetPromptRequestParams, ctx) => handler.getPrompt?.(params, ctx),
  'completion/complete': (handler, params: CompleteRequestParams, ctx) => handler.complete?.(params, ctx),
}

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
  const answer = Object.hasOwn(methods, method) ? methods[method]?.(handler, params as never, ctx) : undefined
  if (answer === undefined) throw methodNotFound(method)
  return answer as Awaitable<object>
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

/** Whoever lists resources can list templates, if only none. */
function listTemplates(handler: Handler, params: { cursor?: string }, ctx: Context): Awaitable<object> | undefined {
  if (handler.listResourceTemplates !== undefined) return handler.listResourceTemplates(params, ctx)
  return handler.listResources === undefined ? undefined : { resourceTemplates: [] }
}
