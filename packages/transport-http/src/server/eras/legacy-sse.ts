/**
 * The HTTP transport of the first revision: a GET opens one stream for everything that the server says, and names the
 * URL that the client posts to. Such a connection is a channel like any other.
 */

import {
  type Awaitable,
  type Channel,
  ConnectionError,
  createDuplex,
  type Decoded,
  type Duplex,
  encode,
  internalError,
  invalidRequest,
  principalOf,
  type RequestId,
} from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse'
import { EVENTS_TYPE } from '../../headers.ts'
import { accepted, eventsAnswer, notAllowed, refusal } from '../answers.ts'
import { EventStream } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'

const SESSION_PARAMETER = 'sessionId'

interface Connection {
  readonly duplex: Duplex
  readonly principal: string | undefined
  /** Hands over what the client has posted. */
  readonly push: (arrived: Decoded) => Awaitable<void>
}

export class SseConnections {
  readonly #host: Host
  readonly #path: string
  readonly #open = new Map<string, Connection>()

  constructor(host: Host, path: string) {
    this.#host = host
    this.#path = path
  }

  handles({ request }: Inbound): boolean {
    return pathOf(request.target).endsWith(this.#path)
  }

  async post(arrived: Decoded, { request, auth }: Inbound): Promise<HttpAnswer> {
    const id = new URLSearchParams(request.target.split('?', 2)[1]).get(SESSION_PARAMETER)
    if (id === null) {
      return refusal(
        400,
        invalidRequest(`${SESSION_PARAMETER} is missing: open the stream first, and post to the URL it names`),
      )
    }
    const connection = this.#open.get(id)
    if (connection === undefined || connection.principal !== principalOf(auth)) {
      return refusal(404, invalidRequest('There is no such connection, or no longer: open a new stream'))
    }
    const most = this.#host.limits.sessionRequests
    const isRequest = !Array.isArray(arrived) && 'method' in arrived && 'id' in arrived
    if (isRequest && connection.duplex.load.running >= most) return tooManyRequests(most, arrived.id)
    await connection.push(arrived)
    return accepted()
  }

  other(inbound: Inbound): HttpAnswer {
    if (inbound.request.method !== 'GET') return notAllowed('GET, POST')
    if (!inbound.takesEvents) return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
    const most = this.#host.limits.running
    if (this.#open.size >= most)
      return refusal(503, internalError(`Too many connections: at most ${most} (limits.running)`))
    return this.#connect(inbound)
  }

  close(reason: Error): void {
    const error = reason instanceof ConnectionError ? reason : new ConnectionError('closed', reason.message)
    for (const { duplex } of [...this.#open.values()]) void duplex.close(error)
  }

  #connect({ request, auth }: Inbound): HttpAnswer {
    const { responder, keepAlive, limits, report } = this.#host
    const id = crypto.randomUUID()
    const stream = new EventStream({
      keepAlive,
      maxUnsent: limits.unsent,
      report,
      expiresAt: auth?.expiresAt,
      onGone: (reason) => void duplex.close(new ConnectionError('closed', reason.message, { cause: reason })),
    })
    void stream.send(encodeEvent({ event: 'endpoint', data: `${pathOf(request.target)}?${SESSION_PARAMETER}=${id}` }))
    const { channel, push } = createChannel(stream)
    const duplex = createDuplex(channel, {
      responder,
      auth,
      requestInfo: request.web,
      sessionId: id,
      limits: { running: limits.sessionRequests },
      report,
    })
    this.#open.set(id, { duplex, principal: principalOf(auth), push })
    void duplex.closed.then(() => this.#open.delete(id))
    return eventsAnswer(stream)
  }
}

function tooManyRequests(most: number, id: RequestId): HttpAnswer {
  const text = `Too many requests of one session at once: at most ${most} (limits.sessionRequests)`
  return refusal(429, invalidRequest(text), id)
}

/** What is sent goes to the stream; what was posted is what arrives. */
function createChannel(stream: EventStream): { channel: Channel; push: Connection['push'] } {
  let receiver: ((item: Decoded) => Awaitable<void>) | undefined
  let end = (): void => {}
  const channel: Channel = {
    send(message) {
      if (!stream.isOpen) throw new ConnectionError('closed', 'The stream has ended')
      const text = Array.isArray(message) ? `[${message.map(encode).join(',')}]` : encode(message)
      return stream.send(encodeEvent({ event: 'message', data: text }))
    },
    receive(hand) {
      receiver = hand
      return new Promise((resolve) => {
        end = resolve
      })
    },
    async close() {
      stream.end()
      end()
    },
  }
  return { channel, push: (arrived) => receiver?.(arrived) }
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] as string
}
