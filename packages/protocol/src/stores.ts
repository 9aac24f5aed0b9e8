/**
 * State that outlives a request: sessions, sent events, messages between processes. Stores hold JSON values, so any
 * process can use them.
 */

import type { Awaitable } from './async.ts'
import type { SessionState } from './exchange.ts'

/** Stores the records of legacy sessions. A record expires when it is not used for its time to live. */
export interface SessionStore {
  /** Stores a new record. Fails if the id is taken. A full store may drop the record that was not used for longest. */
  create(id: string, state: SessionState, ttl: number): Awaitable<void>
  /**
   * Returns the record, or undefined if it does not exist or has expired. Restarts its time to live if `ttl` is given.
   */
  get(id: string, ttl?: number): Awaitable<Readonly<SessionState> | undefined>
  /**
   * Changes the newest record as one step: two updates at the same time, from two processes, both take effect. Returns
   * the record after the change, or undefined if it does not exist. `change` works in place and may be called again.
   * Does not restart the time to live. When `change` throws, nothing changes.
   */
  update(id: string, change: (state: SessionState) => void): Awaitable<Readonly<SessionState> | undefined>
  /** Returns whether there was a record to delete. */
  delete(id: string): Awaitable<boolean>
}

/** An event of a stream that a client can resume. */
export interface StoredEvent {
  /** The id that the client sends to resume after this event. */
  readonly id: string
  /** The text of one message, or an empty string for an event that only marks a place. */
  readonly data: string
}

/** The stored events that a client has missed. */
export interface EventReplay {
  /** The stream that the last event belongs to. */
  readonly streamId: string
  /** The events of that stream after it. */
  readonly events: readonly StoredEvent[]
  /** The stream is complete. */
  readonly ended: boolean
}

/** Stores the events of SSE streams, so that a client that lost a stream can resume it. */
export interface EventStore {
  /**
   * Stores one event at the end of a stream and returns its id. The id is unique among all streams. If it contains the
   * name of its stream as it is, a client can resume a stream that is still open after its events were dropped.
   */
  append(streamId: string, data: string): Awaitable<string>
  /** Marks a stream as complete. */
  end(streamId: string): Awaitable<void>
  /** Returns the events after an event, or undefined when the event is unknown or expired. */
  replay(lastEventId: string): Awaitable<EventReplay | undefined>
  /**
   * Restarts the time to live of a stream, if it has one. Called for open streams: whenever a comment is sent to the
   * reader (every 15 s by default), and once a minute while the reader is expected to return. A dropped stream stays
   * dropped.
   */
  refresh?(streamId: string): Awaitable<void>
  /** Drops a stream. */
  delete(streamId: string): Awaitable<void>
}

/** Sends messages between the processes of one endpoint. Messages without a subscriber are lost. */
export interface EventBus {
  /** Resolves when the message is sent. The messages of a topic arrive in the order in which they were published. */
  publish(topic: string, message: string): Awaitable<void>
  /** Subscribes to a topic until the returned function is called. A listener that throws does not affect the others. */
  subscribe(topic: string, listener: (message: string) => void): Awaitable<() => Awaitable<void>>
}
