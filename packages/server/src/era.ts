/** The common interface of the two eras: modern (2026-07-28) and legacy (with sessions). */

import {
  check,
  clientRequestParams,
  type Era,
  type Exchange,
  type Handler,
  type Implementation,
  idProblem,
  isObject,
  isRequestId,
  type JsonObject,
  kindOf,
  MAX_NAME_LENGTH,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  type Revision,
  type ServerCapabilities,
  type SharedLimit,
  tooLong,
} from '@mcpx/protocol'
import type { ChangeHub } from './changes.ts'
import type { RequestContext } from './context.ts'
import type { Faults } from './errors.ts'
import type { Extensions } from './extensions.ts'
import type { ServerRequest } from './middleware.ts'
import type { OnUnsupported } from './questions.ts'
import type { RequestState } from './request-state.ts'

export interface ServerEra {
  /** Handles a message. Returns the response, or undefined for notifications and for requests whose stream was closed. */
  handle(
    message: RequestMessage | NotificationMessage,
    exchange: Exchange,
    server: ServerInternals,
  ): Promise<ResponseMessage | undefined>
}

/** The limits of a server. */
export interface ServerLimits {
  /** The largest number of open `subscriptions/listen` streams. Default: 1,000. */
  readonly listens: number
  /** The largest number of URIs that one session or stream subscribes to. Default: 1,000. */
  readonly subscriptions: number
  /** How often one legacy call may return `inputRequired()`. Default: 16. */
  readonly rounds: number
  /**
   * The share of `listens` that one caller of an HTTP endpoint may use, from 0 to 1. The share is never smaller than 16
   * streams. Default: 0.25.
   */
  readonly perCaller: number
}

/** The parts of a server that the eras use. */
export interface ServerInternals {
  readonly info: Implementation
  readonly instructions: string | undefined
  /** All parts of the server, without its middleware. */
  readonly handler: Handler
  /** The extensions of the server. Undefined if it has none. */
  readonly extensions: Extensions | undefined
  /** Returns the capabilities, with the declarations of the extensions of an era. */
  capabilitiesIn(era: Era): ServerCapabilities
  /** Whether the logging capability is declared. If not, log messages must not be sent. */
  readonly isLogging: boolean
  readonly limits: ServerLimits
  readonly onUnsupported: OnUnsupported | undefined
  readonly faults: Faults
  readonly requestState: RequestState
  readonly changes: ChangeHub
  /** The open `subscriptions/listen` streams. */
  readonly listens: SharedLimit
  /** Aborted when the server is closed. */
  readonly closing: AbortSignal
  /** Runs a request through the middleware and the handler. Reports questions that the handler did not await. */
  run(request: ServerRequest, ctx: RequestContext): Promise<object>
}

/**
 * Returns a sentence about invalid parameters, or undefined. `tools/call` is checked without a schema, because it is
 * frequent.
 */
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
