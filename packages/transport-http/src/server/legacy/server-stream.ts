/** The GET stream of one session, for messages that belong to no request. They are stored while the client is disconnected. */

import { ConnectionError, LONGEST_TIMER, type NotificationMessage } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { HttpRequest } from '../http-request.ts'
import { messageText } from '../responses.ts'
import { unref } from '../timers.ts'
import { HttpSession, type LiveSession } from './session.ts'
import type { StoredStream } from './stored-stream.ts'
import type { SessionStreams } from './streams.ts'

/** Messages are stored for a disconnected client for `WAIT_FACTOR` times `retry`, and for at least `LEAST_WAIT` ms. */
const WAIT_FACTOR = 30
const LEAST_WAIT = 250
/**
 * The largest number of disconnected clients for which messages are stored. This is also the number of streams in the
 * event store in memory.
 */
const MOST_WAITING = 1_000
/**
 * The largest number of messages that are stored per client. More could fill the event store, which then drops the
 * oldest event: the client's position.
 */
const MOST_STORED = 900

/**
 * The GET stream of one session: list changes, resource updates and logs. The session object is kept in memory until
 * the stream ends.
 */
export class ServerStream implements StreamOwner {
  readonly body: EventStream
  /** The stored stream. Undefined if no events are stored. */
  readonly stored: StoredStream | undefined
  readonly #streams: SessionStreams
  readonly #live: LiveSession
  /** The messages since the client disconnected. Undefined if the client has received all of them. */
  #pending: PendingChanges | undefined
  #stopWatching: (() => void) | undefined
  #hasLeft = false
  /** Ends the wait for the client. Undefined while the client is connected. */
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(streams: SessionStreams, live: LiveSession, request: HttpRequest, stored: StoredStream | undefined) {
    this.#streams = streams
    this.#live = live
    this.stored = stored
    live.readers += 1
    streams.sessions.hold(live)
    this.body = new EventStream(streams.endpoint, request, this)
  }

  /** Whether the client has disconnected and may still reconnect. */
  get isWaiting(): boolean {
    return !this.body.isOpen
  }

  /** Removes and returns the pending messages, for the next stream of the same session. */
  takePending(): PendingChanges | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  /**
   * Begins to send. Resolves when changes of other processes are also received.
   *
   * @param last the id of the last event that the client has received
   * @param hasGap whether changes may have been missed, so that everything counts as changed
   */
  async begin(last: string | undefined, pending: PendingChanges | undefined, hasGap: boolean): Promise<void> {
    const { endpoint, sessions } = this.#streams
    this.body.sendComment()
    void this.#sendMissed(last, pending)
    try {
      const session = new HttpSession(this.#live, sessions.update)
      const stop = await endpoint.responder.watchChanges?.(session, (change) => this.#send(change), hasGap)
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

  /** Called when the server has ended the stream, or the event store fails. Then the client reconnects. */
  onEnd(): void {
    this.#wait()
  }

  onKeepAlive(): void {
    void this.#streams.sessions.refresh(this.#live)
    void this.stored?.refresh()
  }

  /** Sends the messages that the client has missed: first messages in the store, then messages that were not stored. */
  async #sendMissed(last: string | undefined, pending: PendingChanges | undefined): Promise<void> {
    const { stored } = this
    if (stored !== undefined && last !== undefined) {
      this.#pending = pending
      await stored.resume(last, this.body)
      if (!this.body.isOpen) return
      this.#pending = undefined
      for (const text of pending?.notStored ?? []) await this.#sendText(text)
      return
    }
    stored?.open(this.body)
    // Waits for the client, because the messages together may exceed the limit of the stream.
    for (const text of pending?.all ?? []) await this.#sendText(text)
  }

  async #send(change: NotificationMessage): Promise<void> {
    const text = messageText(change, this.#streams.endpoint)
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
    // If there are several processes, the client may already have reconnected to another process, and would receive
    // messages twice.
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

  /** Stops storing messages. Messages that are already stored stay in the store. */
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

  /** Removes this stream from the session after the last messages were stored. Until then, a client can resume it. */
  async #forget(): Promise<void> {
    await this.stored?.stored
    const { sessions } = this.#streams
    if (this.#live.serverStream === this) this.#live.serverStream = undefined
    this.#live.readers -= 1
    sessions.release(this.#live)
  }
}

/**
 * The messages since the client disconnected. All messages are sent to the store. This object keeps the messages that
 * the store may not have.
 */
class PendingChanges {
  /** The id of the last event before the client disconnected. */
  readonly lastEventId: string | undefined
  readonly #endpoint: EndpointContext
  /** Changes by subject. A subject with a pending change is not stored again. */
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

  /** The changes and the messages that are not stored, for a client whose position the store has forgotten. */
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
      // Changes have a separate limit, because a client that misses a change keeps outdated data.
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
    const text = `Dropped the newest messages for a disconnected client: more than ${MOST_STORED}, or more than limits.unsent`
    this.#endpoint.report(new ConnectionError('limit', text))
  }
}

/**
 * Returns the subject of a change notification: the list or resource that clients then fetch again. Returns undefined
 * for other messages.
 */
function subjectOf({ method, params }: NotificationMessage): string | undefined {
  if (method.endsWith('/list_changed')) return method
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined
}
