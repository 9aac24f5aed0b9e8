/** The reply to one POST: plain JSON, unless something is said before the answer; then a stream of events. */

import { type Awaitable, isPromise, type Message, type ResponseMessage } from '@mcpx/protocol'
import { encodeComment } from '@mcpx/sse/encode'
import { answerText, eventsAnswer, jsonAnswer, messageText, silentAnswer } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import type { Speaker } from './exchange.ts'
import type { Host, Inbound } from './host.ts'
import type { HttpAnswer } from './http-answer.ts'
import { lackedScopes, scopeAnswer } from './scope-refusal.ts'

/** Messages on their way to one client. */
export interface MessageStream {
  readonly body: EventStream
  /** Resolves when there is room for more. */
  send(text: string): Awaitable<void>
  /** Ends the stream after what was sent. */
  end(): void
  /** Ends the response, but not the stream: the client comes back for the rest. Absent where it could not. */
  closeStream?: (() => void) | undefined
}

/** How an era replies. `For` is what its replies belong to. */
export interface Manner<For> {
  openStream(reply: LazyReply<For>): MessageStream
  /** All of the text of a stream that begins and ends with these messages: it need not be opened. */
  wholeStream(owner: For, messages: readonly string[]): Awaitable<string>
  statusOf(answer: ResponseMessage): number
  /** Whether a client can come back for the rest of a stream. Absent where it never can. */
  mayLetGo?(owner: For): boolean
}

const comment = encodeComment()

/** One answer, the answers to an array of requests, or nothing when it is no longer wanted. */
export type Answer = ResponseMessage | readonly ResponseMessage[] | undefined

export class LazyReply<For> implements Speaker {
  readonly host: Host
  readonly inbound: Inbound
  readonly owner: For
  readonly #manner: Manner<For>
  #stream: MessageStream | undefined
  #response: HttpAnswer | undefined
  #resolve: ((response: Awaitable<HttpAnswer>) => void) | undefined
  #ended = false

  constructor(host: Host, inbound: Inbound, manner: Manner<For>, owner: For) {
    this.host = host
    this.inbound = inbound
    this.owner = owner
    this.#manner = manner
  }

  /** Whether anything can be said before the answer. */
  get canSay(): boolean {
    return !this.#ended && this.inbound.takesEvents
  }

  get isOpen(): boolean {
    return this.#stream !== undefined
  }

  /** Without a message, the stream is opened for what comes, and begins. */
  say(message: Message | undefined): Awaitable<void> {
    if (!this.canSay) return undefined
    const text = message && messageText(message, this.host.report)
    if (text !== undefined) return this.#open().send(text)
    // A runtime sends the head of a response with the first of its body.
    if (message === undefined) void this.#open().body.send(comment)
    return undefined
  }

  /** Ends the response while the work goes on, where the client can come back for the rest. */
  closeStream(): void {
    if (this.canSay && this.#manner.mayLetGo?.(this.owner)) this.#open().closeStream?.()
  }

  /** The response: at once when the answer is there and nothing was said. */
  answer(answer: Awaitable<Answer>): Awaitable<HttpAnswer> {
    if (!isPromise(answer)) return this.#finish(answer)
    const response = this.#response
    if (response !== undefined) {
      void answer.then((settled) => this.#settle(settled, ignore))
      return response
    }
    return new Promise<HttpAnswer>((resolve, reject) => {
      this.#resolve = resolve
      answer.then((settled) => this.#settle(settled, reject), reject)
    })
  }

  /** Nobody hears of what is thrown here but the caller, and only while the response has not begun. */
  #settle(answer: Answer, reject: (problem: unknown) => void): void {
    try {
      const response = this.#finish(answer)
      this.#resolve?.(response)
    } catch (problem) {
      reject(problem)
    }
  }

  #open(): MessageStream {
    if (this.#stream !== undefined) return this.#stream
    const stream = this.#manner.openStream(this)
    this.#stream = stream
    // Made once: from now on the body belongs to whoever reads it.
    this.#response = eventsAnswer(stream.body)
    this.#resolve?.(this.#response)
    this.#resolve = undefined
    return stream
  }

  #finish(answer: Answer): Awaitable<HttpAnswer> {
    const isForced = this.host.options.responses === 'events' && this.canSay && isResult(answer)
    const stream = this.#stream
    this.#ended = true
    if (stream === undefined) return isForced ? this.#asEvents(answer) : this.#asJson(answer)
    for (const each of toArray(answer)) void stream.send(answerText(each, this.host.report))
    stream.end()
    return this.#response as HttpAnswer
  }

  #asEvents(answer: Answer): Awaitable<HttpAnswer> {
    const texts = toArray(answer).map((each) => answerText(each, this.host.report))
    const whole = this.#manner.wholeStream(this.owner, texts)
    return isPromise(whole) ? whole.then((text) => eventsAnswer(text)) : eventsAnswer(whole)
  }

  #asJson(answer: Answer): HttpAnswer {
    const { inbound, host } = this
    const { report } = host
    if (answer === undefined) return silentAnswer()
    if (isOne(answer)) {
      const text = answerText(answer, report)
      const lacked = lackedScopes(answer)
      if (lacked !== undefined) return scopeAnswer(text, lacked, inbound, host)
      return jsonAnswer(text, this.#manner.statusOf(answer))
    }
    return jsonAnswer(`[${answer.map((each) => answerText(each, report)).join(',')}]`)
  }
}

function ignore(): void {}

/** Errors keep their status, which a stream could not have. */
function isResult(answer: Answer): boolean {
  return answer !== undefined && (!isOne(answer) || 'result' in answer)
}

function isOne(answer: ResponseMessage | readonly ResponseMessage[]): answer is ResponseMessage {
  return !Array.isArray(answer)
}

function toArray(answer: Answer): readonly ResponseMessage[] {
  if (answer === undefined) return []
  return isOne(answer) ? [answer] : answer
}
