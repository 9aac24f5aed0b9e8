/** The stream of what a session is told unasked: one for each session at a time. */

import type { Awaitable, NotificationMessage } from '@mcpx/protocol'
import { encodeComment, encodeEvent } from '@mcpx/sse/encode'
import { messageText } from '../answers.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
import { LONGEST_TIMER, unref } from '../watch.ts'
import type { LiveSession } from './legacy-live.ts'
import { Missed } from './legacy-missed.ts'
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
  /** The last event that the client has seen, and its stream; absent where they are not known any more. */
  readonly at?: { readonly lastEventId: string; readonly streamId: string } | undefined
  /** The same stream as it was written to until now, where that was here. */
  readonly before?: StoredStream | undefined
  /** What the client was not told yet. */
  readonly missed?: Missed | undefined
}

const comment = encodeComment()

/** Opens the stream. The session is held until it ends. */
export function openFeed(live: LiveSession, inbound: Inbound, context: FeedContext, lost: Lost): EventStream {
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

const left = () => {}

class Feed implements StreamOwner {
  readonly body: EventStream
  readonly #live: LiveSession
  readonly #context: FeedContext
  /** Absent where no events are kept. */
  stored: StoredStream | undefined
  /** Present as long as nothing can be told: what comes is kept here, not with the stream, as it may be told in fewer words then. */
  missed: Missed | undefined
  /** `left` once nobody is told any more. */
  #stop: (() => void) | undefined
  /** Runs while the client is away. */
  #waiting: ReturnType<typeof setTimeout> | undefined

  constructor(live: LiveSession, inbound: Inbound, context: FeedContext) {
    this.body = new EventStream(context.host, this, inbound)
    this.#live = live
    this.#context = context
  }

  begin({ at, before, missed }: Lost): void {
    const { host, streams, update } = this.#context
    // Makes the response begin before there is anything to say.
    void this.body.send(comment)
    // What was said while the client was away may still be on its way into the store.
    this.stored = before ?? streams.openFeed(this.#live, at?.streamId)
    if (at === undefined || this.stored === undefined) {
      void this.stored?.open(this.body)
      this.#tellAll(missed)
    } else {
      this.missed = missed ?? new Missed(host)
      void this.stored.resume(at.lastEventId, this.body).then(() => this.#goOn())
    }
    try {
      const session = new HttpSession(this.#live, update)
      // What is bound takes half of the room of a closure.
      const stop = host.responder.watchChanges?.(session, this.#tell.bind(this))
      if (this.#stop === left) stop?.()
      else this.#stop = stop
    } catch (problem) {
      host.report(problem as Error)
      this.end()
    }
  }

  get isAway(): boolean {
    return !this.body.isOpen
  }

  end(): void {
    this.#leave()
    this.body.end()
  }

  onGone(): void {
    this.#wait()
  }

  /** A store that fails ends the stream, too: the client comes back for it. */
  onEnd(): void {
    this.#wait()
  }

  onTick(): void {
    this.#context.refresh(this.#live)
    this.stored?.refresh()
  }

  #wait(): void {
    if (this.#stop === left) return
    const { away, host, streams } = this.#context
    // What ends with its request cannot wait. In another process it might be back unnoticed here, and be told everything twice.
    if (this.stored === undefined || this.body.isAlone || streams.areShared || host.ended !== undefined) {
      this.#leave()
      return
    }
    this.stored.detach(this.body)
    this.missed ??= new Missed(host)
    this.#live.readers -= 1
    away.add(this)
    const [longest] = away
    if (away.size > MOST_AWAY) longest?.end()
    const ms = Math.max(PATIENCE * (streams.keeping?.retry ?? 0), LEAST_PATIENCE)
    this.#waiting = unref(setTimeout(() => this.#leave(), Math.min(ms, LONGEST_TIMER)))
  }

  /** The client has been given what it had missed before. */
  #goOn(): void {
    if (!this.body.isOpen) return
    const { missed } = this
    this.missed = undefined
    this.#tellAll(missed)
  }

  #tell(change: NotificationMessage): Awaitable<void> {
    if (this.missed !== undefined) return this.missed.add(change)
    const text = this.body.isOpen ? messageText(change, this.#context.host.report) : undefined
    return text === undefined ? undefined : this.#send(text)
  }

  #tellAll(missed: Missed | undefined): void {
    for (const text of missed ?? []) void this.#send(text)
  }

  #send(text: string): Awaitable<void> {
    return this.stored === undefined ? this.body.send(encodeEvent({ data: text })) : this.stored.send(text)
  }

  /** Nobody is told any more; what was not told is left to the store. */
  #leave(): void {
    const stop = this.#stop
    if (stop === left) return
    this.#stop = left
    clearTimeout(this.#waiting)
    if (this.#context.away.delete(this)) this.#live.readers += 1
    try {
      stop?.()
    } catch (problem) {
      this.#context.host.report(problem as Error)
    }
    const { missed, stored } = this
    this.missed = undefined
    stored?.expectNobody()
    if (!this.#live.isOver) this.#tellAll(missed)
    // Who comes meanwhile goes on with this stream: in the store it might miss what is not there yet.
    if (stored?.stored === undefined) this.#forget()
    else void stored.stored.then(() => this.#forget())
  }

  #forget(): void {
    const live = this.#live
    if (live.feed === this) live.feed = undefined
    this.#context.streams.leave(live)
  }
}
