/** The stream of a GET: messages that belong to no request, for one session. They are stored while its client is disconnected. */

import { ConnectionError, type NotificationMessage } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { HttpRequest } from '../http-request.ts'
import { messageText } from '../responses.ts'
import { LONGEST_TIMER, unref } from '../timers.ts'
import { HttpSession, type LiveSession } from './session.ts'
import type { StoredStream } from './stored-stream.ts'
import type { SessionStreams } from './streams.ts'

/** The time that a disconnected client is waited for, in times `retry`, and at least, in ms. */
const WAIT_FACTOR = 30
const LEAST_WAIT = 250
/** The number of disconnected clients that are waited for. The event store in memory has as many streams. */
const MOST_WAITING = 1_000
/** The number of messages that are stored. Event stores keep the newest: more would drop the position of the client. */
const MOST_STORED = 900

/** The stream of a GET: list changes, resource updates and logs of one session. The session is held until it ends. */
export class ServerStream implements StreamOwner {
  readonly body: EventStream
  /** Absent where no events are stored. */
  readonly stored: StoredStream | undefined
  readonly #streams: SessionStreams
  readonly #live: LiveSession
  /** The messages since the client disconnected. Absent when it has all of them. */
  #pending: PendingChanges | undefined
  #stopWatching: (() => void) | undefined
  #hasLeft = false
  /** Runs while the client is expected back. */
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(streams: SessionStreams, live: LiveSession, request: HttpRequest, stored: StoredStream | undefined) {
    this.#streams = streams
    this.#live = live
    this.stored = stored
    live.readers += 1
    streams.sessions.hold(live)
    this.body = new EventStream(streams.endpoint, request, this)
  }

  /** Whether the client is gone and expected back. */
  get isWaiting(): boolean {
    return !this.body.isOpen
  }

  /** Hands the pending messages over to the next stream of the same session. */
  takePending(): PendingChanges | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  /** @param last the last event that the client has seen */
  begin(last: string | undefined, pending: PendingChanges | undefined): void {
    const { endpoint, sessions } = this.#streams
    this.body.sendComment()
    void this.#sendMissed(last, pending)
    try {
      const session = new HttpSession(this.#live, sessions.update)
      const stop = endpoint.responder.watchChanges?.(session, (change) => this.#send(change))
      if (this.#hasLeft) stop?.()
      else this.#stopWatching = stop
    } catch (problem) {
      endpoint.report(problem as Error)
      this.end()
    }
  }

  end(): void {
    this.#leave()
    this.body.end()
  }

  onGone(): void {
    this.#wait()
  }

  /** Called when the store fails too: the client reconnects. */
  onEnd(): void {
    this.#wait()
  }

  onKeepAlive(): void {
    void this.#streams.sessions.refresh(this.#live)
    void this.stored?.refresh()
  }

  /** Sends what the client has missed: from the store, and what the store does not have. */
  async #sendMissed(last: string | undefined, pending: PendingChanges | undefined): Promise<void> {
    const { stored } = this
    if (stored !== undefined && last !== undefined) {
      this.#pending = pending
      await stored.resume(last, this.body)
      if (!this.body.isOpen) return
      this.#pending = undefined
      for (const text of pending?.notStored ?? []) void this.#sendText(text)
      return
    }
    stored?.open(this.body)
    for (const text of pending?.all ?? []) void this.#sendText(text)
  }

  async #send(change: NotificationMessage): Promise<void> {
    const text = messageText(change, this.#streams.endpoint.report)
    if (text === undefined) return
    if (this.isWaiting && this.stored !== undefined) this.#pending?.add(change, text, this.stored)
    else await this.#sendText(text)
  }

  async #sendText(text: string): Promise<void> {
    if (this.stored !== undefined) await this.stored.send(text)
    else await this.body.send(encodeEvent({ data: text }))
  }

  /** Stores messages until the client reconnects. */
  #wait(): void {
    if (this.#hasLeft) return
    const { waiting, endpoint, sessions, retry } = this.#streams
    // With other processes, the client may be back at one of them unnoticed, and be sent everything twice.
    if (this.stored === undefined || sessions.areShared || endpoint.closedReason !== undefined) {
      this.#leave()
      return
    }
    this.stored.detach(this.body)
    this.#pending ??= new PendingChanges(endpoint, this.stored)
    this.#live.readers -= 1
    waiting.add(this)
    const [longest] = waiting
    if (waiting.size > MOST_WAITING) longest?.end()
    const time = Math.min(Math.max(WAIT_FACTOR * retry, LEAST_WAIT), LONGEST_TIMER)
    this.#timer = unref(setTimeout(() => this.#leave(), time))
  }

  /** Stops watching. The messages so far are in the store. */
  #leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    clearTimeout(this.#timer)
    if (this.#streams.waiting.delete(this)) this.#live.readers += 1
    try {
      this.#stopWatching?.()
    } catch (problem) {
      this.#streams.endpoint.report(problem as Error)
    }
    this.stored?.stopRefreshing()
    void this.#forget()
  }

  /** A client that reconnects before the last messages are stored continues with this stream. */
  async #forget(): Promise<void> {
    await this.stored?.stored
    const { sessions } = this.#streams
    if (this.#live.serverStream === this) this.#live.serverStream = undefined
    this.#live.readers -= 1
    sessions.release(this.#live)
  }
}

/** The messages since the client disconnected. They are stored; this keeps those that the store may not have. */
class PendingChanges {
  /** The last event before the client disconnected. */
  readonly lastEventId: string | undefined
  readonly #endpoint: EndpointContext
  /** Changes by their subject: a change that is pending is not stored again, however often it happens. */
  readonly #changes = new Map<string, string>()
  /** Messages that the store has not accepted. */
  readonly notStored: string[] = []
  #count = 0
  #characters = 0
  #isReported = false

  constructor(endpoint: EndpointContext, { lastEventId }: StoredStream) {
    this.#endpoint = endpoint
    this.lastEventId = lastEventId
  }

  /** The changes, and other messages that are not stored: for a client whose position the store has forgotten. */
  get all(): readonly string[] {
    return [...new Set([...this.#changes.values(), ...this.notStored])]
  }

  add(message: NotificationMessage, text: string, stream: StoredStream): void {
    const subject = subjectOf(message)
    if (subject !== undefined && this.#changes.has(subject)) return
    this.#count += 1
    this.#characters += text.length
    if (this.#count > MOST_STORED || this.#characters > this.#endpoint.limits.unsent) {
      this.#reportLoss()
      // Changes are never lost within their own bound: the client would not look again.
      if (subject === undefined || this.#changes.size >= MOST_STORED) return
      this.#changes.set(subject, text)
      this.notStored.push(text)
      return
    }
    if (subject !== undefined) this.#changes.set(subject, text)
    void stream.send(text, () => this.notStored.push(text))
  }

  #reportLoss(): void {
    if (this.#isReported) return
    this.#isReported = true
    const text = `A client misses messages that were sent while it was away: of more than ${MOST_STORED}, or limits.unsent, the newest were dropped`
    this.#endpoint.report(new ConnectionError('limit', text))
  }
}

/** The subject of a message that only asks to look again; undefined for other messages. */
function subjectOf({ method, params }: NotificationMessage): string | undefined {
  if (method.endsWith('/list_changed')) return method
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined
}
