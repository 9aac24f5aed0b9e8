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

/** The first revision whose clients accept an event without data. Older clients fail to parse it as a message. */
const FIRST_WITH_EMPTY_EVENTS = LATEST_LEGACY_REVISION
const DEFAULT_RETRY = 1_000
/** How often the store is read for new events of another process, in ms. */
const POLL = 500

/** The position of a client in the GET stream of its session. Empty if the store has forgotten the event. */
interface ServerStreamPosition {
  readonly lastEventId?: string
  readonly streamId?: string
}

const UNKNOWN_EVENT = 'Last-Event-ID: unknown or expired event; open a new stream without this header'
const NO_WRITER = 'The process that served this stream has ended; send the request again if that is safe'

/** The stream that a client resumes: a POST stream with the events that follow, the GET stream, or none. */
type LostStream =
  | { readonly kind: 'post'; readonly replay: EventReplay }
  | { readonly kind: 'get'; readonly position: ServerStreamPosition }
  | { readonly kind: 'none'; readonly problem: string }

const UNKNOWN: LostStream = { kind: 'none', problem: UNKNOWN_EVENT }

/** Opens the streams of all sessions of an endpoint. */
export class SessionStreams {
  readonly endpoint: EndpointContext
  readonly sessions: Sessions
  /** Streams whose clients have disconnected and may reconnect, oldest first. */
  readonly waiting = new Set<ServerStream>()
  /** Undefined if no events are stored. */
  readonly #storing: Storing | undefined
  /**
   * Together with the count, it makes stream ids unique among all processes. Created on first use, because Workers provide
   * random values only during a request.
   */
  #suffix: string | undefined
  #count = 0
  #isClosing = false

  constructor(endpoint: EndpointContext, sessions: Sessions) {
    this.endpoint = endpoint
    this.sessions = sessions
    const options = endpoint.options.sessions
    if (options === false || options?.events === false) return
    const events = options?.events ?? endpoint.responder.store?.events ?? createMemoryEventStore()
    this.#storing = { events, retry: options?.retry ?? DEFAULT_RETRY, report: endpoint.report }
  }

  /** Returns whether the client of this session can resume its streams. */
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

  /** Opens the stream of a POST. Calls `onLost` when messages can no longer reach the client. */
  openPost(live: LiveSession, request: HttpRequest, onLost: () => void): MessageStream {
    if (!this.canResume(live)) return createPlainStream(this.#openReader(live, request, undefined, onLost))
    const stream = this.#createPost(live, onLost)
    const body = this.#openReader(live, request, stream)
    stream.open(body)
    return {
      body,
      send: (text) => stream.send(text),
      end: () => stream.end(),
      closeStream: () => stream.closeStream(),
    }
  }

  #createPost(live: LiveSession, onLost: () => void): StoredStream {
    const id = this.#newId(live, 'post')
    const stream = new StoredStream(this.#storing as Storing, id, {
      onEnd: () => {
        live.streams.delete(id)
        this.sessions.release(live)
      },
      unreadInterval: this.sessions.awayTimeout,
      onUnread: () => {
        if (this.sessions.isAway(live)) onLost()
      },
    })
    this.sessions.hold(live)
    live.streams.set(id, stream)
    return stream
  }

  /** Opens a response that reads a stream. It holds the session, and keeps the session and the stored stream from expiring. */
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
   * Returns the id of a new stream: the session id, the kind and a unique part. No id is a part of another id.
   *
   * @param kind `post`: the stream of a POST; `feed`: the GET stream
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
    // The endpoint or the session may have ended while the store was read.
    if (this.#isClosing) return shuttingDown()
    if (live.hasEnded) return noSession()
    if (lost?.kind === 'none') return refusal(400, invalidRequest(lost.problem))
    if (lost?.kind === 'post') return this.#resumePost(live, request, lastEventId as string, lost.replay)
    return this.#openServerStream(live, request, lost?.position)
  }

  /** Finds the stream of an event. */
  async #findLost(live: LiveSession, lastEventId: string): Promise<LostStream> {
    const events = this.#storing?.events
    const replay = await events?.replay(lastEventId)
    if (events === undefined) return UNKNOWN
    if (replay === undefined) return this.#findForgotten(live, lastEventId)
    const { streamId } = replay
    if (streamId.startsWith(`${live.id}~feed~`)) return { kind: 'get', position: { lastEventId, streamId } }
    if (!streamId.startsWith(`${live.id}~post~`)) return UNKNOWN
    if (replay.ended || (await this.sessions.hasWriter(live, streamId))) return { kind: 'post', replay }
    // The stream may have ended while `hasWriter` waited.
    const now = await events.replay(lastEventId)
    return now?.ended === true ? { kind: 'post', replay: now } : { kind: 'none', problem: NO_WRITER }
  }

  /**
   * Finds the stream of an event that the store has dropped, by the stream id, which the ids of the memory store contain.
   * The GET stream continues without a position; a POST stream of this process continues with its later events.
   */
  #findForgotten(live: LiveSession, lastEventId: string): LostStream {
    if (lastEventId.includes(`${live.id}~feed~`)) return { kind: 'get', position: {} }
    for (const streamId of live.streams.keys()) {
      if (lastEventId.includes(streamId)) return { kind: 'post', replay: { streamId, events: [], ended: false } }
    }
    return UNKNOWN
  }

  /**
   * Opens the GET stream of a session, or resumes it from a position. A client may reconnect before its disconnection was
   * noticed, so the newest response replaces an older one.
   */
  async #openServerStream(
    live: LiveSession,
    request: HttpRequest,
    position: ServerStreamPosition | undefined,
  ): Promise<HttpAnswer> {
    const earlier = live.serverStream instanceof ServerStream ? live.serverStream : undefined
    if (position === undefined && earlier?.isWaiting === false) {
      return refusal(409, invalidRequest('This session already has an open GET stream'))
    }
    if (this.endpoint.responder.watchChanges === undefined) return methodNotAllowed('POST, DELETE')
    const pending = earlier?.takePending()
    earlier?.end()
    const isSame = position?.streamId === undefined || position.streamId === earlier?.stored?.id
    // The same stored stream is used again, because the store may still be writing messages of it.
    const stored = (isSame ? earlier?.stored : undefined) ?? this.#createServerStream(live, position?.streamId)
    const stream = new ServerStream(this, live, request, stored)
    live.serverStream = stream
    // Without a position, the stream continues where the client disconnected.
    await stream.begin(position === undefined ? pending?.lastEventId : position.lastEventId, pending)
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

  /** Copies the stored events of another process to a reader, until that process ends the stream or has ended itself. */
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
        // Without a writer, the store is read once more for events that were stored before the writer ended.
        isLast = !hadEvents && !(await this.sessions.hasWriter(live, first.streamId))
        replay = await this.#storing?.events.replay(last)
      }
    } catch (problem) {
      this.endpoint.report(problem as Error)
    } finally {
      reader.end()
    }
  }

  /** Creates the stored stream of a GET. Returns undefined if no events are stored. */
  #createServerStream(live: LiveSession, id: string | undefined): StoredStream | undefined {
    if (!this.canResume(live)) return undefined
    return new StoredStream(this.#storing as Storing, id ?? this.#newId(live, 'feed'))
  }
}

/** Refuses another stream of a session. */
export function tooManyStreams(most: number, requestId?: RequestId): HttpAnswer {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, requestId)
}
