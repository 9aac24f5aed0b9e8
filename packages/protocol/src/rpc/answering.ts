/** Gives inbound messages to the responder and makes sure that each request is answered at most once. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import { internalError, invalidRequest, methodNotFound, type RpcError } from '../jsonrpc/errors.ts'
import {
  errorMessage,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '../jsonrpc/message.ts'
import { type Awaitable, isPromise } from '../ports/awaitable.ts'
import type { Responder } from '../ports/exchange.ts'
import { type ExchangeHost, RunningExchange, type RunningKey, type RunningRequests } from './running-requests.ts'

export interface AnsweringOptions {
  readonly responder: Responder | undefined
  readonly running: RunningRequests
  readonly host: ExchangeHost
  /** How many requests and notifications may run at once. */
  readonly limit: number
  /** Called when a notification has been dealt with. */
  readonly onHeard: () => void
  readonly report: (error: Error) => void
}

export interface Answering {
  /**
   * The answer to a request, or nothing when it is no longer wanted. Never throws or rejects.
   * @param during the request of this side on whose stream it came, where the carrier can tell.
   */
  answer(message: RequestMessage, during?: RequestId): Awaitable<ResponseMessage | undefined>
  /** Passes a notification on. */
  hear(message: NotificationMessage): void
  /** From now on requests are refused. */
  stop(): void
}

/** The method of a request that is answered when its stream of changes ends. */
export const LISTEN = 'subscriptions/listen'

/** What a pipe says after the answer that ends a stream of changes; nothing where the stream was refused or cancelled. */
export function endOfListening(answer: Message | undefined): NotificationMessage | undefined {
  if (answer === undefined || !('result' in answer)) return undefined
  const params = { requestId: answer.id, reason: 'The subscription has ended' }
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params }
}

export function createAnswering(options: AnsweringOptions): Answering {
  return new Answerer(options)
}

class Answerer implements Answering {
  readonly #options: AnsweringOptions
  #isStopped = false

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  answer(message: RequestMessage, during?: RequestId): Awaitable<ResponseMessage | undefined> {
    const refusal = this.#refusalOf(message)
    if (refusal !== undefined) return errorMessage(message.id, refusal)
    const exchange = new RunningExchange(this.#options.host, during, message.method === LISTEN)
    let response: Awaitable<ResponseMessage | undefined>
    try {
      response = this.#run(message.id, exchange, message)
    } catch (error) {
      return this.#fail(message, exchange, error)
    }
    if (!isPromise(response)) return this.#settle(message, exchange, response)
    return Promise.resolve(response).then(
      (answer) => this.#settle(message, exchange, answer),
      (error) => this.#fail(message, exchange, error),
    )
  }

  hear(message: NotificationMessage): void {
    const { responder, running, host, limit, onHeard, report } = this.#options
    if (responder === undefined) return
    if (running.size >= limit) {
      report(new ConnectionError('limit', `${message.method} was dropped: ${limit} run already (limits.running)`))
      return
    }
    const exchange = new RunningExchange(host)
    const done = () => {
      exchange.end()
      running.delete(exchange)
      onHeard()
    }
    const failed = (error: unknown) => {
      report(asError(error))
      done()
    }
    let heard: Awaitable<unknown>
    try {
      heard = this.#run(exchange, exchange, message)
    } catch (error) {
      failed(error)
      return
    }
    if (isPromise(heard)) void Promise.resolve(heard).then(done, failed)
    else done()
  }

  stop(): void {
    this.#isStopped = true
  }

  #refusalOf({ id, method }: RequestMessage): RpcError | undefined {
    const { responder, running, limit } = this.#options
    if (responder === undefined) return methodNotFound(method)
    if (running.has(id)) return invalidRequest('Invalid message: id: a request with this id is still in flight')
    if (this.#isStopped) return internalError('Shutting down: no new requests are taken')
    if (running.size >= limit) return internalError(`Too many requests at once: at most ${limit} (limits.running)`)
    return undefined
  }

  #run(key: RunningKey, exchange: RunningExchange, message: RequestMessage | NotificationMessage) {
    const { responder, running } = this.#options
    running.add(key, exchange)
    return (responder as Responder).respond(message, exchange)
  }

  #settle({ id }: RequestMessage, exchange: RunningExchange, response: ResponseMessage | undefined) {
    const wanted = exchange.isOpen
    exchange.end()
    this.#options.running.delete(id)
    return wanted ? (response ?? errorMessage(id, internalError())) : undefined
  }

  /** A fault becomes an answer that says nothing of it. */
  #fail(message: RequestMessage, exchange: RunningExchange, error: unknown) {
    this.#options.report(asError(error))
    return this.#settle(message, exchange, undefined)
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(`Thrown: ${typeof error}`, { cause: error })
}
