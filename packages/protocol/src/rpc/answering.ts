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

  function refusalOf({ id, method }: RequestMessage): RpcError | undefined {
    if (responder === undefined) return methodNotFound(method)
    if (running.has(id)) return invalidRequest('Invalid message: id: a request with this id is still in flight')
    if (stopped) return internalError('Shutting down: no new requests are taken')
    if (running.size >= limit) return internalError(`Too many requests at once: at most ${limit} (limits.running)`)
    return undefined
  }

  /** Runs the responder, and goes on when it is done; a fault counts as no answer. */
  function run<Done>(
    key: RunningKey,
    exchange: RunningExchange,
    message: RequestMessage | NotificationMessage,
    done: (key: RunningKey, exchange: RunningExchange, response: ResponseMessage | undefined) => Done,
  ): Awaitable<Done> {
    const fault = (error: unknown) => {
      report(asError(error))
      return done(key, exchange, undefined)
    }
    running.add(key, exchange)
    let response: Awaitable<ResponseMessage | undefined>
    try {
      response = (responder as Responder).respond(message, exchange)
    } catch (error) {
      return fault(error)
    }
    return isPromise(response)
      ? Promise.resolve(response).then((late) => done(key, exchange, late), fault)
      : done(key, exchange, response)
  }

  function settle(id: RunningKey, exchange: RunningExchange, response: ResponseMessage | undefined) {
    const wanted = exchange.isOpen
    exchange.end()
    running.delete(id)
    return wanted ? (response ?? errorMessage(id as RequestId, internalError())) : undefined
  }

  function heard(key: RunningKey, exchange: RunningExchange): void {
    exchange.end()
    running.delete(key)
    onHeard()
  }

  return {
    answer(message, during) {
      const refusal = refusalOf(message)
      if (refusal !== undefined) return errorMessage(message.id, refusal)
      return run(message.id, new RunningExchange(host, during, message.method === LISTEN), message, settle)
    },
    hear(message) {
      if (responder === undefined) return
      const exchange = new RunningExchange(host)
      if (running.size < limit) void run(exchange, exchange, message, heard)
      else report(new ConnectionError('limit', `${message.method} was dropped: ${limit} run already (limits.running)`))
    },
    stop() {
      stopped = true
    },
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(`Thrown: ${typeof error}`, { cause: error })
}
