/** What both eras need of their endpoint: the responder, the options, and the requests that are running. */

import {
  errorMessage,
  guarded,
  internalError,
  type JsonSchema,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  withDefaultLimits,
} from '@mcpx/protocol'
import type { HttpExchange } from './exchange.ts'
import { type EndpointOptions, HTTP_LIMITS, type HttpLimits, KEEP_ALIVE } from './options.ts'
import { LONGEST_TIMER, unref } from './timers.ts'

export class EndpointContext {
  readonly responder: Responder
  readonly options: EndpointOptions
  readonly limits: HttpLimits
  readonly keepAlive: number
  readonly report: (problem: Error) => void
  /** The requests that are being answered. */
  readonly running = new Set<HttpExchange>()
  /** Why the endpoint is closed. Absent while it is open. */
  closedReason: Error | undefined

  constructor(responder: Responder, options: EndpointOptions) {
    this.responder = responder
    this.options = options
    this.limits = withDefaultLimits(HTTP_LIMITS, options.limits)
    this.keepAlive = options.keepAlive ?? KEEP_ALIVE
    this.report = guarded(options.report)
  }

  /** The input schema of a tool; undefined where nobody knows it. */
  async inputSchemaOf(tool: string, exchange: HttpExchange): Promise<JsonSchema | undefined> {
    const { toolSchemas } = this.options
    return toolSchemas === undefined ? this.responder.inputSchemaOf?.(tool, exchange) : toolSchemas(tool, exchange)
  }

  /** Answers a request. Faults are masked and reported. Returns undefined when the request was cancelled. */
  async answerRequest(message: RequestMessage, exchange: HttpExchange): Promise<ResponseMessage | undefined> {
    const work = this.#answerRunning(message, exchange)
    exchange.waitUntil(work)
    return work
  }

  async #answerRunning(message: RequestMessage, exchange: HttpExchange): Promise<ResponseMessage | undefined> {
    const { running, keepAlive } = this
    let answer: ResponseMessage | undefined
    running.add(exchange)
    const timer = keepAlive > LONGEST_TIMER ? undefined : setTimeout(() => exchange.sendKeepAlive(), keepAlive)
    if (timer !== undefined) unref(timer)
    try {
      const answering = this.responder.respond(message, exchange)
      // A handler may have closed the endpoint before it began to wait.
      if (this.closedReason !== undefined) exchange.abort(this.closedReason)
      answer = await answering
    } catch (error) {
      this.report(asError(error))
    }
    clearTimeout(timer)
    running.delete(exchange)
    if (exchange.isAborted) return undefined
    exchange.end()
    if (isAnswer(answer)) return answer
    if (answer) this.report(new TypeError('The responder answered with a value that is not a JSON-RPC response'))
    return errorMessage(message.id, internalError())
  }

  /** Resolves when the responder has handled a notification. */
  async handleNotification(message: NotificationMessage, exchange: HttpExchange): Promise<void> {
    try {
      await this.responder.respond(message, exchange)
    } catch (error) {
      this.report(asError(error))
    }
    exchange.end()
  }
}

/** Another value would fail when it is sent, where nobody could report it. */
function isAnswer(answer: ResponseMessage | undefined): answer is ResponseMessage {
  if (typeof answer !== 'object' || answer === null) return false
  return 'result' in answer || typeof answer.error?.code === 'number'
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('The responder threw a value that is not an Error', { cause: error })
}
