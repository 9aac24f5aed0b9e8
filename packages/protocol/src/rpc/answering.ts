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

export function createAnswering({ responder, running, host, limit, onHeard, report }: AnsweringOptions): Answering {
  let stopped = false

  function refusalOf(message: RequestMessage): RpcError | undefined {
    if (responder === undefined) return methodNotFound(message.method)
    if (running.has(message.id)) return invalidRequest('Invalid message: id: a request with this id is still in flight')
    if (stopped) return internalError('Shutting down: no new requests are taken')
    if (running.size >= limit) return internalError(`Too many requests at once: at most ${limit} (limits.running)`)
    return undefined
  }

  /** Runs the responder; a fault becomes an answer that says nothing of it. */
  function run(key: RunningKey, exchange: RunningExchange, message: RequestMessage | NotificationMessage) {
    const fault = (error: unknown) => {
      report(asError(error))
      return undefined
    }
    running.add(key, exchange)
    try {
      const response = (responder as Responder).respond(message, exchange)
      if (isPromise(response)) return Promise.resolve(response).then(undefined, fault)
      return response
    } catch (error) {
      return fault(error)
    }
  }

  function settle(message: RequestMessage, exchange: RunningExchange, response: ResponseMessage | undefined) {
    const wanted = exchange.isOpen
    exchange.end()
    running.delete(message.id)
    return wanted ? (response ?? errorMessage(message.id, internalError())) : undefined
  }

  return {
    answer(message, during) {
      const refusal = refusalOf(message)
      if (refusal !== undefined) return errorMessage(message.id, refusal)
      const exchange = new RunningExchange(host, during, message.method === LISTEN)
      const response = run(message.id, exchange, message)
      if (isPromise(response)) return response.then((answer) => settle(message, exchange, answer))
      return settle(message, exchange, response)
    },
    hear(message) {
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
      const heard = run(exchange, exchange, message)
      if (isPromise(heard)) void heard.then(done)
      else done()
    },
    stop() {
      stopped = true
    },
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(`Thrown: ${typeof error}`, { cause: error })
}
