/** Requests from the server to the client of a session: they leave on the stream of a request and are answered by POSTs. */

import {
  ConnectionError,
  cancelledError,
  createPendingRequests,
  isRequestId,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestOptions,
  type ResponseMessage,
  withProgressToken,
} from '@mcpx/protocol'

/** The stream that carries a request. It cannot once it has ended. */
export interface RequestStream {
  readonly canSend: boolean
  send(message: Message): Promise<void>
}

export class ClientRequests {
  readonly #streams = new Map<RequestId, RequestStream>()
  readonly #pending = createPendingRequests({ onGivenUp: (id, reason) => this.#cancel(id, reason) })
  /** Ids differ between the processes that serve one client. */
  readonly #prefix = crypto.randomUUID().slice(0, 8)
  #count = 0

  async request(
    stream: RequestStream | undefined,
    method: string,
    params: object | undefined,
    options: RequestOptions,
  ) {
    if (stream === undefined || !stream.canSend) throw unreachable(method)
    if (options.signal?.aborted) throw cancelledError(method, options.signal)
    this.#count += 1
    const id = `${this.#prefix}-${this.#count}`
    const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
    this.#streams.set(id, stream)
    try {
      const answer = this.#pending.add(id, method, options)
      void stream.send({ jsonrpc: '2.0', id, method, params: sent })
      return await answer
    } finally {
      this.#streams.delete(id)
    }
  }

  /** Returns whether this process has sent the request that is answered. */
  settle(answer: ResponseMessage): boolean {
    return this.#pending.settle(answer)
  }

  /** Returns whether this process has sent the request that makes progress. */
  handleProgress(progress: NotificationMessage): boolean {
    const id = progress.params?.progressToken
    return isRequestId(id) && (this.#pending.hear(id, progress) || this.#pending.get(id) !== undefined)
  }

  /** Rejects the requests of one stream, or all: no answers can come any more. */
  fail(reason: Error, stream?: RequestStream): void {
    if (stream === undefined) this.#pending.failAll(reason)
    for (const [id, carrying] of this.#streams) if (carrying === stream) this.#pending.fail(id, reason)
  }

  #cancel(requestId: RequestId, reason: string): void {
    const params = { requestId, reason }
    void this.#streams.get(requestId)?.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}

export function unreachable(method: string): ConnectionError {
  const hint = 'A client can be asked while one of its requests is being answered by a stream, and it has a session.'
  return new ConnectionError('unreachable', `The client cannot be asked ${method} here`, { hint })
}
