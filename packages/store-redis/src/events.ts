/** The event store: one Redis stream for each SSE stream. */

import { type EventReplay, type EventStore, followByReplay, type StoredEvent } from '@mcpx/protocol'
import type { RedisEventBus } from './bus.ts'
import type { Redis } from './redis.ts'

/** An entry as Redis returns it: its id, and a list of names and values. An entry named `end` completes the stream. */
type Entry = readonly [id: string, fields: readonly [name: 'data' | 'end', value: string]]

/**
 * Adds an entry, restarts the time to live, and notifies the followers. The id of the first entry is the time in microseconds,
 * so that a stream that was deleted and created again does not repeat ids. Returns false if the stream has ended.
 */
const APPEND = `
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local id = '*'
if newest then
  if newest[2][1] == 'end' then return false end
elseif ARGV[1] == 'end' then
  return false
else
  local time = redis.call('TIME')
  id = time[1] .. string.format('%03d', math.floor(time[2] / 1000)) .. '-' .. (time[2] % 1000) .. '000'
end
id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], id, ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[5], '')
return id`

/** Returns an entry and all later entries, and restarts the time to live. Returns false if the entry does not exist. */
const REPLAY = `
local entries = redis.call('XRANGE', KEYS[1], ARGV[1], '+')
if not entries[1] or entries[1][1] ~= ARGV[1] then return false end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return entries`

const DELETE = `
redis.call('UNLINK', KEYS[1])
redis.call('PUBLISH', ARGV[1], '')`

const EVENT_ID = /^(.*)\.(\d{1,20}-\d{1,20})$/s

/** Stores the events of SSE streams. A process that follows a stream learns of new events through the event bus. */
export class RedisEventStore implements EventStore {
  readonly #redis: Redis
  readonly #bus: RedisEventBus
  readonly #ttl: number
  readonly #maxEvents: number
  /** Aborted when the store is closed. */
  readonly #closing = new AbortController()

  constructor(redis: Redis, bus: RedisEventBus, ttl: number, maxEvents: number) {
    this.#redis = redis
    this.#bus = bus
    this.#ttl = ttl
    this.#maxEvents = maxEvents
  }

  async append(streamId: string, data: string): Promise<string> {
    const id = await this.#add(streamId, 'data', data)
    if (id === null) throw new Error('The stream has ended and accepts no more events')
    return `${streamId}.${id}`
  }

  async end(streamId: string): Promise<void> {
    await this.#add(streamId, 'end', '')
  }

  #add(streamId: string, name: 'data' | 'end', value: string): Promise<unknown> {
    const channel = this.#bus.channelOf(topicOf(streamId))
    return this.#redis.run(APPEND, this.#keyOf(streamId), name, value, this.#maxEvents, this.#ttl, channel)
  }

  async replay(lastEventId: string): Promise<EventReplay | undefined> {
    const [, streamId, lastId] = EVENT_ID.exec(lastEventId) ?? []
    if (streamId === undefined || lastId === undefined) return undefined
    const entries = (await this.#redis.run(REPLAY, this.#keyOf(streamId), lastId, this.#ttl)) as readonly Entry[] | null
    if (entries === null) return undefined
    const events: StoredEvent[] = []
    for (const [id, [name, data]] of entries.slice(1)) {
      if (name === 'data') events.push({ id: `${streamId}.${id}`, data })
    }
    return { streamId, events, ended: entries.at(-1)?.[1][0] === 'end' }
  }

  follow(lastEventId: string, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const topic = topicOf(lastEventId.slice(0, lastEventId.lastIndexOf('.')))
    return followByReplay(lastEventId, [signal, this.#closing.signal], {
      replay: (last) => this.replay(last),
      subscribe: (listener) => this.#bus.subscribe(topic, listener, listener),
    })
  }

  async refresh(streamId: string): Promise<void> {
    await this.#redis.send('PEXPIRE', this.#keyOf(streamId), this.#ttl)
  }

  async delete(streamId: string): Promise<void> {
    await this.#redis.run(DELETE, this.#keyOf(streamId), this.#bus.channelOf(topicOf(streamId)))
  }

  /** Ends all followed streams. */
  close(): void {
    this.#closing.abort()
  }

  #keyOf(streamId: string): string {
    return `${this.#redis.prefix}events:${streamId}`
  }
}

const topicOf = (streamId: string) => `events:${streamId}`
