/** Writes one SSE stream, with back-pressure, a limit for unread bytes, keep-alive comments, and expiry of credentials. */

import { ConnectionError, LONGEST_TIMER } from '@mcpx/protocol'
import { encodeComment } from '@mcpx/sse/encode'
import type { EndpointContext } from './endpoint-context.ts'
import type { HttpRequest } from './http-request.ts'
import { eventsResponse, type HttpAnswer } from './responses.ts'
import { countResponse, every, nextTurn, requestTurnOf } from './timers.ts'
import type { UnreadResponse } from './unread.ts'

/** The owner of a stream. Exactly one of `onGone` and `onEnd` is called, once. */
export interface StreamOwner {
  /** Called when the client has disconnected, or the stream was cut off. */
  onGone(reason: Error): void
  /** Called when the server has ended the stream. */
  onEnd?(): void
  /** Called when a keep-alive comment is due. */
  onKeepAlive?(): void
}

/** If more characters than this are waiting, senders have to wait. */
const ENOUGH = 16 * 1024
const comment = encodeComment()
const encoder = new TextEncoder()

/** One SSE stream. The object is the underlying source of the response body. */
export class EventStream implements UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>, UnreadResponse {
  readonly #endpoint: EndpointContext
  readonly #request: HttpRequest
  readonly #owner: StreamOwner
  #isCounted = false
  #keepAlive: ReturnType<typeof setInterval> | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
  /** Text that the runtime has not pulled yet. */
  #unsent = ''
  /** The characters of the text that do not count in the limit of the stream. */
  #exempt = 0
  /** Whether the runtime waits for text. */
  #isWanted = false
  #isFlushing = false
  #isOpen = true
  #failure: Error | undefined
  #room: Promise<void> | undefined
  #resolveRoom: (() => void) | undefined
  #unfollow: (() => void) | undefined

