/** Opens the streams of a session: with events that are kept where the revision and the options have it so. */

import type { AuthInfo, Awaitable, EventStore, Revision } from '@mcpx/protocol'
import { createMemoryEventStore } from '@mcpx/protocol/memory'
import { encodeEvent } from '@mcpx/sse/encode'
import { EventStream } from '../event-stream.ts'
import type { Host } from '../host.ts'
import type { MessageStream } from '../lazy-reply.ts'
import type { LiveSession, LiveSessions } from './legacy-live.ts'
import { StoredStream } from './legacy-stored-stream.ts'
import { storeWhole } from './legacy-whole-stream.ts'

/** Clients before this one take an event without data for a broken message. */
const FIRST_WITH_EMPTY_EVENTS = '2025-11-25' satisfies Revision

const DEFAULT_RETRY = 1_000

/** `post`: answers a POST. `feed`: carries what is said unasked. */
type StreamKind = 'post' | 'feed'

export class LegacyStreams {
  readonly events: EventStore | undefined
  readonly #host: Host
  readonly #sessions: LiveSessions
  readonly #retry: number
  /** With the count, no stream of any process has the name of another. Runtimes for workers have no random values before a request. */
  #prefix: string | undefined
  #count = 0

  constructor(host: Host, sessions: LiveSessions) {
    const options = host.options.sessions === false ? {} : (host.options.sessions ?? {})
    this.events = options.events === false ? undefined : (options.events ?? createMemoryEventStore())
    this.#host = host
    this.#sessions = sessions
    this.#retry = options.retry ?? DEFAULT_RETRY
  }

  keepsEventsOf({ state: { revision } }: LiveSession): boolean {
    return this.events !== undefined && revision !== undefined && revision >= FIRST_WITH_EMPTY_EVENTS
  }

  /** The name of a new stream. It begins with its session's: no other session is given its events. */
  newId(live: LiveSession, kind: StreamKind): string {
    this.#prefix ??= crypto.randomUUID().slice(0, 8)
    this.#count += 1
    return `${live.id}~${kind}~${this.#prefix}-${this.#count}`
  }

  kindOf(streamId: string, live: LiveSession): StreamKind | undefined {
    if (streamId.startsWith(`${live.id}~post~`)) return 'post'
    return streamId.startsWith(`${live.id}~feed~`) ? 'feed' : undefined
  }

  /** Whether a process is there that goes on with a stream of POST. */
  isWritten(live: LiveSession, streamId: string): Promise<boolean> {
    return this.#sessions.isWritten(live, streamId)
  }

  /** One client reading one stream. The session is held until it goes. */
  openReader(
    live: LiveSession,
    auth: AuthInfo | undefined,
    onGone: (reader: EventStream) => void,
    onTick?: () => void,
  ): EventStream {
    live.readers += 1
    live.holders += 1
    this.#sessions.keep(live)
    let isOpen = true
    const leave = () => {
      if (!isOpen) return
      isOpen = false
      live.readers -= 1
      onGone(reader)
      this.#sessions.release(live)
    }
    const { keepAlive, limits, report } = this.#host
    const reader: EventStream = new EventStream({
      keepAlive,
      maxUnsent: limits.unsent,
      report,
      expiresAt: auth?.expiresAt,
      onTick,
      onGone: leave,
      onEnd: leave,
    })
    return reader
  }

  openStored(live: LiveSession, events: EventStore, id: string): StoredStream {
    const stream = new StoredStream({
      id,
      events,
      retry: this.#retry,
      onEnd: () => {
        live.streams.delete(id)
        this.#sessions.release(live)
      },
      report: this.#host.report,
    })
    live.holders += 1
    this.#sessions.keep(live)
    live.streams.set(id, stream)
    return stream
  }

  /** The stream of a POST. `onLost` is called when what comes next reaches nobody. */
  openPost(live: LiveSession, auth: AuthInfo | undefined, onLost: () => void): MessageStream {
    const { events } = this
    if (events === undefined || !this.keepsEventsOf(live)) {
      const reader = this.openReader(live, auth, onLost)
      return {
        body: reader,
        send: (text) => reader.send(encodeEvent({ data: text })),
        end: () => reader.end(),
      }
    }
    const stream = this.openStored(live, events, this.newId(live, 'post'))
    const reader = this.openReader(live, auth, (gone) => stream.detach(gone))
    void stream.open(reader)
    return {
      body: reader,
      send: (text) => stream.send(text),
      end: () => stream.end(),
      letGo: () => stream.letGo(),
    }
  }

  /** The text of a stream of POST that nobody reads before it has ended. Its events are kept as those of any other. */
  whole(live: LiveSession, messages: readonly string[]): Awaitable<string> {
    const { events } = this
    if (events === undefined || !this.keepsEventsOf(live)) return messages.map((data) => encodeEvent({ data })).join('')
    const first = { retry: this.#retry }
    return storeWhole({ events, id: this.newId(live, 'post'), first, report: this.#host.report }, messages)
  }
}
