/** The event store: a table of streams, and a table of their events. */

import { type EventReplay, type EventStore, followByReplay, type StoredEvent } from '@mcpx/protocol'
import type { SqliteEventBus } from './bus.ts'
import { type Database, NOW } from './database.ts'
import type { SqliteStoreOptions } from './options.ts'

interface EventRow {
  readonly id: number | bigint
  readonly data: string
  readonly ended: number | bigint
}

const EVENT_ID = /^(.*)\.([1-9]\d{0,14})$/s

/** Stores the events of SSE streams. A process that follows a stream learns of new events through the event bus. */
export class SqliteEventStore implements EventStore {
  readonly #database: Database
  readonly #bus: SqliteEventBus
  readonly #streams: string
  readonly #events: string
  readonly #ttl: number
  readonly #maxEvents: number
  /** Aborted when the store is closed. */
  readonly #closing = new AbortController()

  constructor(database: Database, bus: SqliteEventBus, { eventTtl = 300_000, maxEvents = 1_000 }: SqliteStoreOptions) {
    this.#database = database
    this.#bus = bus
    this.#streams = `${database.prefix}streams`
    this.#events = `${database.prefix}events`
    this.#ttl = eventTtl
    this.#maxEvents = maxEvents
  }

  async append(streamId: string, data: string): Promise<string> {
    const id = this.#database.write('append', () => this.#add(streamId, data))
    if (id === undefined) throw new Error('The stream has ended and accepts no more events')
    return `${streamId}.${id}`
  }

  /** Adds an event within a transaction. Returns undefined if the stream has ended. */
  #add(streamId: string, data: string): number | undefined {
    const database = this.#database
    database.run(`DELETE FROM ${this.#streams} WHERE id = ? AND expires_at <= ${NOW}`, streamId)
    const stream = database.get<{ size: number | bigint }>(
      `INSERT INTO ${this.#streams} (id, size, expires_at) VALUES (?, 1, ${NOW} + ?)
      ON CONFLICT (id) DO UPDATE SET size = size + 1, expires_at = excluded.expires_at WHERE ended = 0
      RETURNING size`,
      streamId,
      this.#ttl,
    )
    if (stream === undefined) return undefined
    if (Number(stream.size) > this.#maxEvents) this.#dropOldest(streamId)
    const event = database.get<{ id: number | bigint }>(
      `INSERT INTO ${this.#events} (stream, data) VALUES (?, ?) RETURNING id`,
      streamId,
      data,
    )
    this.#bus.add(topicOf(streamId), '')
    return Number(event?.id)
  }

  #dropOldest(streamId: string): void {
    this.#database.run(
      `DELETE FROM ${this.#events} WHERE id = (SELECT min(id) FROM ${this.#events} WHERE stream = ?)`,
      streamId,
    )
    this.#database.run(`UPDATE ${this.#streams} SET size = size - 1 WHERE id = ?`, streamId)
  }

  async end(streamId: string): Promise<void> {
    this.#database.write('end', () => {
      this.#touch(streamId)
      this.#database.run(`UPDATE ${this.#streams} SET ended = 1 WHERE id = ?`, streamId)
      this.#bus.add(topicOf(streamId), '')
    })
  }

  async replay(lastEventId: string): Promise<EventReplay | undefined> {
    const [, streamId] = EVENT_ID.exec(lastEventId) ?? []
    if (streamId === undefined) return undefined
    return this.#database.write('replay', () => {
      const missed = this.#eventsAfter(lastEventId)
      if (missed !== undefined) this.#touch(streamId)
      return missed
    })
  }

  /** Returns the events after an event, or undefined if the event is unknown or expired. Does not restart the time to live. */
  #eventsAfter(lastEventId: string): EventReplay | undefined {
    const [, streamId, lastId] = EVENT_ID.exec(lastEventId) ?? []
    if (streamId === undefined) return undefined
    const rows = this.#database.all<EventRow>(
      `SELECT event.id, event.data, stream.ended
      FROM ${this.#events} AS event JOIN ${this.#streams} AS stream ON stream.id = event.stream
      WHERE event.stream = ? AND event.id >= ? AND stream.expires_at > ${NOW}
      ORDER BY event.id`,
      streamId,
      Number(lastId),
    )
    const [last, ...missed] = rows
    if (last === undefined || Number(last.id) !== Number(lastId)) return undefined
    const events = missed.map(({ id, data }) => ({ id: `${streamId}.${id}`, data }))
    return { streamId, events, ended: Number(last.ended) === 1 }
  }

  async *follow(lastEventId: string, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const streamId = lastEventId.slice(0, lastEventId.lastIndexOf('.'))
    const signals = [signal, this.#closing.signal]
    if (!signals.some(({ aborted }) => aborted)) await this.refresh(streamId)
    yield* followByReplay(lastEventId, signals, {
      replay: (last) => this.#database.within('follow', () => this.#eventsAfter(last)),
      subscribe: (listener) => this.#bus.subscribe(topicOf(streamId), listener, listener),
    })
  }

  async refresh(streamId: string): Promise<void> {
    this.#database.write('refresh', () => this.#touch(streamId))
  }

  /** Restarts the time to live of a stream within a transaction. */
  #touch(streamId: string): void {
    this.#database.run(
      `UPDATE ${this.#streams} SET expires_at = ${NOW} + ? WHERE id = ? AND expires_at > ${NOW}`,
      this.#ttl,
      streamId,
    )
  }

  async delete(streamId: string): Promise<void> {
    this.#database.write('delete', () => {
      this.#database.run(`DELETE FROM ${this.#streams} WHERE id = ?`, streamId)
      this.#bus.add(topicOf(streamId), '')
    })
  }

  /** Ends all followed streams. */
  close(): void {
    this.#closing.abort()
  }
}

const topicOf = (streamId: string) => `events:${streamId}`
