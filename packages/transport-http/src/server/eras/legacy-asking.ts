/** Requests to the client of a session: they leave on the stream of the request they belong to, and come back as POSTs. */

import {
  type Awaitable,
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

/** The stream that asks, and can no more when it has ended. */
export interface AskingStream {
  readonly canSay: boolean
  say(message: Message): Awaitable<void>
}

export class Asks {
  readonly #streams = new Map<RequestId, AskingStream>()
  readonly #pending = createPendingRequests({ onGivenUp: (id, reason) => this.#giveUp(id, reason) })
  /** Other processes may ask the same client: ids must differ. */
  readonly #prefix = crypto.randomUUID().slice(0, 8)
  #count = 0

  get size(): number {
    return this.#pending.size
  }

  async ask(stream: AskingStream | undefined, method: string, params: object | undefined, options: RequestOptions) {
    if (stream === undefined || !stream.canSay) throw unreachable(method)
    if (options.signal?.aborted) throw cancelledError(method, options.signal)
    this.#count += 1
    const id = `${this.#prefix}-${this.#count}`
    const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
    this.#streams.set(id, stream)
    try {
      const answer = this.#pending.add(id, method, options)
      void stream.say({ jsonrpc: '2.0', id, method, params: sent })
      return await answer
    } finally {
      this.#streams.delete(id)
    }
  }

  /** Whether this process has asked what is answered. */
  settle(answer: ResponseMessage): boolean {
    return this.#pending.settle(answer)
  }

  /** Whether this process has asked what the client is busy with. */
  hear(progress: NotificationMessage): boolean {
    const id = progress.params?.progressToken
    return isRequestId(id) && (this.#pending.hear(id, progress) || this.#pending.get(id) !== undefined)
  }

  /** No answers can come any more; those of one stream, or all. */
  drop(reason: Error, stream?: AskingStream): void {
    if (stream === undefined) this.#pending.failAll(reason)
    for (const [id, asking] of this.#streams) if (asking === stream) this.#pending.fail(id, reason)
  }

  #giveUp(requestId: RequestId, reason: string): void {
    const params = { requestId, reason }
    void this.#streams.get(requestId)?.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}

export function unreachable(method: string): ConnectionError {
  const hint = 'A client can be asked while one of its requests is being answered by a stream, and it has a session.'
  return new ConnectionError('unreachable', `The client cannot be asked ${method} here`, { hint })
}
