/** The SSE streams of sessions: stored events, resumption, and the stream of the GET. */

import {
  ConnectionError,
  type EventReplay,
  type EventStore,
  invalidRequest,
  type NotificationMessage,
  type RequestId,
  type Revision,
  type StoredEvent,
} from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { encodeEvent } from '@mcpx/sse/encode'
import { LAST_EVENT_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { HttpRequest } from '../http-request.ts'
import type { MessageStream } from '../reply.ts'
import { eventsNotAccepted, messageText, methodNotAllowed, refusal, shuttingDown } from '../responses.ts'
import { every, LONGEST_TIMER, unref } from '../timers.ts'
import { HttpSession, type LiveSession, noSession, type Sessions } from './sessions.ts'
import { PendingChanges } from './pending-changes.ts'

/** Older clients take an event without data for a broken message. */
const FIRST_WITH_EMPTY_EVENTS = '2025-11-25' satisfies Revision
const DEFAULT_RETRY = 1_000
/** The number of characters that a resumed stream sends without waiting for its reader. */
const SENT_AT_ONCE = 16 * 1024
/** The interval at which a stream without a reader is refreshed in the store, in ms. */
const REFRESH = 60_000
/** The interval at which the events of another process are looked for, in ms. */
const POLL = 500
/** The time that a disconnected client is waited for, in times `retry`, and at least, in ms. */
const WAIT_FACTOR = 30
const LEAST_WAIT = 250
/** The number of disconnected clients that are waited for. The event store in memory has as many streams. */
const MOST_WAITING = 1_000

/** `post`: answers a POST. `feed`: the stream of the GET. */
type StreamKind = 'post' | 'feed'

interface Storing {
  readonly events: EventStore
  /** The time that a client waits before it reconnects, in ms. */
  readonly retry: number
  readonly report: (problem: Error) => void
}

/** A stream whose events are stored: a client that loses it can have the rest on another response. */
export class StoredStream {
  readonly id: string
  /** The id of the last event that was stored. */
  lastEventId: string | undefined
  readonly #storing: Storing
  readonly #onEnd: (() => void) | undefined
  #reader: EventStream | undefined
  /** A reader that is still sent the events that it missed. */
  #joining: EventStream | undefined
  #hasEnded = false
  /** Runs while there is no reader. */
  #refreshing: ReturnType<typeof setInterval> | undefined
  /** Steps run one after the other, so that nothing overtakes an event that is being stored. */
  #lastStep: Promise<void> = Promise.resolve()

  constructor(storing: Storing, id: string, onEnd?: () => void) {
    this.#storing = storing
    this.id = id
    this.#onEnd = onEnd
  }

  /** Resolves when everything that was sent until now is stored. */
  get stored(): Promise<void> {
    return this.#lastStep
  }

  /** Attaches a reader that has seen nothing of the stream. The first event has no data: it is a position to resume from. */
  open(reader: EventStream): Promise<void> {
    this.#dismissReaders()
    this.#reader = reader
    const { retry } = this.#storing
    return this.#enqueue(() => this.#append('', { retry }))
  }

  /** Resolves to whether the event was stored, when the reader has room for more. */
  async send(text: string): Promise<boolean> {
    let isStored = false
    await this.#enqueue(async () => {
      isStored = await this.#append(text)
    })
    await this.#reader?.room
    return isStored
  }

  /** Tells the store that the stream goes on. */
  async refresh(): Promise<void> {
    try {
      await this.#storing.events.refresh?.(this.id)
    } catch (problem) {
      this.#storing.report(problem as Error)
    }
  }

  end(): Promise<void> {
    void this.#enqueue(async () => this.#storing.events.end(this.id))
    return this.#enqueue(async () => {
      this.#hasEnded = true
      this.stopRefreshing()
      this.#reader?.end()
      this.#onEnd?.()
    })
  }

  /** Ends the response after the messages that were sent. The client reconnects for the rest. */
  closeStream(): void {
    void this.#enqueue(async () => this.#reader?.end())
  }

  /** The reader is gone; events are stored for the next one. */
  detach(reader: EventStream): void {
    if (this.#reader === reader) this.#reader = undefined
    if (this.#joining === reader) this.#joining = undefined
    if (this.#hasEnded || this.#reader !== undefined || this.#joining !== undefined) return
    this.#refreshing ??= every(REFRESH, () => void this.refresh())
  }

  /** From now on the store may forget the stream in its own time. */
  stopRefreshing(): void {
    clearInterval(this.#refreshing)
    this.#refreshing = undefined
  }

  /** Attaches a reader that has seen the events up to `lastEventId`. Resolves when it has the rest, or was replaced. */
  async resume(lastEventId: string, reader: EventStream): Promise<void> {
    this.#dismissReaders()
    this.#joining = reader
    let last = lastEventId
    for (;;) {
      const missed = await this.#join(reader, last)
      if (missed.length === 0) return
      for (const { id, data } of missed) {
        last = id
        // No faster than it reads: there may be more events than may wait unread.
        await reader.send(encodeEvent({ id, data }))
      }
    }
  }

  #dismissReaders(): void {
    for (const earlier of [this.#joining, this.#reader]) earlier?.end()
    this.#joining = undefined
    this.#reader = undefined
    this.stopRefreshing()
  }

  /** Hands the stream over to a reader that has missed little. Otherwise returns the events that it is sent before. */
  async #join(reader: EventStream, last: string): Promise<readonly StoredEvent[]> {
    let missed: readonly StoredEvent[] = []
    await this.#enqueue(async () => {
      if (this.#joining !== reader) return
      const { events = [] } = (await this.#storing.events.replay(last)) ?? {}
      // Another reader may have come, or this one gone, while the store was asked.
      if (this.#joining !== reader) return
      if (events.reduce((sum, { data }) => sum + data.length, 0) > SENT_AT_ONCE) missed = events
      else this.#handOver(reader, events)
    })
    // The store failed: the client can try again.
    if (missed.length === 0 && this.#reader !== reader) reader.end()
    return missed
  }

  #handOver(reader: EventStream, missed: readonly StoredEvent[]): void {
    this.#joining = undefined
    this.#reader = reader
    for (const { id, data } of missed) void reader.send(encodeEvent({ id, data }))
    if (this.#hasEnded) reader.end()
  }

  /** A store that fails costs the position to resume from, not the event. Returns whether the event was stored. */
  async #append(data: string, first?: { readonly retry: number }): Promise<boolean> {
    const { events, report } = this.#storing
    let id: string | undefined
    try {
      id = await events.append(this.id, data)
      this.lastEventId = id
    } catch (problem) {
      report(problem as Error)
    }
    // The next event is stored whether or not the reader has room: the reader itself limits what waits.
    if (id !== undefined || data !== '') void this.#reader?.send(encodeStored({ ...first, id, data }, report))
    return id !== undefined
  }

  #enqueue(step: () => Promise<unknown>): Promise<void> {
    this.#lastStep = this.#lastStep.then(async () => {
      try {
        await step()
      } catch (problem) {
        this.#storing.report(problem as Error)
      }
    })
    return this.#lastStep
  }
}

/** The text of an event. An invalid id of the store costs the position to resume from, not the event. */
function encodeStored(
  event: { readonly id: string | undefined; readonly data: string; readonly retry?: number },
  report: (problem: Error) => void,
): string {
  try {
    return encodeEvent(event)
  } catch (cause) {
    const text = `The event store gave an id that cannot be sent: expected a line of text, got ${String(event.id).slice(0, 80)}`
    report(new TypeError(text, { cause }))
    return encodeEvent({ ...event, id: undefined })
  }
}

/** Opens the streams of all sessions of an endpoint. */
export class SessionStreams {
  readonly endpoint: EndpointContext
  readonly sessions: Sessions
  /** Streams of the GET whose clients are gone and expected back. The first has waited longest. */
  readonly waiting = new Set<ServerStream>()
  /** Absent where no events are stored. */
  readonly #storing: Storing | undefined
  /** With the count, a stream id is unique among all processes. Workers have no random values before a request. */
  #suffix: string | undefined
  #count = 0
  #isClosing = false

  constructor(endpoint: EndpointContext, sessions: Sessions) {
    this.endpoint = endpoint
    this.sessions = sessions
    const options = endpoint.options.sessions
    if (options === false || options?.events === false) return
    const events = options?.events ?? createMemoryEventStore()
    this.#storing = { events, retry: options?.retry ?? DEFAULT_RETRY, report: endpoint.report }
  }

  /** Whether a client of this session can resume its streams. */
  canResume({ state: { revision } }: LiveSession): boolean {
    return this.#storing !== undefined && revision !== undefined && revision >= FIRST_WITH_EMPTY_EVENTS
  }

  /** The time that a disconnected client is waited for, in ms. */
  get waitTime(): number {
    return Math.min(Math.max(WAIT_FACTOR * (this.#storing?.retry ?? 0), LEAST_WAIT), LONGEST_TIMER)
  }

  close(): void {
    this.#isClosing = true
    for (const live of this.sessions.all) live.serverStream?.end()
  }

  /** Opens the stream of a POST. `onLost` is called when messages no longer reach the client. */
  openPost(live: LiveSession, request: HttpRequest, onLost: () => void): MessageStream {
    if (!this.canResume(live)) {
      const body = this.#openReader(live, request, onLost)
      return { body, send: async (text) => body.send(encodeEvent({ data: text })), end: async () => body.end() }
    }
    const stream = this.#createPost(live)
    const body = this.#openReader(
      live,
      request,
      (reader) => stream.detach(reader),
      () => void stream.refresh(),
    )
    void stream.open(body)
    return {
      body,
      send: async (text) => void (await stream.send(text)),
      end: () => stream.end(),
      closeStream: () => stream.closeStream(),
    }
  }

  #createPost(live: LiveSession): StoredStream {
    const id = this.#newId(live, 'post')
    const stream = new StoredStream(this.#storing as Storing, id, () => {
      live.streams.delete(id)
      this.sessions.release(live)
    })
    this.sessions.hold(live)
    live.streams.set(id, stream)
    return stream
  }

  /** One response that reads a stream. It holds the session, and keeps it from expiring. */
  #openReader(
    live: LiveSession,
    request: HttpRequest,
    onLeft: (reader: EventStream) => void,
    onKeepAlive?: () => void,
  ): EventStream {
    live.readers += 1
    this.sessions.hold(live)
    const leave = () => {
      onLeft(reader)
      live.readers -= 1
      this.sessions.release(live)
    }
    const owner: StreamOwner = {
      onGone: leave,
      onEnd: leave,
      onKeepAlive: () => {
        void this.sessions.refresh(live)
        onKeepAlive?.()
      },
    }
    const reader: EventStream = new EventStream(this.endpoint, request, owner)
    return reader
  }

  /** The id of a new stream. It begins with that of its session, and is part of no other id. */
  #newId(live: LiveSession, kind: StreamKind): string {
    this.#suffix ??= crypto.randomUUID().slice(0, 8)
    this.#count += 1
    return `${live.id}~${kind}~${this.#count}-${this.#suffix}`
  }

  /** Answers a GET: opens the stream of the session, or resumes a stream. */
  async get(live: LiveSession, request: HttpRequest): Promise<Response> {
    const most = this.endpoint.limits.sessionStreams
    if (!request.acceptsEvents) return eventsNotAccepted()
    if (live.readers >= most) return tooManyStreams(most)
    const lastEventId = request.header(LAST_EVENT_HEADER)
    const open = lastEventId === null ? openFirst : await this.#findLost(live, lastEventId)
    // The store may have taken its time.
    if (this.#isClosing) return shuttingDown()
    if (live.hasEnded) return noSession()
    return open(this, live, request)
  }

  /** Finds the stream that an event belongs to. */
  async #findLost(live: LiveSession, lastEventId: string): Promise<OpenStream> {
    const events = this.#storing?.events
    const replay = await events?.replay(lastEventId)
    if (events === undefined) return refuseEvent
    if (replay === undefined) return this.#findForgotten(live, lastEventId)
    const { streamId } = replay
    if (streamId.startsWith(`${live.id}~feed~`)) return openServerStream({ lastEventId, streamId })
    if (!streamId.startsWith(`${live.id}~post~`)) return refuseEvent
    if (replay.ended || (await this.sessions.hasWriter(live, streamId))) return resumePost(lastEventId, replay)
    // It may have ended while its writer was looked for.
    const now = await events.replay(lastEventId)
    return now?.ended === true ? resumePost(lastEventId, now) : refuseWithoutWriter
  }

  /** Stores forget events. The stream of the session goes on all the same, and so does an answer that is still to come. */
  #findForgotten(live: LiveSession, lastEventId: string): OpenStream {
    if (lastEventId.includes(`${live.id}~feed~`)) return openServerStream('forgotten')
    for (const id of live.streams.keys()) {
      if (lastEventId.includes(id)) return resumePost(lastEventId, { streamId: id, events: [], ended: false })
    }
    return refuseEvent
  }

  resume(live: LiveSession, request: HttpRequest, lastEventId: string, replay: EventReplay): Response {
    const stream = live.streams.get(replay.streamId)
    const gone = new AbortController()
    const onLeft = (left: EventStream) => {
      stream?.detach(left)
      gone.abort()
    }
    const reader = this.#openReader(live, request, onLeft, () => void stream?.refresh())
    reader.sendComment()
    if (stream !== undefined) void stream.resume(lastEventId, reader)
    else void this.#copyEvents(live, reader, replay, lastEventId, gone.signal)
    return reader.toResponse()
  }

  /** Copies the events of another process until it ends the stream or is gone. */
  async #copyEvents(
    live: LiveSession,
    reader: EventStream,
    first: EventReplay,
    lastEventId: string,
    signal: AbortSignal,
  ): Promise<void> {
    let replay: EventReplay | undefined = first
    let last = lastEventId
    let isLast = false
    try {
      while (replay !== undefined && !signal.aborted) {
        for (const { id, data } of replay.events) {
          last = id
          await reader.send(encodeEvent({ id, data }))
        }
        if (replay.ended || isLast) return
        const hadEvents = replay.events.length > 0
        await new Promise((resolve) => setTimeout(resolve, POLL))
        // Events that it stored before it went are still sent.
        isLast = !hadEvents && !(await this.sessions.hasWriter(live, first.streamId))
        replay = await this.#storing?.events.replay(last)
      }
    } catch (problem) {
      this.endpoint.report(problem as Error)
    } finally {
      reader.end()
    }
  }

  /** The stored stream of a GET; undefined where no events are stored. */
  createServerStream(live: LiveSession, id: string | undefined): StoredStream | undefined {
    if (!this.canResume(live)) return undefined
    return new StoredStream(this.#storing as Storing, id ?? this.#newId(live, 'feed'))
  }
}

