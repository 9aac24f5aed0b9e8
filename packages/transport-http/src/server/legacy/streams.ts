/** Opens and resumes the SSE streams of sessions. */

import { type EventReplay, invalidRequest, LATEST_LEGACY_REVISION, type RequestId } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { encodeEvent } from '@mcpx/sse/encode'
import { LAST_EVENT_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { HttpRequest } from '../http-request.ts'
import { createPlainStream, type MessageStream } from '../reply.ts'
import { eventsNotAccepted, type HttpAnswer, methodNotAllowed, refusal, shuttingDown } from '../responses.ts'
import { ServerStream } from './server-stream.ts'
import type { LiveSession } from './session.ts'
import { noSession, type Sessions } from './sessions.ts'
import { StoredStream, type Storing } from './stored-stream.ts'

/** Clients of older revisions take an event without data for a broken message. */
const FIRST_WITH_EMPTY_EVENTS = LATEST_LEGACY_REVISION
const DEFAULT_RETRY = 1_000
/** The interval at which the events of another process are looked for, in ms. */
const POLL = 500

/** The position of a client in the stream of its session. Empty when the store has forgotten it. */
interface ServerStreamPosition {
  readonly lastEventId?: string
  readonly streamId?: string
}

const UNKNOWN_EVENT = 'Last-Event-ID names an event that is not known here, or no longer'
const NO_WRITER = 'The process that wrote to this stream is gone: what was asked there has no answer'

/** Opens the streams of all sessions of an endpoint. */
export class SessionStreams {
  readonly endpoint: EndpointContext
  readonly sessions: Sessions
  /** Streams whose clients are gone and expected back. The first has waited longest. */
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

  /** The time that a client waits before it reconnects, in ms. */
  get retry(): number {
    return this.#storing?.retry ?? 0
  }

  close(): void {
    this.#isClosing = true
    for (const live of this.sessions.all) live.serverStream?.end()
  }

  /** Opens the stream of a POST. `onLost` is called when messages no longer reach the client. */
  openPost(live: LiveSession, request: HttpRequest, onLost: () => void): MessageStream {
    if (!this.canResume(live)) return createPlainStream(this.#openReader(live, request, undefined, onLost))
    const stream = this.#createPost(live)
    const body = this.#openReader(live, request, stream)
    stream.open(body)
    return {
      body,
      send: (text) => stream.send(text),
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

  /** One response that reads a stream. It holds the session, and keeps it and the stored stream from expiring. */
  #openReader(live: LiveSession, request: HttpRequest, stream?: StoredStream, onLeft?: () => void): EventStream {
    live.readers += 1
    this.sessions.hold(live)
    const leave = () => {
      stream?.detach(reader)
      onLeft?.()
      live.readers -= 1
      this.sessions.release(live)
    }
    const owner: StreamOwner = {
      onGone: leave,
      onEnd: leave,
      onKeepAlive: () => {
        void this.sessions.refresh(live)
        void stream?.refresh()
      },
    }
    const reader: EventStream = new EventStream(this.endpoint, request, owner)
    return reader
  }

  /**
   * The id of a new stream. It begins with that of its session, and is part of no other id.
   *
   * @param kind `post` answers a POST, `feed` is the stream of the GET
   */
  #newId(live: LiveSession, kind: 'post' | 'feed'): string {
    this.#suffix ??= crypto.randomUUID().slice(0, 8)
    this.#count += 1
    return `${live.id}~${kind}~${this.#count}-${this.#suffix}`
  }

  /** Answers a GET: opens the stream of the session, or resumes a stream. */
  async get(live: LiveSession, request: HttpRequest): Promise<HttpAnswer> {
    const most = this.endpoint.limits.sessionStreams
    if (!request.acceptsEvents) return eventsNotAccepted()
    if (live.readers >= most) return tooManyStreams(most)
    const lastEventId = request.header(LAST_EVENT_HEADER)
    const lost = lastEventId === null ? undefined : await this.#findLost(live, lastEventId)
    // The store may have taken its time.
    if (this.#isClosing) return shuttingDown()
    if (live.hasEnded) return noSession()
    if (typeof lost === 'string') return refusal(400, invalidRequest(lost))
    if (lost !== undefined && 'ended' in lost) return this.#resumePost(live, request, lastEventId as string, lost)
    return this.#openServerStream(live, request, lost)
  }

  /** Finds the stream that an event belongs to. Returns the reason when it is not found. */
  async #findLost(live: LiveSession, lastEventId: string): Promise<EventReplay | ServerStreamPosition | string> {
    const events = this.#storing?.events
    const replay = await events?.replay(lastEventId)
    if (events === undefined) return UNKNOWN_EVENT
    if (replay === undefined) return this.#findForgotten(live, lastEventId)
    const { streamId } = replay
    if (streamId.startsWith(`${live.id}~feed~`)) return { lastEventId, streamId }
    if (!streamId.startsWith(`${live.id}~post~`)) return UNKNOWN_EVENT
    if (replay.ended || (await this.sessions.hasWriter(live, streamId))) return replay
    // It may have ended while its writer was looked for.
    const now = await events.replay(lastEventId)
    return now?.ended === true ? now : NO_WRITER
  }

  /** Stores forget events. The stream of the session goes on all the same, and so does an answer that is still to come. */
  #findForgotten(live: LiveSession, lastEventId: string): EventReplay | ServerStreamPosition | string {
    if (lastEventId.includes(`${live.id}~feed~`)) return {}
    for (const streamId of live.streams.keys()) {
      if (lastEventId.includes(streamId)) return { streamId, events: [], ended: false }
    }
    return UNKNOWN_EVENT
  }

  /**
   * Opens the stream of a session, or resumes it from a position. A client may be back before its disconnection was
   * noticed: the newest reader has the stream.
   */
  #openServerStream(live: LiveSession, request: HttpRequest, position: ServerStreamPosition | undefined): HttpAnswer {
    const earlier = live.serverStream instanceof ServerStream ? live.serverStream : undefined
    if (position === undefined && earlier?.isWaiting === false) {
      return refusal(409, invalidRequest('This session has its stream already: one at a time'))
    }
    if (this.endpoint.responder.watchChanges === undefined) return methodNotAllowed('POST, DELETE')
    const pending = earlier?.takePending()
    earlier?.end()
    const isSame = position?.streamId === undefined || position.streamId === earlier?.stored?.id
    // Messages of the earlier stream may still be on their way into the store.
    const stored = (isSame ? earlier?.stored : undefined) ?? this.#createServerStream(live, position?.streamId)
    const stream = new ServerStream(this, live, request, stored)
    live.serverStream = stream
    // A client that names no position goes on where it disconnected.
    stream.begin(position === undefined ? pending?.lastEventId : position.lastEventId, pending)
    return stream.body.toResponse()
  }

  #resumePost(live: LiveSession, request: HttpRequest, lastEventId: string, replay: EventReplay): HttpAnswer {
    const stream = live.streams.get(replay.streamId)
    const gone = new AbortController()
    const reader = this.#openReader(live, request, stream, () => gone.abort())
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
  #createServerStream(live: LiveSession, id: string | undefined): StoredStream | undefined {
    if (!this.canResume(live)) return undefined
    return new StoredStream(this.#storing as Storing, id ?? this.#newId(live, 'feed'))
  }
}

/** @param requestId the request that would have opened one more */
export function tooManyStreams(most: number, requestId?: RequestId): HttpAnswer {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, requestId)
}
