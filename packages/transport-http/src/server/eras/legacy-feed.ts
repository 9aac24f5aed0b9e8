/** The stream of what a session is told unasked: one for each session at a time. */

import type { Awaitable, NotificationMessage } from '@mcpx/protocol'
import { encodeComment, encodeEvent } from '@mcpx/sse/encode'
import { messageText } from '../answers.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
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
}

/** The stream that a client goes on with. */
export interface Lost {
  readonly lastEventId: string
  readonly streamId: string
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

class Feed implements StreamOwner {
  readonly body: EventStream
  readonly #live: LiveSession
  readonly #context: FeedContext
  /** Absent where no events are kept. */
  #stored: StoredStream | undefined
  #stop: (() => void) | undefined

  constructor(live: LiveSession, inbound: Inbound, context: FeedContext) {
    this.body = new EventStream(context.host, this, inbound)
    this.#live = live
    this.#context = context
  }

  begin(lost: Lost | undefined): void {
    const { host, streams, update } = this.#context
    // Makes the response begin before there is anything to say.
    void this.body.send(comment)
    this.#stored = streams.openFeed(this.#live, lost?.streamId)
    if (lost === undefined) void this.#stored?.open(this.body)
    else void this.#stored?.resume(lost.lastEventId, this.body)
    try {
      const session = new HttpSession(this.#live, update)
      // What is bound takes half of the room of a closure.
      this.#stop = host.responder.changes?.(session, this.#tell.bind(this))
    } catch (problem) {
      host.report(problem as Error)
      this.end()
    }
  }

  end(): void {
    this.body.end()
  }

  onGone(): void {
    this.#left()
  }

  onEnd(): void {
    this.#left()
  }

  onTick(): void {
    this.#context.refresh(this.#live)
  }

  #tell(change: NotificationMessage): Awaitable<void> {
    const text = this.body.isOpen ? messageText(change, this.#context.host.report) : undefined
    if (text === undefined) return undefined
    return this.#stored === undefined ? this.body.send(encodeEvent({ data: text })) : this.#stored.send(text)
  }

  #left(): void {
    const live = this.#live
    if (live.feed === this) live.feed = undefined
    try {
      this.#stop?.()
    } catch (problem) {
      this.#context.host.report(problem as Error)
    }
    this.#context.streams.leave(live)
  }
}
