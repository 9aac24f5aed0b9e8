/** Opens and resumes the SSE streams of sessions. */

import { invalidRequest, LATEST_LEGACY_REVISION, type RequestId, type StoredEvent } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { encodeEvent } from '@mcpx/sse/encode'
import { LAST_EVENT_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { HttpRequest } from '../http-request.ts'
import { createPlainStream, type MessageStream } from '../reply.ts'
import { eventsNotAccepted, type HttpAnswer, methodNotAllowed, refusal, shuttingDown } from '../responses.ts'
import { every } from '../timers.ts'
import { ServerStream } from './server-stream.ts'
import type { LiveSession } from './session.ts'
import { noSession, type Sessions } from './sessions.ts'
import { StoredStream, type Storing } from './stored-stream.ts'

/**
 * The first revision whose clients accept an event without data, and reconnect when a response ends early. Older clients
 * fail to parse the event as a message.
 */
const FIRST_WITH_EMPTY_EVENTS = LATEST_LEGACY_REVISION
const DEFAULT_RETRY = 1_000
/** If a stream has no new events, its process is asked at this interval whether it still writes the stream, in ms. */
const WRITER_CHECK = 1_000

/** The position of a client in the GET stream of its session. Empty if the store has forgotten the event. */
interface ServerStreamPosition {
  readonly lastEventId?: string
  readonly streamId?: string
}

const UNKNOWN_EVENT = 'Last-Event-ID: unknown or expired event; open a new stream without this header'
const NO_WRITER = 'The process that served this stream has ended; send the request again if that is safe'

/** The stream that a client resumes: a POST stream, the GET stream, or none. */
type LostStream =
  | { readonly kind: 'post'; readonly streamId: string }
  | { readonly kind: 'get'; readonly position: ServerStreamPosition }
  | { readonly kind: 'none'; readonly problem: string }

const UNKNOWN: LostStream = { kind: 'none', problem: UNKNOWN_EVENT }

/** Opens the streams of all sessions of an endpoint. */
export class SessionStreams {
  readonly endpoint: EndpointContext
  readonly sessions: Sessions
  /** Streams whose clients have disconnected and may reconnect, oldest first. */
  readonly waiting = new Set<ServerStream>()
  /** The settings for storing events. Undefined if no events are stored. */
  readonly #storing: Storing | undefined
  /**
   * Identifies the process that writes a stream, if there are several processes. Together with a count, it makes stream
   * ids unique. It is created on first use, because Workers provide random values only during a request.
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
    const { limits, report, unread } = endpoint
    this.#storing = { events, retry: options?.retry ?? DEFAULT_RETRY, report, unsent: limits.unsent, unread }
  }

  /** Returns whether the client of this session reconnects after the server has closed the response of a POST. */
  canClose(live: LiveSession): boolean {
    return this.#storing !== undefined && acceptsEmptyEvents(live)
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
    if (this.#storing === undefined) return createPlainStream(this.#openReader(live, request, undefined, onLost))
    const stream = this.#createPost(this.#storing, live, request.admission.caller, onLost)
    const body = this.#openReader(live, request, stream)
    stream.open(body)
    return {
      body,
      send: (text) => stream.send(text),
      end: () => stream.end(),
      closeStream: () => stream.closeStream(),
    }
  }

  #createPost(storing: Storing, live: LiveSession, caller: string | undefined, onLost: () => void): StoredStream {
    const id = this.#newId(live, 'post')
    const facts = { id, caller, acceptsEmptyEvents: acceptsEmptyEvents(live) }
    const stream = new StoredStream(storing, facts, {
      get hasEnded() {
        return live.hasEnded
      },
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

  /** Opens a response that reads a stream. While it is open, the session and the stored stream do not expire. */
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
   * Returns the id of a new stream: the session id, the kind and a unique part. No id contains another id.
   *
   * @param kind `post`: the stream of a POST; `feed`: the GET stream
   */
  #newId(live: LiveSession, kind: 'post' | 'feed'): string {
    this.#suffix ??= this.sessions.processId ?? crypto.randomUUID().slice(0, 8)
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
    if (lost === undefined && (await this.sessions.hasStreamElsewhere(live))) return alreadyOpen()
    const isOfSession = lost === undefined || lost.kind === 'get'
    // The changes since the client disconnected are known only if no other process can have served the client.
    const hasGap = this.sessions.areShared && (lost !== undefined || live.state.streamProcess !== undefined)
    if (this.sessions.areShared && isOfSession) await this.sessions.claimStream(live)
    // The endpoint or the session may have ended while the store was read.
    if (this.#isClosing) return shuttingDown()
    if (live.hasEnded) return noSession()
    if (lost?.kind === 'none') return refusal(400, invalidRequest(lost.problem))
    if (lost?.kind === 'post') return this.#resumePost(live, request, lastEventId as string, lost.streamId)
    return this.#openServerStream(live, request, { position: lost?.position, hasGap })
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
    if (replay.ended || (await this.sessions.hasWriter(live, streamId))) return { kind: 'post', streamId }
    // The stream may have ended while `hasWriter` waited.
    const now = await events.replay(lastEventId)
    return now?.ended === true ? { kind: 'post', streamId } : { kind: 'none', problem: NO_WRITER }
  }

  /**
   * Finds the stream of an event that the store has dropped. This is possible if the event id contains the stream id,
   * as in the memory store. The GET stream continues without a position. A POST stream of this process continues with
   * its later events.
   */
  #findForgotten(live: LiveSession, lastEventId: string): LostStream {
    if (lastEventId.includes(`${live.id}~feed~`)) return { kind: 'get', position: {} }
    for (const streamId of live.streams.keys()) {
      if (lastEventId.includes(streamId)) return { kind: 'post', streamId }
    }
    return UNKNOWN
  }

  /**
   * Opens the GET stream of a session, or resumes it from a position. A client may reconnect before its disconnection was
   * noticed, so the newest response replaces an older one.
   *
   * @param position where the client continues; undefined for a new stream
   * @param hasGap whether the client may have missed changes
   */
  async #openServerStream(
    live: LiveSession,
    request: HttpRequest,
    { position, hasGap }: { position: ServerStreamPosition | undefined; hasGap: boolean },
  ): Promise<HttpAnswer> {
    const earlier = live.serverStream instanceof ServerStream ? live.serverStream : undefined
    if (position === undefined && earlier?.isWaiting === false) return alreadyOpen()
    if (this.endpoint.responder.watchChanges === undefined) return methodNotAllowed('POST, DELETE')
    const pending = earlier?.takePending()
    earlier?.end()
    const isSame = position?.streamId === undefined || position.streamId === earlier?.stored?.id
    // Use the same stored stream again, because the store may still be writing its messages.
    const { caller } = request.admission
    const stored = (isSame ? earlier?.stored : undefined) ?? this.#createServerStream(live, caller, position?.streamId)
    const stream = new ServerStream(this, live, request, stored)
    live.serverStream = stream
    // If the position is unknown, the stream continues where the client disconnected.
    await stream.begin(position === undefined ? pending?.lastEventId : position.lastEventId, pending, hasGap)
    return stream.body.toResponse()
  }

  #resumePost(live: LiveSession, request: HttpRequest, lastEventId: string, streamId: string): HttpAnswer {
    const stream = live.streams.get(streamId)
    const stop = new AbortController()
    const reader = this.#openReader(live, request, stream, () => stop.abort())
    reader.sendComment()
    if (stream !== undefined) void stream.resume(lastEventId, reader)
    else void this.#copyEvents(live, reader, { streamId, lastEventId, stop })
    return reader.toResponse()
  }

  /** Copies the stored events of another process to a reader, until that process ends the stream or exits. */
  async #copyEvents(
    live: LiveSession,
    reader: EventStream,
    { streamId, lastEventId, stop }: { streamId: string; lastEventId: string; stop: AbortController },
  ): Promise<void> {
    const { events } = this.#storing as Storing
    let last = lastEventId
    let isIdle = false
    const send = async ({ id, data }: StoredEvent) => {
      last = id
      isIdle = false
      await reader.takeTurn(data.length)
      await reader.send(encodeEvent({ id, data }))
    }
    const checkWriter = async () => {
      if (isIdle && !(await this.sessions.hasWriter(live, streamId)) && isIdle) stop.abort()
      isIdle = true
    }
    const checking = every(WRITER_CHECK, () => void checkWriter())
    try {
      for await (const event of events.follow(lastEventId, stop.signal)) await send(event)
      // Send the last events before the process exited, which may be stored but not received yet.
      if (reader.isOpen) for (const event of (await events.replay(last))?.events ?? []) await send(event)
    } catch (problem) {
      this.endpoint.report(problem as Error)
    } finally {
      clearInterval(checking)
      reader.end()
    }
  }

  /** Creates the stored stream of a GET. Returns undefined if no events are stored. */
  #createServerStream(live: LiveSession, caller: string | undefined, id = this.#newId(live, 'feed')) {
    const facts = { id, caller, acceptsEmptyEvents: acceptsEmptyEvents(live) }
    return this.#storing && new StoredStream(this.#storing, facts)
  }
}

function acceptsEmptyEvents({ state: { revision } }: LiveSession): boolean {
  return revision !== undefined && revision >= FIRST_WITH_EMPTY_EVENTS
}

/** Refuses a second GET stream, because each message must be sent on one stream only. */
function alreadyOpen(): HttpAnswer {
  return refusal(409, invalidRequest('This session already has an open GET stream'))
}

/** Refuses another stream of a session. */
export function tooManyStreams(most: number, requestId?: RequestId): HttpAnswer {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, requestId)
}
