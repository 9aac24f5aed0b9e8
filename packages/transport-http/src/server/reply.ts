/** The reply to one POST: JSON, or an SSE stream if a message is sent before the response. */

import type { Message, ResponseMessage } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EndpointContext } from './endpoint-context.ts'
import type { EventStream } from './event-stream.ts'
import type { MessageSink } from './exchange.ts'
import type { HttpRequest } from './http-request.ts'
import {
  answerText,
  emptyEventsResponse,
  type HttpAnswer,
  jsonResponse,
  messageText,
  requiredScopesOf,
  scopeResponse,
} from './responses.ts'

/** A stream of messages to one client. */
export interface MessageStream {
  readonly body: EventStream
  /** Sends a message. Returns a promise if the sender has to wait before it sends more. */
  send(text: string): Promise<void> | undefined
  /** Ends the stream after all sent messages. Returns a promise if some of them are still being stored. */
  end(): Promise<void> | undefined
  /**
   * Ends the HTTP response but not the stream. The client reconnects to resume the stream. Undefined if it cannot
   * resume.
   */
  closeStream?(): void
}

/** Creates a stream of events without ids. A client that loses it cannot resume it. */
export function createPlainStream(body: EventStream): MessageStream {
  return {
    body,
    send: (text) => body.send(encodeEvent({ data: text })),
    end: () => void body.end(),
  }
}

/** The settings of a reply that differ between the eras. */
export interface ReplyPolicy {
  openStream(reply: Reply): MessageStream
  /** The HTTP statuses of JSON responses, by error code. Other codes have the status 200. */
  readonly statuses: Readonly<Record<number, number>>
  /** Whether a client reconnects to a stream that the server has closed early. */
  readonly canClose: boolean
}

/** One response, the responses to a batch, or undefined if the request was cancelled. */
export type Answer = ResponseMessage | ResponseMessage[] | undefined

/** The sent characters after which a sender waits for its turn. */
const TURN = 16 * 1024

export class Reply implements MessageSink {
  readonly #endpoint: EndpointContext
  readonly #request: HttpRequest
  readonly #policy: ReplyPolicy
  #stream: MessageStream | undefined
  #resolve: ((response: HttpAnswer) => void) | undefined
  #hasEnded = false
  /** The characters since the last turn. */
  #sent = 0

  constructor(endpoint: EndpointContext, request: HttpRequest, policy: ReplyPolicy) {
    this.#endpoint = endpoint
    this.#request = request
    this.#policy = policy
  }

  /** Whether a message can be sent before the response. */
  get canSend(): boolean {
    return !this.#hasEnded && this.#request.acceptsEvents
  }

  get hasStream(): boolean {
    return this.#stream !== undefined
  }

  /**
   * Sends a message on the stream, and opens the stream if necessary. Without a message, only opens the stream. Returns
   * a promise if the sender has to wait before it sends more.
   */
  send(message: Message | undefined): Promise<void> | undefined {
    if (!this.canSend) return undefined
    const text = message && messageText(message, this.#endpoint)
    if (text !== undefined) {
      const stream = this.#open()
      return this.#waitForTurn(stream, text.length, stream.send(text))
    }
    // Send a comment, because some runtimes send the headers only with the first bytes of the body.
    if (message === undefined) this.#open().body.sendComment()
    return undefined
  }

  /**
   * Waits after a certain amount of text. Without this, a handler whose client has disconnected, or reads as fast as
   * the handler sends, would never wait.
   */
  #waitForTurn({ body }: MessageStream, sent: number, room: Promise<void> | undefined): Promise<void> | undefined {
    this.#sent += sent
    if (this.#sent < TURN) return room
    const length = this.#sent
    this.#sent = 0
    const turn = () => body.takeTurn(length)
    return room === undefined ? turn() : room.then(turn)
  }

  closeStream(): void {
    if (this.canSend && this.#policy.canClose) this.#open().closeStream?.()
  }

  /** Resolves to the HTTP response when the work has finished, or earlier if a stream is opened. */
  respondWith(work: Promise<Answer>): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      if (this.#stream !== undefined) resolve(this.#stream.body.toResponse())
      this.#finish(work).then(
        (response) => response && resolve(response),
        (problem) => (this.#stream === undefined ? reject(problem) : this.#endpoint.report(problem)),
      )
    })
  }

  /** Returns the HTTP response, or undefined if the result was sent on a stream that is already open. */
  async #finish(work: Promise<Answer>): Promise<HttpAnswer | undefined> {
    const answer = await work
    // Errors are sent as JSON, because a stream cannot have an error status.
    const isResult = answer !== undefined && (Array.isArray(answer) || 'result' in answer)
    const isForced = this.#endpoint.options.responses === 'events' && this.canSend && isResult
    const begun = isForced && Array.isArray(answer) ? this.#open() : this.#stream
    const stream = begun ?? (isForced ? this.#policy.openStream(this) : undefined)
    this.#hasEnded = true
    if (stream === undefined) return this.#toJson(answer)
    for (const each of [answer ?? []].flat()) {
      const sent = stream.send(answerText(each, this.#endpoint))
      // The responses to a batch may together exceed the limit of the stream, so each waits for the client.
      if (Array.isArray(answer)) await sent
    }
    await stream.end()
    return begun === undefined ? stream.body.toResponse() : undefined
  }

  #open(): MessageStream {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = this.#policy.openStream(this)
    this.#resolve?.(this.#stream.body.toResponse())
    return this.#stream
  }

  #toJson(answer: Answer): HttpAnswer {
    const { options } = this.#endpoint
    if (answer === undefined) return emptyEventsResponse()
    if (Array.isArray(answer))
      return jsonResponse(`[${answer.map((each) => answerText(each, this.#endpoint)).join(',')}]`)
    const text = answerText(answer, this.#endpoint)
    if ('result' in answer) return jsonResponse(text)
    const scopes = requiredScopesOf(answer.error)
    if (scopes !== undefined) return scopeResponse(text, scopes, this.#request, options)
    return jsonResponse(text, this.#policy.statuses[answer.error.code])
  }
}
