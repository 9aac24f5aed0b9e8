/** State that outlives a request. Small ports over JSON values, so that any process can carry on. */

import type { Awaitable } from './awaitable.ts'
import type { SessionState } from './session.ts'

/** Keeps the records of legacy sessions. A record dies when nobody has used it for its time to live. */
export interface SessionStore {
  /** Stores a new record. Fails if the id is taken. A full store may forget the record unused for longest. */
  create(id: string, state: SessionState, ttlMs: number): Awaitable<void>
  /** The record, or nothing when there is none or it has died. Starts its time to live again when one is given. */
  get(id: string, ttlMs?: number): Awaitable<Readonly<SessionState> | undefined>
  /**
   * Changes the newest record as one step: two updates at once, from two processes, both take effect. Returns
   * the record after the change, or nothing when there is none. `change` works in place and may run again.
   * Does not start the time to live again. When `change` throws, nothing has changed.
   */
  update(id: string, change: (state: SessionState) => void): Awaitable<Readonly<SessionState> | undefined>
  /** Whether there was a record to delete. */
  delete(id: string): Awaitable<boolean>
}

export interface StoredEvent {
  readonly id: string
  /** The text of one message, or nothing for an event that only marks a place. */
  readonly data: string
}

export interface EventReplay {
  /** The stream that the last event belongs to. */
  readonly streamId: string
  /** What came on that stream after it. */
  readonly events: readonly StoredEvent[]
  /** Nothing more will come on that stream. */
  readonly ended: boolean
}

/** Keeps what was sent on streams, so that a client that lost one can have the rest. */
export interface EventStore {
  /**
   * Stores one event at the end of a stream. The id is unique among all streams and names its stream: where it holds the
   * name as it is, a client goes on with a stream that is still written to, or told unasked, after its events are forgotten.
   */
  append(streamId: string, data: string): Awaitable<string>
  /**
   * Stores a stream that has ended before anybody reads it, and gives the ids of its events, in order: most answers that
   * are streams. Default: each is appended, one after the other, and the stream is ended. What wraps a store, and has an
   * `append` of its own, needs one of its own, too, or none.
   */
  appendWhole?(streamId: string, texts: readonly string[]): Awaitable<readonly string[]>
  /** Marks a stream as complete. */
  end(streamId: string): Awaitable<void>
  /** What came after an event; nothing when that event is not known, or no longer. */
  replay(lastEventId: string): Awaitable<EventReplay | undefined>
  /**
   * Starts the time to live of a stream again, where it has one. Called for streams that have not ended: whenever a
   * comment is sent to their reader, every 15 s by default; once a minute while one is expected back. A stream that was
   * forgotten stays so.
   */
  refresh?(streamId: string): Awaitable<void>
  /** Forgets a stream. */
  delete(streamId: string): Awaitable<void>
}

/** Carries messages between the processes that serve one endpoint. Whoever is not listening misses them. */
export interface EventBus {
  /** Resolves when the message is on its way. A topic's messages arrive in the order they were published in. */
  publish(topic: string, message: string): Awaitable<void>
  /** Hears a topic until the returned function is called. A listener that throws does not disturb the others. */
  subscribe(topic: string, listener: (message: string) => void): Awaitable<() => Awaitable<void>>
}
