/** Opens the streams of a session: with events that are kept where the revision and the options have it so. */

import type { Awaitable, Revision } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { encodeEvent } from '@mcpx/sse/encode'
import { EventStream } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
import type { MessageStream } from '../lazy-reply.ts'
import type { SessionOptions } from '../options.ts'
import type { LiveSession, LiveSessions } from './legacy-live.ts'
import type { Records } from './legacy-records.ts'
import { type Keeping, StoredStream } from './legacy-stored-stream.ts'
import { storeWhole } from './legacy-whole-stream.ts'

/** Clients before this one take an event without data for a broken message. */
const FIRST_WITH_EMPTY_EVENTS = '2025-11-25' satisfies Revision

const DEFAULT_RETRY = 1_000

/** `post`: answers a POST. `feed`: carries what is said unasked. */
type StreamKind = 'post' | 'feed'

export class LegacyStreams {
  /** Absent where no events are kept. */
  readonly keeping: Keeping | undefined
  readonly #host: Host
  readonly #sessions: LiveSessions
  readonly #refresh: (live: LiveSession) => void
  /** With the count, no stream of any process has the name of another. Runtimes for workers have no random values before a request. */
  #suffix: string | undefined
  #count = 0

  constructor(host: Host, { live, refresh }: Records) {
    // Without a session nobody can come back for the rest of a stream.
    const without = { events: false } as const
    const options: SessionOptions = host.options.sessions === false ? without : (host.options.sessions ?? {})
    const events = options.events === false ? undefined : (options.events ?? createMemoryEventStore())
    this.keeping = events && { events, retry: options.retry ?? DEFAULT_RETRY, report: host.report }
    this.#host = host
    this.#sessions = live
    this.#refresh = refresh
  }

  /** Whether other processes may serve the same session. */
  get areShared(): boolean {
    return this.#sessions.isShared
  }

  keepsEventsOf({ state: { revision } }: LiveSession): boolean {
    return this.keeping !== undefined && revision !== undefined && revision >= FIRST_WITH_EMPTY_EVENTS
  }

  /**
   * The name of a new stream. It begins with its session's: no other session is given its events. It is no part of the
   * name of any other.
   */
  newId(live: LiveSession, kind: StreamKind): string {
    this.#suffix ??= crypto.randomUUID().slice(0, 8)
    this.#count += 1
    // A number that becomes a text by itself stays in a cache of the engine.
    return `${live.id}~${kind}~${JSON.stringify(this.#count)}-${this.#suffix}`
  }

  kindOf(streamId: string, live: LiveSession): StreamKind | undefined {
    if (streamId.startsWith(`${live.id}~post~`)) return 'post'
    return streamId.startsWith(`${live.id}~feed~`) ? 'feed' : undefined
  }

  /** Whether an event was one of the session's own feed, by its name alone: stores forget events. */
  isOfFeed(eventId: string, live: LiveSession): boolean {
    return eventId.includes(`${live.id}~feed~`)
  }

  /** Whether a process is there that goes on with a stream of POST. */
  isWritten(live: LiveSession, streamId: string): Promise<boolean> {
    return this.#sessions.isWritten(live, streamId)
  }

  /** Holds the session for as long as a client reads. */
  enter(live: LiveSession): void {
    live.readers += 1
    live.holders += 1
    this.#sessions.keep(live)
  }

  leave(live: LiveSession): void {
    live.readers -= 1
    this.#sessions.release(live)
  }

  /** One client reading one stream. The session is held, and lives on, until it goes. */
  openReader(
    live: LiveSession,
    inbound: Inbound,
    onLeft: (reader: EventStream) => void,
    onTick?: () => void,
  ): EventStream {
    this.enter(live)
    const left = () => {
      onLeft(reader)
      this.leave(live)
    }
    const tick = () => {
      this.#refresh(live)
      onTick?.()
    }
    const reader: EventStream = new EventStream(this.#host, { onGone: left, onEnd: left, onTick: tick }, inbound)
    return reader
  }

  /** The stream of what is said unasked, where its events are kept. Nobody looks for it while it is written to. */
  openFeed(live: LiveSession, id: string | undefined): StoredStream | undefined {
    const { keeping } = this
    if (keeping === undefined || !this.keepsEventsOf(live)) return undefined
    return new StoredStream(keeping, id ?? this.newId(live, 'feed'))
  }

  #openStored(live: LiveSession, keeping: Keeping): StoredStream {
    const id = this.newId(live, 'post')
    const stream = new StoredStream(keeping, id, () => {
      live.streams.delete(id)
      this.#sessions.release(live)
    })
    live.holders += 1
    this.#sessions.keep(live)
    live.streams.set(id, stream)
    return stream
  }

  /** The stream of a POST. `onLost` is called when what comes next reaches nobody. */
  openPost(live: LiveSession, inbound: Inbound, onLost: () => void): MessageStream {
    const { keeping } = this
    if (keeping === undefined || !this.keepsEventsOf(live)) {
      const reader = this.openReader(live, inbound, onLost)
      return {
        body: reader,
        send: (text) => reader.send(encodeEvent({ data: text })),
        end: () => reader.end(),
      }
    }
    const stream = this.#openStored(live, keeping)
    const onTick = () => stream.refresh()
    const reader = this.openReader(live, inbound, (gone) => stream.detach(gone), onTick)
    void stream.open(reader)
    return {
      body: reader,
      send: (text) => stream.send(text),
      end: () => stream.end(),
      closeStream: () => stream.closeStream(),
    }
  }

  /** The text of a stream of POST that nobody reads before it has ended. Its events are kept as those of any other. */
  whole(live: LiveSession, messages: readonly string[]): Awaitable<string> {
    const { keeping } = this
    if (keeping === undefined || !this.keepsEventsOf(live))
      return messages.map((data) => encodeEvent({ data })).join('')
    const { events, retry, report } = keeping
    return storeWhole({ events, id: this.newId(live, 'post'), first: { retry }, report }, messages)
  }
}
