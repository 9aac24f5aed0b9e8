/** The parts of an endpoint that both eras use: the responder, the options, and the running requests. */

import {
  ConnectionError,
  createDebugObserver,
  errorMessage,
  guarded,
  internalError,
  LONGEST_TIMER,
  type MessageObserver,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  SharedLimit,
  withDefaultLimits,
} from '@mcpx/protocol'
import { SharedLimits } from './admission.ts'
import type { HttpExchange } from './exchange.ts'
import type { HttpRequest } from './http-request.ts'
import {
  BODY_TIMEOUT,
  type EndpointOptions,
  HTTP_LIMITS,
  type HttpLimits,
  KEEP_ALIVE,
  SEND_TIMEOUT,
} from './options.ts'
import { asError, type HttpAnswer, isRetryable } from './responses.ts'
import { countResponse, every } from './timers.ts'
import { COUNTED, UnreadJson, UnreadResponses } from './unread.ts'

/** The number of times that running requests are checked within `keepAlive`. */
const CHECKS = 4

/**
 * The running exchanges, in an array with free places. It is not a `Set`: if a set changes very often, V8 often
 * replaces its hash table, and the members of a replaced table are not freed before the next full garbage collection.
 */
export class RunningExchanges {
  readonly #places: (HttpExchange | undefined)[] = []
  readonly #free: number[] = []
  size = 0

  add(exchange: HttpExchange): void {
    exchange.place = this.#free.pop() ?? this.#places.length
    this.#places[exchange.place] = exchange
    this.size += 1
  }

  delete(exchange: HttpExchange): void {
    this.#places[exchange.place] = undefined
    this.#free.push(exchange.place)
    this.size -= 1
  }

  /** Returns a copy, because exchanges may end during the iteration. */
  all(): HttpExchange[] {
    return this.#places.filter((exchange) => exchange !== undefined)
  }
}

export class EndpointContext {
  readonly responder: Responder
  readonly options: EndpointOptions
  readonly limits: HttpLimits
  readonly shared: SharedLimits
  readonly unread: UnreadResponses
  readonly sendTimeout: number
  readonly bodyTimeout: number
  readonly keepAlive: number
  readonly report: (problem: Error) => void
  readonly onMessage: MessageObserver | undefined
  /** Finds the input schema of a tool. Undefined if the server provides no schemas. */
  readonly inputSchemaOf: Responder['inputSchemaOf']
  /** The requests that are being answered. */
  readonly running = new RunningExchanges()
  /** The number of open SSE streams. */
  openStreams = 0
  #keepAlive: ReturnType<typeof setInterval> | undefined
  /** The reason for closing. Undefined while the endpoint is open. */
  closedReason: Error | undefined

  constructor(responder: Responder, options: EndpointOptions) {
    this.responder = responder
    this.options = options
    this.report = guarded(options.onWarning)
    this.limits = withDefaultLimits(HTTP_LIMITS, options.limits)
    this.shared = new SharedLimits(this.limits)
    this.unread = new UnreadResponses(new SharedLimit(this.limits.unreadBytes, this.limits.perCaller), this.report)
    this.sendTimeout = options.sendTimeout ?? SEND_TIMEOUT
    this.bodyTimeout = options.bodyTimeout ?? BODY_TIMEOUT
    this.keepAlive = options.keepAlive ?? KEEP_ALIVE
    this.onMessage = createDebugObserver('server', options.debug)
    this.inputSchemaOf = options.toolSchemas ?? responder.inputSchemaOf?.bind(responder)
  }

  /**
   * Calls the responder with a request. Masks and reports faults. Returns undefined if the request was cancelled.
   * Rejects if the store cannot be reached and no stream is open, so that the response can have the status 503. Long
   * requests send keep-alive comments; they share one timer, which costs less than a timer per request.
   */
  async answerRequest(message: RequestMessage, exchange: HttpExchange): Promise<ResponseMessage | undefined> {
    const { keepAlive, running } = this
    let answer: ResponseMessage | undefined
    let storeFailure: unknown
    let ownTimer: ReturnType<typeof every>
    running.add(exchange)
    exchange.admission.isHandled = true
    exchange.admission.hold()
    // Runtimes with `waitUntil` stop a timer when the request that started it ends, so each request needs its own
    // timer.
    if (exchange.waitUntil !== undefined) ownTimer = every(keepAlive, () => exchange.sendKeepAlive())
    else this.#keepAlive ??= every(keepAlive / CHECKS, () => this.#sendKeepAlive())
    try {
      const answering = this.responder.respond(message, exchange)
      exchange.waitUntil?.(Promise.resolve(answering).catch(() => {}))
      // A handler may have closed the endpoint before it began to wait.
      if (this.closedReason !== undefined) exchange.abort(this.closedReason)
      answer = await answering
    } catch (error) {
      if (isRetryable(error) && exchange.sink?.hasStream !== true) storeFailure = error
      else this.report(asError(error))
    }
    clearInterval(ownTimer)
    running.delete(exchange)
    exchange.admission.release()
    if (exchange.abortReason !== undefined) return undefined
    exchange.end()
    if (storeFailure !== undefined) throw storeFailure
    if (isAnswer(answer)) return answer
    if (answer) this.report(new TypeError('The responder returned a value that is not a JSON-RPC response'))
    return errorMessage(message.id, internalError())
  }

  #sendKeepAlive(): void {
    for (const exchange of this.running.all()) {
      exchange.keepAliveChecks += 1
      // Send one comment only: it opens a stream, which sends the next comments itself.
      if (exchange.keepAliveChecks === CHECKS + 1) exchange.sendKeepAlive()
    }
    if (this.running.size > 0) return
    clearInterval(this.#keepAlive)
    this.#keepAlive = undefined
  }

  /**
   * Cuts off a response if its client reads nothing for too long (on Node). Counts the unread bytes of a JSON response.
   */
  watchResponse({ outgoing, admission }: HttpRequest, { body }: HttpAnswer): void {
    if (outgoing === undefined || body === null || (typeof body === 'string' && body.length < COUNTED)) return
    if (typeof body === 'string') {
      countResponse(body.length)
      this.unread.add(new UnreadJson(admission.caller, outgoing), body.length)
    }
    if (this.sendTimeout > LONGEST_TIMER) return
    outgoing.setTimeout?.(this.sendTimeout, () => {
      if (outgoing.destroyed || outgoing.writableLength === 0) return
      const text = `The client read nothing for ${this.sendTimeout} ms: its response was cut (sendTimeout)`
      this.report(new ConnectionError('limit', text))
      outgoing.destroy()
    })
  }

  /** Resolves when the responder has handled a notification. */
  async handleNotification(message: NotificationMessage, exchange: HttpExchange): Promise<void> {
    exchange.admission.isHandled = true
    exchange.admission.hold()
    try {
      await this.responder.respond(message, exchange)
    } catch (error) {
      this.report(asError(error))
    }
    exchange.admission.release()
    exchange.end()
  }
}

/**
 * Returns whether a value is a response. It is checked before it is sent, because a failure during sending could not be
 * reported.
 */
function isAnswer(answer: ResponseMessage | undefined): answer is ResponseMessage {
  if (typeof answer !== 'object' || answer === null) return false
  return 'result' in answer || typeof answer.error?.code === 'number'
}