type OpenStream = (streams: SessionStreams, live: LiveSession, request: HttpRequest) => Response

const refuseEvent: OpenStream = () =>
  refusal(400, invalidRequest('Last-Event-ID names an event that is not known here, or no longer'))
const refuseWithoutWriter: OpenStream = () =>
  refusal(400, invalidRequest('The process that wrote to this stream is gone: what was asked there has no answer'))

function resumePost(lastEventId: string, replay: EventReplay): OpenStream {
  return (streams, live, request) => streams.resume(live, request, lastEventId, replay)
}

/** @param requestId the request that would have opened one more */
export function tooManyStreams(most: number, requestId?: RequestId): Response {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, requestId)
}

const openFirst: OpenStream = (streams, live, request) => {
  if (live.serverStream instanceof ServerStream && !live.serverStream.isWaiting) {
    return refusal(409, invalidRequest('This session has its stream already: one at a time'))
  }
  return openServerStream(undefined)(streams, live, request)
}

/** The position of a client in the stream of its session; undefined when it names none. */
type Position = { readonly lastEventId: string; readonly streamId: string } | 'forgotten' | undefined

/** A client may be back before its disconnection was noticed: the newest reader has the stream. */
function openServerStream(position: Position): OpenStream {
  return (streams, live, request) => {
    if (streams.endpoint.responder.watchChanges === undefined) return methodNotAllowed('POST, DELETE')
    const earlier = live.serverStream instanceof ServerStream ? live.serverStream : undefined
    const pending = earlier?.takePending()
    earlier?.end()
    const stream = new ServerStream(streams, live, request)
    live.serverStream = stream
    stream.begin(position, earlier?.stored, pending)
    return stream.body.toResponse()
  }
}