  constructor(endpoint: EndpointContext, request: HttpRequest, owner: StreamOwner) {
    this.#endpoint = endpoint
    this.#request = request
    this.#owner = owner
    request.admission.hold()
    endpoint.openStreams += 1
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves when more text can be sent. Undefined if it can be sent now. */
  get room(): Promise<void> | undefined {
    return this.#room
  }

  /** Starts the response with this stream as its body. The body is a string if the stream has already ended. */
  toResponse(): HttpAnswer {
    if (!this.#isOpen && this.#failure === undefined) return eventsResponse(this.#unsent)
    if (this.#isOpen) {
      this.#keepAlive = every(this.#endpoint.keepAlive, () => this.#sendKeepAlive())
      this.#watchExpiry()
      // Close in a microtask, because the owner has no reference to the stream yet if the client has already
      // disconnected.
      this.#unfollow = this.#request.onGone((reason) => queueMicrotask(() => this.#close(reason)))
    }
    return eventsResponse(new ReadableStream(this, { highWaterMark: 0 }))
  }

  start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#controller = controller
    if (this.#failure !== undefined) controller.error(this.#failure)
  }

  pull(): void {
    this.#isWanted = true
    if (this.#isOpen && this.#unsent.length < ENOUGH) void this.#flushSoon()
    else this.#flush()
  }

  cancel(): void {
    this.#controller = undefined
    this.#close(new ConnectionError('closed', 'The client closed the stream'))
  }

  /** Sends text. Has no effect after the end. Returns a promise if the sender has to wait before it sends more. */
  send(text: string): Promise<void> | undefined {
    if (!this.#isOpen) return undefined
    // The limit applies to text that is already waiting, so a single message may have any size.
    if (this.#unsent.length - this.#exempt > this.#endpoint.limits.unsent) return this.#cutOwn()
    this.#unsent += text
    if (this.#isWanted) void this.#flushSoon()
    if (this.#unsent.length < ENOUGH) return undefined
    if (!this.#isCounted) this.#endpoint.unread.add(this, this.#unsent.length)
    this.#isCounted = true
    this.#room ??= new Promise((resolve) => {
      this.#resolveRoom = resolve
    })
    return this.#room
  }

  /**
   * Sends a text of any size after the client has read the earlier texts, because all texts together may exceed the
   * limit of a stream. Until then, the text counts as an unread response. It does not count in the limit of the stream.
   */
  async sendInTurn(text: string): Promise<void> {
    if (this.#room !== undefined) {
      const waiting = { caller: this.caller, unread: text.length, cut: (problem: ConnectionError) => this.cut(problem) }
      this.#endpoint.unread.add(waiting, text.length)
      while (this.#room !== undefined) await this.#room
      waiting.unread = 0
    }
    this.sendExempt(text)
  }

  /** Sends a text that does not count in the limit of the stream. */
  sendExempt(text: string): void {
    this.#exempt += text.length
    void this.send(text)
  }

  /** Resolves when a sender of long texts may continue. Senders take turns with the requests of all callers. */
  takeTurn(length: number): Promise<void> {
    countResponse(length)
    if (this.#request.outgoing === undefined) return new Promise((resolve) => setTimeout(resolve))
    return requestTurnOf(this.caller)
  }

  end(): void {
    if (!this.#isOpen) return
    this.#release()
    this.#flush()
    this.#owner.onEnd?.()
  }

  /** Sends a comment, so that the response starts before the first message. */
  sendComment(): void {
    void this.send(comment)
  }

  /**
   * Joins all text of one turn of the event loop into one chunk, because a chunk costs as much as all other work for an
   * event.
   */
  async #flushSoon(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    if (this.#request.outgoing !== undefined) await nextTurn()
    this.#isFlushing = false
    this.#flush()
  }

  #flush(): void {
    if (this.#unsent !== '' && this.#isWanted) {
      this.#isWanted = false
      const chunk = encoder.encode(this.#unsent)
      this.#unsent = ''
      this.#exempt = 0
      this.#controller?.enqueue(chunk)
      this.#makeRoom()
    }
    if (this.#unsent !== '' || this.#isOpen || this.#failure !== undefined) return
    this.#controller?.close()
    this.#controller = undefined
  }

  #makeRoom(): void {
    this.#resolveRoom?.()
    this.#resolveRoom = undefined
    this.#room = undefined
  }

  /** The caller that the stream counts for. */
  get caller(): string | undefined {
    return this.#request.admission.caller
  }

  /** The bytes that wait for the client. */
  get unread(): number {
    const { outgoing } = this.#request
    const isGone = this.#failure !== undefined || outgoing?.destroyed === true
    const unread = isGone ? 0 : this.#unsent.length + (outgoing?.writableLength ?? 0)
    this.#isCounted = unread > 0
    return unread
  }

  #cutOwn(): undefined {
    const { limits, report } = this.#endpoint
    const text = `The client left ${limits.unsent} bytes unread: its stream was cut (limits.unsent)`
    const error = new ConnectionError('limit', text)
    report(error)
    this.cut(error)
  }

  /** Ends the stream, because its client does not read. */
  cut(error: ConnectionError): void {
    this.#close(error)
    // On Node, skip this, because `@hono/node-server` would log the error.
    const { outgoing } = this.#request
    if (outgoing === undefined) this.#controller?.error(error)
    else outgoing.destroy()
  }

  #sendKeepAlive(): void {
    // A client that does not read needs no comment.
    if (this.#room === undefined) this.sendComment()
    this.#owner.onKeepAlive?.()
  }

  /** Ends the stream when the credentials of the client expire. */
  #watchExpiry(): void {
    const expiresAt = this.#request.auth?.expiresAt
    if (expiresAt === undefined || !this.#isOpen) return
    const left = Math.max(expiresAt * 1000 - Date.now(), 0)
    const expire = () => (left > LONGEST_TIMER ? this.#watchExpiry() : this.#expire())
    this.#expiry = setTimeout(expire, Math.min(left, LONGEST_TIMER))
  }

  #expire(): void {
    if (!this.#isOpen) return
    this.#release()
    this.#flush()
    this.#owner.onGone(new ConnectionError('closed', 'The credentials of the client have expired'))
  }

  /** Closes the stream after the client has disconnected or the stream was cut. */
  #close(reason: Error): void {
    if (!this.#isOpen) return
    this.#failure = reason
    this.#unsent = ''
    this.#release()
    this.#owner.onGone(reason)
  }

  #release(): void {
    this.#isOpen = false
    this.#endpoint.openStreams -= 1
    clearInterval(this.#keepAlive)
    clearTimeout(this.#expiry)
    this.#unfollow?.()
    this.#request.admission.release()
    this.#makeRoom()
  }
}
