/** Requests on their way: each is carried by the wire of its era, and has its bounds in time. */

import {
  ConnectionError,
  cancelledError,
  createPendingRequests,
  type JsonObject,
  type NotificationMessage,
  type PendingRequests,
  type RequestId,
  type RequestMessage,
  type RequestOptions,
  type ResponseMessage,
  withProgressToken,
} from '@mcpx/protocol'
import type { Wire } from './eras/wire.ts'
import { lostWith } from './refusals.ts'

export interface Asking {
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
  nextId(): RequestId
  hear(id: RequestId, notification: NotificationMessage): boolean
  settle(response: ResponseMessage): void
  /** Stops the clock of one request, or of all that wait, until the returned function is called. */
  hold(id: RequestId | undefined): () => void
  /** The same for the request that is sent with this signal, if there is one. */
  holdSentWith(signal: AbortSignal): () => void
  /** Fires when a request that is on its way was given up; nothing when it is not on its way. */
  endOf(id: RequestId): AbortSignal | undefined
  /** How a request that waits was made. */
  optionsOf(id: RequestId): RequestOptions | undefined
  /**
   * Rejects all that is asked from now on, and what waits.
   * @param grace how long what waits may still be answered, in ms
   */
  stop(error: ConnectionError, grace?: number): void
}

/** How many requests may wait at once. */
const MOST_WAITING = 10_000

interface Call {
  readonly wire: Wire
  readonly stop: AbortController
}

export function createAsking(wireOf: (message: RequestMessage) => Wire, report: (problem: Error) => void): Asking {
  const calls = new Map<RequestId, Call>()
  const pending = createPendingRequests({
    report,
    onGivenUp: (id, reason) => calls.get(id)?.wire.givenUp?.(id, reason),
  })
  let lastId = 0
  let stopped: ConnectionError | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function carry(message: RequestMessage): Promise<void> {
    const { id } = message
    const call = { wire: wireOf(message), stop: new AbortController() }
    calls.set(id, call)
    try {
      const response = await call.wire.ask(message, call.stop.signal)
      calls.delete(id)
      pending.settle(response)
    } catch (error) {
      calls.delete(id)
      pending.fail(id, error as Error)
    }
    if (calls.size === 0) clearTimeout(timer)
  }

  function refusalOf(method: string, signal: AbortSignal | undefined): ConnectionError | undefined {
    if (stopped !== undefined) return stopped
    if (signal?.aborted === true) return cancelledError(method, signal)
    return pending.size < MOST_WAITING ? undefined : tooMany(method)
  }

  return {
    request(method, params, options = {}) {
      const refusal = refusalOf(method, options.signal)
      if (refusal !== undefined) return Promise.reject(refusal)
      const id = ++lastId
      const result = pending.add(id, method, options)
      if (pending.get(id) === undefined) return result
      const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
      void carry(sent === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params: sent })
      // However it ended, nothing more of it is wanted.
      const stop = () => calls.get(id)?.stop.abort()
      result.then(stop, stop)
      return result
    },
    nextId: () => ++lastId,
    hear: (id, notification) => pending.hear(id, notification),
    hold: (id) => pending.hold(id),
    holdSentWith(signal) {
      const sent = [...calls].find(([, { stop }]) => stop.signal === signal)
      return sent === undefined ? () => {} : pending.hold(sent[0])
    },
    endOf: (id) => calls.get(id)?.stop.signal,
    optionsOf: (id) => pending.get(id)?.options,
    settle(response) {
      if (!pending.settle(response)) report(unmatched(response))
    },
    stop(error, grace = 0) {
      stopped ??= error
      clearTimeout(timer)
      const fail = () => failAll(pending, [...calls.keys()], error)
      if (grace === 0 || calls.size === 0) fail()
      else timer = setTimeout(fail, grace)
    },
  }
}

/** Who ends a connection knows what they lose; who loses it is told of each request whether it can be repeated. */
function failAll(pending: PendingRequests, ids: readonly RequestId[], error: ConnectionError): void {
  for (const id of ids) {
    const method = pending.get(id)?.method
    if (error.retryable && method !== undefined) pending.fail(id, lostWith(error, method))
  }
  pending.failAll(error)
}

function tooMany(method: string): ConnectionError {
  const message = `${method} was not sent: ${MOST_WAITING} requests wait already`
  return new ConnectionError('limit', message, { retryable: true, hint: 'Await some of the answers before asking on.' })
}

function unmatched(response: ResponseMessage): ConnectionError {
  const what = 'error' in response ? 'An error' : 'An answer'
  return new ConnectionError('unmatched', `${what} was ignored: no request with its id is waiting`)
}
