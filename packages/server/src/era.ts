/** The two eras of the protocol behind one interface: the modern one of 2026-07-28, and the legacy one with sessions. */

import type {
  Exchange,
  Handler,
  Implementation,
  JsonObject,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  Revision,
  ServerCapabilities,
} from '@mcpx/protocol'
import {
  check,
  clientRequestParams,
  idProblem,
  isObject,
  isRequestId,
  kindOf,
  MAX_NAME_LENGTH,
  tooLong,
} from '@mcpx/protocol'
import type { ChangeHub } from './changes.ts'
import type { RequestContext } from './context.ts'
import type { Faults } from './errors.ts'
import type { ServerRequest } from './middleware.ts'
import type { RequestState } from './request-state.ts'

export interface ServerEra {
  /** Whether the message belongs to this era. */
  matches(message: RequestMessage | NotificationMessage, exchange: Exchange): boolean
  /** The response to a request; undefined for notifications, and for requests whose stream was closed. */
  handle(
    message: RequestMessage | NotificationMessage,
    exchange: Exchange,
    server: ServerInternals,
  ): Promise<ResponseMessage | undefined>
}

/** Limits of a server. */
export interface ServerLimits {
  /** How many `subscriptions/listen` streams may be open at once. Default: 1,000. */
  readonly listens: number
  /** How many URIs one session or stream may subscribe to. Default: 1,000. */
  readonly subscriptions: number
  /** How often one legacy call may return questions. Default: 16. */
  readonly rounds: number
}

/** The members of a server that the eras need. */
export interface ServerInternals {
  readonly info: Implementation
  readonly instructions: string | undefined
  /** All parts of the server, without its middleware. */
  readonly handler: Handler
  readonly capabilities: ServerCapabilities
  /** Whether the logging capability is declared; otherwise log messages must not be sent. */
  readonly isLogging: boolean
  readonly limits: ServerLimits
  readonly faults: Faults
  readonly requestState: RequestState
  readonly changes: ChangeHub
  /** Fires when the server is closed. */
  readonly closing: AbortSignal
  /** Runs a request through the middleware and the handler. Reports questions that the handler did not await. */
  run(request: ServerRequest, ctx: RequestContext): Promise<object>
}

/** Describes the problem with the parameters of a request in one sentence. The most frequent request is checked by hand. */
export function paramsProblem(revision: Revision, method: string, params: JsonObject): string | undefined {
  if (method === 'tools/call' && params.inputResponses === undefined && params.requestState === undefined) {
    return toolCallProblem(params)
  }
  const schema = clientRequestParams(revision, method)
  return schema && check(schema, params, 'params').problem
}

function toolCallProblem({ name, arguments: args, _meta }: JsonObject): string | undefined {
  if (typeof name !== 'string') return `params.name: expected string, got ${kindOf(name)}`
  if (name.length > MAX_NAME_LENGTH) return tooLong('params.name', MAX_NAME_LENGTH, name)
  if (args !== undefined && !isObject(args)) return `params.arguments: expected object, got ${kindOf(args)}`
  if (_meta === undefined) return undefined
  if (!isObject(_meta)) return `params._meta: expected object, got ${kindOf(_meta)}`
  const token = _meta.progressToken
  return token === undefined || isRequestId(token) ? undefined : idProblem('params._meta.progressToken', token)
}
