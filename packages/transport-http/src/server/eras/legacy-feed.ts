/** The stream of what a session is told unasked: one for each session at a time. */

import type { Awaitable, NotificationMessage } from '@mcpx/protocol'
import { encodeComment, encodeEvent } from '@mcpx/sse/encode'
import { messageText } from '../answers.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
import { LONGEST_TIMER, unref } from '../watch.ts'
import type { LiveSession } from './legacy-live.ts'
import { HttpSession, type UpdateSession } from './legacy-session.ts'
import type { StoredStream } from './legacy-stored-stream.ts'
import type { LegacyStreams } from './legacy-streams.ts'

/** What all GETs of an endpoint share. */
export interface FeedContext {
  readonly host: Host
  readonly streams: LegacyStreams
  readonly update: UpdateSession
  /** Reads the record again and lets it live on; ends what runs here when there is none any more. */
  readonly refresh: (live: LiveSession) => void
  /** Those whose clients have gone and are expected back; the first has waited longest. */
  readonly away: Set<{ end(): void }>
  /** No stream is opened any more. */
  isClosing: boolean
}

/** The stream that a client goes on with. */
export interface Lost {
  readonly lastEventId: string
  readonly streamId: string
  /** The same stream as it was written to until now, where that was here. */
  readonly before?: StoredStream | undefined
}

const comment = encodeComment()

/** Opens the stream. The session is held until it ends. */
export function openFeed(live: LiveSession, inbound: Inbound, context: FeedContext, lost?: Lost): EventStream {
  const feed = new Feed(live, inbound, context)
  live.feed = feed
  context.streams.enter(live)
  feed.begin(lost)
  return feed.body
}

/** How long a client may be away, in times that it was told to wait before it comes back; and at least, in ms. */
const PATIENCE = 30
const LEAST_PATIENCE = 250
/** How many clients are waited for. The store of events in memory has as many streams. */
const MOST_AWAY = 1_000

class Feed implements StreamOwner {
  readonly body: EventStream
  readonly #live: LiveSession
  readonly #context: FeedContext
  /** Absent where no events are kept. */
  stored: StoredStream | undefined
  #stop: (() => void) | undefined
  /** Runs while the client is away: what it is to be told is kept with the rest of the stream until it is back. */
  #waiting: ReturnType<typeof setTimeout> | undefined
  /** What has changed meanwhile, each once: however often it does, what is kept of the stream does not grow. */
  #missed: Map<string, NotificationMessage> | undefined

  constructor(live: LiveSession, inbound: Inbound, context: FeedContext) {
    this.body = new EventStream(context.host, this, inbound)
    this.#live = live
    this.#context = context
  }

  begin(lost: Lost | undefined): void {
    const { host, streams, update } = this.#context
    // Makes the response begin before there is anything to say.
    void this.body.send(comment)
    // What was said while the client was away may still be on its way into the store.
    this.stored = lost?.before ?? streams.openFeed(this.#live, lost?.streamId)
    if (lost === undefined) void this.stored?.open(this.body)
    else void this.stored?.resume(lost.lastEventId, this.body)
    try {
      const session = new HttpSession(this.#live, update)
      // What is bound takes half of the room of a closure.
      this.#stop = host.responder.changes?.(session, this.#tell.bind(this))
    } catch (problem) {
      host.report(problem as Error)
      this.end()
    }
  }

  get isAway(): boolean {
    return this.#context.away.has(this)
  }

  end(): void {
    if (this.isAway) this.#left()
    else this.body.end()
  }

  onGone(): void {
    const { away, host, streams } = this.#context
    // What ends with its request cannot wait. In another process it might be back unnoticed here, and be told everything twice.
    if (this.stored === undefined || this.body.isAlone || streams.areShared || host.ended !== undefined) {
      this.#left()
      return
    }
    this.stored.detach(this.body)
    this.#live.readers -= 1
    away.add(this)
    const [longest] = away
    if (away.size > MOST_AWAY) longest?.end()
    const ms = Math.max(PATIENCE * (streams.keeping?.retry ?? 0), LEAST_PATIENCE)
    this.#waiting = unref(setTimeout(() => this.#left(), Math.min(ms, LONGEST_TIMER)))
  }

  onEnd(): void {
    this.#left()
  }

  onTick(): void {
    this.#context.refresh(this.#live)
  }

  #tell(change: NotificationMessage): Awaitable<void> {
    const { method, params } = change
    if (!this.isAway || method === 'notifications/message') return this.#send(change)
    this.#missed ??= new Map()
    this.#missed.set(`${method} ${params?.uri}`, change)
    return undefined
  }

  #send(message: NotificationMessage): Awaitable<void> {
    const text = this.body.isOpen || this.isAway ? messageText(message, this.#context.host.report) : undefined
    if (text === undefined) return undefined
    return this.stored === undefined ? this.body.send(encodeEvent({ data: text })) : this.stored.send(text)
  }

  #left(): void {
    const live = this.#live
    if (live.feed === this) live.feed = undefined
    for (const change of this.#missed?.values() ?? []) void this.#send(change)
    if (this.#context.away.delete(this)) live.readers += 1
    clearTimeout(this.#waiting)
    try {
      this.#stop?.()
    } catch (problem) {
      this.#context.host.report(problem as Error)
    }
    this.#context.streams.leave(live)
  }
}
