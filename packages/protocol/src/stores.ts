/**
 * The interfaces of stores for state that several requests or processes share: records such as sessions, sent events,
 * messages between processes, counts, used ids and tasks. All values are JSON.
 */

import type { Awaitable } from './async.ts'
import type { SessionState } from './exchange.ts'
import type { JsonObject } from './messages.ts'

/** Stores records by id. A record expires when it is not used for its time to live. */
export interface RecordStore<T extends object = JsonObject> {
  /** Stores a new record. Fails if the id exists. A full store may drop the least recently used record. */
  create(id: string, record: T, ttl: number): Awaitable<void>
  /**
   * Returns the record, or undefined if it does not exist or has expired. Restarts its time to live if `ttl` is given.
   */
  get(id: string, ttl?: number): Awaitable<Readonly<T> | undefined>
  /**
   * Changes the newest record atomically, so that concurrent updates of several processes all take effect. Returns the
   * changed record, or undefined if it does not exist. `change` modifies its argument and may be called more than once.
   * If it throws, the record is unchanged. Does not restart the time to live.
   */
  update(id: string, change: (record: T) => void): Awaitable<Readonly<T> | undefined>
  /** Deletes a record. Returns whether it existed. */
  delete(id: string): Awaitable<boolean>
}

/** Stores the records of legacy sessions. */
export type SessionStore = RecordStore<SessionState>

/** An event of a stream that a client can resume. */
export interface StoredEvent {
  /** The id that the client sends to resume after this event. */
  readonly id: string
  /** One message as JSON, or an empty string for an event that is only a position to resume from. */
  readonly data: string
}

/** The stored events that a client has missed. */
export interface EventReplay {
  /** The stream that the last event belongs to. */
  readonly streamId: string
  /** The events after the last event. */
  readonly events: readonly StoredEvent[]
  /** Whether the stream is complete. */
  readonly ended: boolean
}

/** Stores the events of SSE streams, so that a client that lost a stream can resume it. */
export interface EventStore {
  /**
   * Stores one event at the end of a stream and returns its id, which is unique over all streams. All readers see the
   * events of concurrent writers in the same order. If the event id contains the stream id, a client can resume an open
   * stream even after the event was dropped.
   *
   * @param caller the caller of the stream; a full store drops the streams of the caller that uses the most. Default:
   * unknown
   */
  append(streamId: string, data: string, caller?: string | undefined): Awaitable<string>
  /** Marks a stream as complete. It accepts no more events. */
  end(streamId: string): Awaitable<void>
  /** Returns the events after an event, or undefined if the event is unknown or expired. */
  replay(lastEventId: string): Awaitable<EventReplay | undefined>
  /**
   * Yields the events after an event, in order and each once: first the stored events, then new events of every process
   * when they are stored. Returns after the last event of an ended stream, and when the signal is aborted. Throws if
   * the event is unknown, or was dropped while the reader was behind.
   */
  follow(lastEventId: string, signal: AbortSignal): AsyncIterable<StoredEvent>
  /**
   * Restarts the time to live of a stream, if the store limits it. Called for open streams: with each keep-alive
   * comment (every 15 s by default), and once a minute while no reader is connected. Does not restore a dropped stream.
   */
  refresh?(streamId: string): Awaitable<void>
  /** Deletes a stream with its events. */
  delete(streamId: string): Awaitable<void>
}

/** Sends messages between the processes of one endpoint. Messages without a subscriber are lost. */
export interface EventBus {
  /**
   * Publishes a message. Resolves when it was sent, and rejects if it cannot be sent. Messages of a topic arrive in the
   * order of publication. Subscriptions of the publishing process receive them as well.
   */
  publish(topic: string, message: string): Awaitable<void>
  /**
   * Subscribes to a topic until the returned function is called. Resolves when the subscription is active. From then
   * on, messages of all processes arrive. A listener that throws does not affect other listeners.
   *
   * @param onGap called when the subscription is active again after messages may have been lost, for example with a
   * connection
   */
  subscribe(
    topic: string,
    listener: (message: string) => void,
    onGap?: (() => void) | undefined,
  ): Awaitable<() => Awaitable<void>>
}

/** The count of one key in the current window. */
export interface Count {
  /** The number of requests in the window, including this one. */
  readonly count: number
  /** The end of the window, in ms since 1970. */
  readonly resetsAt: number
}

/** Stores the counts of rate limits. Processes that serve one endpoint should share a store. */
export interface CounterStore {
  /** Increments the count of a key atomically. The first count of a key starts a window of this many ms. */
  increment(key: string, window: number): Awaitable<Count>
}