/** The stream of a GET: list changes, resource updates and logs of one session. The session is held until it ends. */
export class ServerStream implements StreamOwner {
  readonly body: EventStream
  /** Absent where no events are stored. */
  stored: StoredStream | undefined
  readonly #streams: SessionStreams
  readonly #live: LiveSession
  /** The messages since the client disconnected. Absent when it has all of them. */
  #pending: PendingChanges | undefined
  #stopWatching: (() => void) | undefined
  #hasLeft = false
  /** Runs while the client is expected back. */
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(streams: SessionStreams, live: LiveSession, request: HttpRequest) {
    this.#streams = streams
    this.#live = live
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

  begin(position: Position, before: StoredStream | undefined, pending: PendingChanges | undefined): void {
    const { endpoint, sessions } = this.#streams
    this.body.sendComment()
    const known = typeof position === 'object' ? position : undefined
    const isSame = before !== undefined && (known === undefined || known.streamId === before.id)
    // Messages of the earlier stream may still be on their way into the store.
    this.stored = isSame ? before : this.#streams.createServerStream(this.#live, known?.streamId)
    // A client that names no position goes on where it disconnected.
    const last = position === undefined ? pending?.lastEventId : known?.lastEventId
    void this.#sendMissed(last, pending)
    try {
      const session = new HttpSession(this.#live, (live, change) => sessions.update(live, change))
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
    if (stored !== undefined) void stored.open(this.body)
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
    const { waiting, endpoint, sessions, waitTime } = this.#streams
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
    this.#timer = unref(setTimeout(() => this.#leave(), waitTime))
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

  /** A client that reconnects before the last messages are stored goes on with this stream. */
  async #forget(): Promise<void> {
    await this.stored?.stored
    const { sessions } = this.#streams
    if (this.#live.serverStream === this) this.#live.serverStream = undefined
    this.#live.readers -= 1
    sessions.release(this.#live)
  }
}
