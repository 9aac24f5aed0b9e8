/** Sends requests and finds, for what comes back, the one who waits for it. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { JsonObject, Message, NotificationMessage, RequestId, ResponseMessage } from '../jsonrpc/message.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { isPromise } from '../ports/awaitable.ts'
import type { RequestOptions } from '../ports/requester.ts'
import type { Outbox } from './outbox.ts'
import { cancelledError, createPendingRequests } from './pending-requests.ts'
import { withProgressToken } from './progress.ts'

export interface Asking {
  readonly size: number
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
  /** Gives an answer to the request it is for; one that nobody waits for is reported. */
  settle(response: ResponseMessage): void
  /** An answer that was not let in ends the request it was for. False when there is none. */
  refuse(refusal: Refusal): boolean
  /** Gives a notification to the request with this id. False when that one does not listen. */
  hear(id: RequestId, notification: NotificationMessage): boolean
  /** What was asked under this id; nothing when it does not wait. */
  methodOf(id: RequestId): string | undefined
  /** Stops the clocks of all that wait, until the returned function is called. */
  hold(): () => void
  /** Rejects what waits, and all that is asked from now on. */
  stop(error: ConnectionError): void
}

/** @param limit how many requests may wait at once. */
export function createAsking(outbox: Outbox, limit: number, report: (error: Error) => void): Asking {
  let lastId = 0
  let stopped: ConnectionError | undefined
  const pending = createPendingRequests({
    report,
    onGivenUp: (requestId, reason) =>
      void outbox.tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }),
  })

  function refusalOf(method: string, signal: AbortSignal | undefined): ConnectionError | undefined {
    if (stopped !== undefined) return stopped
    if (signal?.aborted === true) return cancelledError(method, signal)
    if (pending.size < limit && outbox.unsentRequests < limit) return undefined
    const hint = 'Await some of the answers before asking on.'
    return new ConnectionError('limit', `${method} was not sent: ${limit} requests wait already (limits.pending)`, {
      retryable: true,
      hint,
    })
  }

  function send(id: RequestId, message: Message): void {
    try {
      const sending = outbox.send(message)
      if (isPromise(sending)) sending.then(undefined, (error) => pending.fail(id, error))
    } catch (error) {
      pending.fail(id, error as Error)
    }
  }

  return {
    get size() {
      return pending.size
    },
    request(method, params, options = {}) {
      const refusal = refusalOf(method, options.signal)
      if (refusal !== undefined) return Promise.reject(refusal)
      const id = ++lastId
      const answer = pending.add(id, method, options)
      if (pending.get(id) === undefined) return answer
      const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
      send(id, sent === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params: sent })
      return answer
    },
    settle(response) {
      if (!pending.settle(response)) report(unmatchedError(response, lastId))
    },
    refuse({ id, error }) {
      if (id === undefined || pending.get(id) === undefined) return false
      const hint = 'The peer does not speak JSON-RPC 2.0.'
      return pending.fail(
        id,
        new ConnectionError('invalid-message', `The answer was refused. ${error.message}`, { hint }),
      )
    },
    hear: (id, notification) => pending.hear(id, notification),
    methodOf: (id) => pending.get(id)?.method,
    hold: () => pending.hold(),
    stop(error) {
      stopped ??= error
      pending.failAll(stopped)
    },
  }
}

function unmatchedError(response: ResponseMessage, lastId: number): ConnectionError {
  const { id } = response
  const known = typeof id === 'number' && id > 0 && id <= lastId
  const why = known ? 'it was answered, cancelled or timed out before' : 'no such request was sent'
  const text =
    id === undefined && 'error' in response
      ? `The peer reports an error without an id: ${response.error.message.slice(0, 200)}`
      : `An answer was ignored, ${why} (id of type ${typeof id}${known ? ` ${id}` : ''})`
  return new ConnectionError('unmatched', text)
}
