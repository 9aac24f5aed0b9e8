/** The responses that have not reached their clients yet, by connection. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * One list for each connection instead of one `Set` for all: V8 replaces the table of a set that is changed all the time, and
 * a replaced table keeps its responses alive until the next full collection. It cost 9 µs of a call of 25.
 */
export class OpenResponses {
  readonly #bySocket = new Map<Socket, ServerResponse[]>()

  /** Whether every response has reached its client. */
  get isEmpty(): boolean {
    for (const responses of this.#bySocket.values()) if (responses.length > 0) return false
    return true
  }

  /** The responses of one connection, the oldest first. */
  of(socket: Socket): readonly ServerResponse[] {
    return this.#bySocket.get(socket) ?? []
  }

  add(socket: Socket, response: ServerResponse): void {
    const responses = this.#bySocket.get(socket) ?? this.#follow(socket)
    responses.push(response)
    response.once('close', () => responses.splice(responses.indexOf(response), 1))
  }

  /** Before Node 24, a response that waits behind others of its connection does not close with it. */
  #follow(socket: Socket): ServerResponse[] {
    const responses: ServerResponse[] = []
    this.#bySocket.set(socket, responses)
    socket.once('close', () => {
      this.#bySocket.delete(socket)
      for (const waiting of [...responses]) if (!waiting.destroyed) waiting.destroy().emit('close')
    })
    return responses
  }
}