/** Stores the ids of used proofs (DPoP). All processes that serve one endpoint share it. */
export interface ReplayStore {
  /**
   * Stores an id for a number of ms, in one atomic step. Returns whether it was new. Throws if it cannot be stored; the
   * proof is refused then.
   *
   * @param caller the caller of the proof; a store with a limit gives each caller a share. Default: unknown
   */
  add(id: string, ttl: number, caller?: string | undefined): Awaitable<boolean>
}

/** The process that works on a task, and for how long. */
export interface TaskLease {
  /** The id of the process, of at most 128 characters. */
  readonly owner: string
  /** How long the lease lasts unless it is renewed, in ms. A lease of 0 ms lapses at once. */
  readonly duration: number
}

/** A stored task. */
export interface StoredTask {
  /** The id of the task. */
  readonly id: string
  /** The version of the task: a whole number that is greater after each `update` and `claim`. */
  readonly version: number
  /** The data of the task, as it was stored. */
  readonly data: string
  /** The process that holds the lease. Undefined if the task has none. A lapsed lease is still held until it is claimed. */
  readonly owner: string | undefined
  /** How long the task is kept from now on, in ms. */
  readonly ttl: number
}

/**
 * Stores tasks: calls that can continue after their request and their process have ended. A lease says which process
 * works on a task. If the process crashes, the lease lapses, and another process claims the task. Every method is
 * atomic over all processes. Times are durations, which the store measures with its own clock, because the clocks of
 * processes differ.
 */
export interface TaskStore {
  /**
   * Stores a new task for `ttl` ms, with version 1. When it resolves, every process can read the task. Fails if the id
   * exists. Also fails if the store is full, because a task is never dropped before it expires.
   *
   * @param data any string; it is returned unchanged
   * @param lease Default: no process works on the task
   * @param caller the caller of the task; a store with a limit gives each caller a share. Default: unknown
   */
  create(
    id: string,
    data: string,
    ttl: number,
    lease?: TaskLease | undefined,
    caller?: string | undefined,
  ): Awaitable<void>
  /** Returns the newest state of a task, or undefined if it does not exist or has expired. */
  get(id: string): Awaitable<StoredTask | undefined>
  /**
   * Replaces the data of a task if it still has this version, and increases the version by one. Returns whether the
   * data was replaced. Returns false for an unknown task. Of several calls with the same version, only one returns
   * true. Does not change the time to live, and ends the lease only if `ends` is true.
   *
   * @param ends whether the lease ends, because no process works on the task any more. Default: false
   */
  update(id: string, version: number, data: string, ends?: boolean): Awaitable<boolean>
  /**
   * Restarts the lease of a task for its owner. A lapsed lease can also be restarted, unless another process has
   * claimed the task. Returns the version of the task, so that its owner notices updates of other processes. Returns
   * undefined if the task does not exist, has no lease, or has another owner.
   */
  renew(id: string, lease: TaskLease): Awaitable<number | undefined>
  /**
   * Finds one task whose lease has lapsed, assigns it to this process with a new lease, and returns it. Its version
   * increases by one, so that updates of the old owner fail. Returns undefined if there is no such task. If several
   * processes call it at the same time, each receives a different task.
   */
  claim(lease: TaskLease): Awaitable<StoredTask | undefined>
}

/**
 * Stores the state that the processes of one server share. `createServer`, the transports and middleware use its parts.
 * To combine stores, spread them: `{ ...memoryStore(), bus }`. If a store is unavailable, it throws an error whose
 * member `retryable` is true. Over HTTP, the server then responds with 503 and `Retry-After`; requests about tasks fail
 * with the error -32603 and the reason `store`.
 */
export interface Store {
  /** The records of legacy sessions. */
  readonly sessions: SessionStore
  /** The records of other features, such as the logins of an OAuth front. MCP clients cannot access them by id. */
  readonly records: RecordStore
  /** The events of streams that clients can resume. */
  readonly events: EventStore
  /** Messages between the processes. */
  readonly bus: EventBus
  /** The counts of rate limits. */
  readonly counters: CounterStore
  /** The ids of used proofs (DPoP). */
  readonly replays: ReplayStore
  /** The tasks. Default: none; then the tasks extension needs another store. */
  readonly tasks?: TaskStore | undefined
  /**
   * Ends all subscriptions and followed streams, and closes the connections that the store has opened. Servers do not call
   * it, because several servers may share a store. Default: nothing has to be closed.
   */
  close?(): Awaitable<void>
}
