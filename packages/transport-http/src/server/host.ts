/** What the eras share of an endpoint: who answers, within which limits, and what is running. */

import {
  type AuthInfo,
  type Awaitable,
  errorMessage,
  guarded,
  internalError,
  isPromise,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  withDefaultLimits,
} from '@mcpx/protocol'
import type { EventStream } from './event-stream.ts'
import type { HttpExchange } from './exchange.ts'
import type { HttpRequest } from './http-request.ts'
import { type EndpointOptions, HTTP_LIMITS, type HttpLimits, KEEP_ALIVE, type ToolSchemas } from './options.ts'
import { Watch } from './watch.ts'

/** A request by HTTP that has passed the guards. */
export interface Inbound {
  readonly request: HttpRequest
  readonly auth: AuthInfo | undefined
  /** Whether its answer may be a stream. */
  readonly takesEvents: boolean
}

export interface Host {
  readonly responder: Responder
  readonly options: EndpointOptions
  readonly limits: HttpLimits
  readonly keepAlive: number
  /** The streams that are open, by one timer for all. */
  readonly streams: Watch<EventStream>
  /** Where the schemas of tools are found, if anywhere. */
  readonly toolSchemas: ToolSchemas | undefined
  /** Whether the revisions that have sessions are served besides. */
  readonly servesSessions: boolean
  /** The requests that are being answered. The clients of those that take long are shown that they are. */
  readonly running: Watch<HttpExchange>
  readonly report: (problem: Error) => void
  /** Why nothing runs any more; nothing as long as anything may. */
  ended: Error | undefined
}

/** Streams are given their comments in so many groups: all at once would keep everything else waiting. */
const GROUPS = 16

export function createHost(responder: Responder, options: EndpointOptions): Host {
  const keepAlive = options.keepAlive ?? KEEP_ALIVE
  return {
    responder,
    options,
    toolSchemas: toolSchemasOf(responder, options),
    limits: withDefaultLimits(HTTP_LIMITS, options.limits),
    keepAlive,
    streams: new Watch({ ms: keepAlive * (1 - 1 / (GROUPS + 1)), looks: GROUPS, onLate: (stream) => stream.beat() }),
    servesSessions: options.legacy !== false && responder.legacy !== false,
    running: new Watch({ ms: keepAlive, onLate: (exchange) => exchange.rouse() }),
    report: guarded(options.report),
    ended: undefined,
  }
}

/** Has a request answered. A fault is masked and reported; what was given up has no answer. */
export function answerRequest(
  host: Host,
  message: RequestMessage,
  exchange: HttpExchange,
): Awaitable<ResponseMessage | undefined> {
  try {
    const answer = host.responder.respond(message, exchange)
    return isPromise(answer)
      ? answerLater(host, message.id, exchange, answer)
      : finish(host, message.id, exchange, answer)
  } catch (error) {
    host.report(asError(error))
    return finish(host, message.id, exchange, undefined)
  }
}

/** What is answered at once never counts as running. Of what is not, the request itself is needed no longer. */
function answerLater(
  host: Host,
  id: RequestId,
  exchange: HttpExchange,
  answer: PromiseLike<ResponseMessage | undefined>,
): PromiseLike<ResponseMessage | undefined> {
  const { running, report } = host
  const done = (settled: ResponseMessage | undefined) => {
    running.delete(exchange)
    return finish(host, id, exchange, settled)
  }
  running.add(exchange)
  running.follow(exchange, exchange.isAlone)
  // Its own handler may have ended everything before it began to wait.
  if (host.ended !== undefined) exchange.abort(host.ended)
  const settled = answer.then(done, (error) => {
    report(asError(error))
    return done(undefined)
  })
  exchange.outlive(settled)
  return settled
}

function finish(
  host: Host,
  id: RequestId,
  exchange: HttpExchange,
  answer: ResponseMessage | undefined,
): ResponseMessage | undefined {
  if (exchange.isAborted) return undefined
  exchange.end()
  if (isAnswer(answer)) return answer
  if (answer) host.report(new TypeError('The responder answered with what is no response'))
  return errorMessage(id, internalError())
}

/** What is none would fail when it is sent, where nobody hears of it. */
function isAnswer(answer: ResponseMessage | undefined): answer is ResponseMessage {
  if (typeof answer !== 'object' || answer === null) return false
  return 'result' in answer || typeof answer.error?.code === 'number'
}

/** Has a notification heard; resolves when it was, and whoever sent it may go. */
export async function hearNotification(
  host: Host,
  message: NotificationMessage,
  exchange: HttpExchange,
): Promise<void> {
  try {
    await host.responder.respond(message, exchange)
  } catch (error) {
    host.report(asError(error))
  }
  exchange.end()
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The responder threw what is no error', { cause: error })
}

/** Those of the options come before the responder's own. */
function toolSchemasOf(responder: Responder, options: EndpointOptions): ToolSchemas | undefined {
  if (options.toolSchemas !== undefined) return options.toolSchemas
  return responder.inputSchemaOf === undefined
    ? undefined
    : (tool, exchange) => responder.inputSchemaOf?.(tool, exchange)
}
