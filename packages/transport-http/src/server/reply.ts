/** The reply to one POST: plain JSON, or an SSE stream as soon as a message is sent before the answer. */

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
  lackedScopes,
  messageText,
  scopeResponse,
} from './responses.ts'

/** Messages on their way to one client. */
export interface MessageStream {
  readonly body: EventStream
  /** The promise, if there is one, resolves when there is room for more. */
  send(text: string): Promise<void> | undefined
  /** Ends the stream after the messages that were sent. The promise, if there is one, resolves when they are with the stream. */
  end(): Promise<void> | undefined
  /** Ends the response, but not the stream: the client reconnects for the rest. Absent where it cannot. */
  closeStream?(): void
}

/** Sends messages as events without ids, so that a client that loses the stream cannot resume it. */
export function createPlainStream(body: EventStream): MessageStream {
  return {
    body,
    send: (text) => body.send(encodeEvent({ data: text })),
    end: () => void body.end(),
  }
}

/** The differences between the eras. */
export interface ReplyPolicy {
  openStream(reply: Reply): MessageStream
  /** The HTTP status of JSON answers with these error codes. All others have 200. */
  readonly statuses: Readonly<Record<number, number>>
  /** Whether a client can reconnect for the rest of its stream. */
  readonly canResume: boolean
}

/** One answer, the answers to a batch, or undefined when the request was cancelled. */
export type Answer = ResponseMessage | ResponseMessage[] | undefined

export class Reply implements MessageSink {
  readonly #endpoint: EndpointContext
  readonly #request: HttpRequest
  readonly #policy: ReplyPolicy
  #stream: MessageStream | undefined
  #resolve: ((response: HttpAnswer) => void) | undefined
  #hasEnded = false

  constructor(endpoint: EndpointContext, request: HttpRequest, policy: ReplyPolicy) {
    this.#endpoint = endpoint
    this.#request = request
    this.#policy = policy
  }

  /** Whether a message can be sent before the answer. */
  get canSend(): boolean {
    return !this.#hasEnded && this.#request.acceptsEvents
  }

  get hasStream(): boolean {
    return this.#stream !== undefined
  }

  send(message: Message | undefined): Promise<void> | undefined {
    if (!this.canSend) return undefined
    const text = message && messageText(message, this.#endpoint.report)
    if (text !== undefined) return this.#open().send(text)
    // Runtimes send the head of a response with the first bytes of its body.
    if (message === undefined) this.#open().body.sendComment()
    return undefined
  }

  closeStream(): void {
    if (this.canSend && this.#policy.canResume) this.#open().closeStream?.()
  }

  /** Resolves to the response: when the work is done, or as soon as a stream is opened. */
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

  /** Returns undefined when the answer was sent on the stream of a response that has begun. */
  async #finish(work: Promise<Answer>): Promise<HttpAnswer | undefined> {
    const answer = await work
    const begun = this.#stream
    // Errors stay JSON: a stream has no status.
    const isResult = answer !== undefined && (Array.isArray(answer) || 'result' in answer)
    const isForced = this.#endpoint.options.responses === 'events' && this.canSend && isResult
    const stream = begun ?? (isForced ? this.#policy.openStream(this) : undefined)
    this.#hasEnded = true
    if (stream === undefined) return this.#toJson(answer)
    for (const each of [answer ?? []].flat()) void stream.send(answerText(each, this.#endpoint.report))
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
    const { report, options } = this.#endpoint
    if (answer === undefined) return emptyEventsResponse()
    if (Array.isArray(answer)) return jsonResponse(`[${answer.map((each) => answerText(each, report)).join(',')}]`)
    const text = answerText(answer, report)
    if ('result' in answer) return jsonResponse(text)
    const scopes = lackedScopes(answer.error)
    if (scopes !== undefined) return scopeResponse(text, scopes, this.#request, options)
    return jsonResponse(text, this.#policy.statuses[answer.error.code])
  }
}
