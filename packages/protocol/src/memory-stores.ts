/** Stores in the memory of one process: events of SSE streams, and an event bus. Also a map whose entries expire. */

import { checkNumbers, refuseUnknownOption } from './options.ts'
import { CallerUsage } from './shared-limit.ts'
import { ShortLivedMap } from './short-lived-map.ts'
import { followByReplay } from './store-helpers.ts'
import type { EventBus, EventReplay, EventStore } from './stores.ts'

interface Entry<V> {
  readonly value: V
  /** When the entry expires, in ms since 1970. */
  expiresAt: number
}

/**
 * A map with a time to live per entry. A full map drops the least recently used entry. There is no timer: each use of the
 * map drops expired entries, starting with the least recently used one, until it finds one that has not expired.
 */
export class ExpiringMap<V> {
  readonly #maxEntries: number
  readonly #onEvict: ((key: string, value: V) => void) | undefined
  /** The entries, least recently used first. */
  readonly #entries = new ShortLivedMap<string, Entry<V>>()
  /** The earliest time at which an entry may expire, in ms since 1970. */
  #nextExpiry = Number.POSITIVE_INFINITY
  /** The most recently used key. If it is in the map, it is the last entry. */
  #newest: string | undefined

  /** @param onEvict called with each entry that expired or was dropped */
  constructor(maxEntries: number, onEvict?: (key: string, value: V) => void) {
    this.#maxEntries = maxEntries
    this.#onEvict = onEvict
  }

  /** Returns the value if it has not expired. Counts as a use. Restarts the time to live if `ttl` is given. */
  get(key: string, ttl?: number): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const now = Date.now()
    if (entry.expiresAt <= now) {
      this.#evict(key)
      return undefined
    }
    if (ttl !== undefined) entry.expiresAt = now + ttl
    this.#use(key, entry, now)
    return entry.value
  }

  set(key: string, value: V, ttl: number): void {
    const now = Date.now()
    const expiresAt = now + ttl
    this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt)
    this.#use(key, { value, expiresAt }, now)
    if (this.#entries.size > this.#maxEntries) this.dropOldest()
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Drops the least recently used entry that matches. Default: any entry matches. Returns whether there was one. */
  dropOldest(matches: (value: V) => boolean = () => true): boolean {
    for (const [key, { value }] of this.#entries) {
      if (!matches(value)) continue
      this.#evict(key)
      return true
    }
    return false
  }

  #use(key: string, entry: Entry<V>, now: number): void {
    // Deleting an entry before it is set again moves it to the end.
    if (key !== this.#newest) this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#newest = key
    if (now < this.#nextExpiry) return
    for (const [oldKey, { expiresAt }] of this.#entries) {
      this.#nextExpiry = expiresAt
      if (expiresAt > now) return
      this.#evict(oldKey)
    }
  }

  #evict(key: string): void {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (entry !== undefined) this.#onEvict?.(key, entry.value)
  }
}

// Events

/** Options of `createMemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** How long a stream is kept after its last append, replay or refresh, in ms. Default: 300,000. */
  ttl?: number
  /**
   * The largest number of complete streams that are kept. Above it, the caller that uses the most loses its least
   * recently used one. Default: 1,000.
   */
  maxStreams?: number
  /**
   * The largest number of open streams that are kept. Above it, the caller that uses the most loses its least recently
   * used one. Complete streams do not count. Default: 10,000.
   */
  maxLive?: number
  /**
   * The largest number of events kept per stream. Older events are dropped; streams cannot be resumed from them.
   * Default: 1,000.
   */
  maxEvents?: number
  /**
   * The largest number of characters of events that are kept per stream. Above it, older events are dropped. Default: 4
   * Mi.
   */
  maxCharacters?: number
  /**
   * The largest number of characters of events that are kept in total. Above it, the caller that uses the most loses its
   * least recently used complete streams, then its least recently used open ones. Default: 32 Mi, which is 32 MB for
   * ASCII and 64 MB for other text.
   */
  maxTotalCharacters?: number
}

interface Stream {
  /** Distinguishes the stream from earlier ones with the same id. */
  readonly key: number
  readonly caller: string | undefined
  /** The data of the newest events. Ids are computed from the index, because stored ids would take more memory than short data. */
  readonly events: string[]
  /** The number of events that were dropped. */
  dropped: number
  characters: number
}

/** The memory of an event in addition to its data, in characters. */
const EVENT_COST = 32

/**
 * The amount that each stream adds to the usage of its caller, besides its characters, so that many small streams are
 * also limited.
 */
const STREAM_COST = 32 * 1024

/** Creates an event store within this process. */
export function createMemoryEventStore(options: MemoryEventStoreOptions = {}): EventStore {
  const limits = ['ttl', 'maxStreams', 'maxLive', 'maxEvents', 'maxCharacters', 'maxTotalCharacters']
  refuseUnknownOption('createMemoryEventStore', options, limits)
  checkNumbers('createMemoryEventStore: ', { ...options })
  const { ttl = 300_000, maxStreams = 1_000, maxLive = 10_000, maxEvents = 1_000 } = options
  const { maxCharacters = 4_194_304, maxTotalCharacters = 33_554_432 } = options
  const open = new ExpiringMap<Stream>(Number.POSITIVE_INFINITY, release)
  const complete = new ExpiringMap<Stream>(Number.POSITIVE_INFINITY, release)
  const usage = new CallerUsage()
  // One count for all streams, so that a stream that was dropped and created again has new event ids.
  let count = 0
  /** The characters of all streams, including `EVENT_COST` per event. */
  let total = 0
  /** The listeners of the followers of each stream. */
  const waiting: Sets<() => void> = new Map()

  function release(streamId: string, { caller, characters, events }: Stream): void {
    total -= characters + events.length * EVENT_COST
    usage.add(caller, -characters - STREAM_COST)
    resumeFollowers(streamId)
  }

  /** Drops the least recently used streams of the callers that use the most, until at most `most` streams are left. */
  function dropAbove(most: number, streams: ExpiringMap<Stream>): void {
    while (streams.size > most) {
      const isLargest = usage.findLargest()
      if (!streams.dropOldest(({ caller }) => isLargest(caller))) streams.dropOldest()
    }
  }

  /** Drops a stream other than `current`, of the caller that uses the most if possible. Returns whether there was one. */
  function dropOther(current: Stream): boolean {
    const isLargest = usage.findLargest()
    const isOther = (stream: Stream) => stream !== current
    const isLarge = (stream: Stream) => isOther(stream) && isLargest(stream.caller)
    return (
      complete.dropOldest(isLarge) ||
      open.dropOldest(isLarge) ||
      complete.dropOldest(isOther) ||
      open.dropOldest(isOther)
    )
  }

  function resumeFollowers(streamId: string): void {
    for (const resume of [...(waiting.get(streamId) ?? [])]) resume()
  }

  function add(stream: Stream, data: string): void {
    const { caller, events } = stream
    events.push(data)
    stream.characters += data.length
    total += data.length + EVENT_COST
    usage.add(caller, data.length)
    while (events.length > maxEvents || (stream.characters > maxCharacters && events.length > 1)) {
      const dropped = events.shift()?.length ?? 0
      stream.characters -= dropped
      total -= dropped + EVENT_COST
      usage.add(caller, -dropped)
      stream.dropped += 1
    }
    while (total > maxTotalCharacters && dropOther(stream)) {}
  }

  const streamOf = (eventId: string) => eventId.slice(0, eventId.lastIndexOf('.'))
  /** Returns the id of an event; `index` is its position among the kept events. */
  const idOf = (streamId: string, { key, dropped }: Stream, index: number) => `${streamId}.${key}-${dropped + index}`

  function replay(lastEventId: string): EventReplay | undefined {
    const streamId = streamOf(lastEventId)
    const ended = complete.get(streamId, ttl)
    const stream = ended ?? open.get(streamId, ttl)
    if (stream === undefined) return undefined
    const index = Number(lastEventId.slice(lastEventId.lastIndexOf('-') + 1)) - stream.dropped
    const isKnown = stream.events[index] !== undefined && idOf(streamId, stream, index) === lastEventId
    if (!isKnown) return undefined
    const first = index + 1
    const events = stream.events.slice(first).map((data, at) => ({ id: idOf(streamId, stream, first + at), data }))
    return { streamId, events, ended: ended !== undefined }
  }

  return {
    append(streamId, data, caller) {
      let stream = open.get(streamId, ttl)
      if (stream === undefined) {
        if (complete.get(streamId)) throw new Error('The stream has ended and accepts no more events')
        count += 1
        stream = { key: count, caller, events: [], dropped: 0, characters: 0 }
        usage.add(caller, STREAM_COST)
        open.set(streamId, stream, ttl)
        dropAbove(maxLive, open)
      }
      add(stream, data)
      resumeFollowers(streamId)
      return idOf(streamId, stream, stream.events.length - 1)
    },
    end(streamId) {
      const stream = open.get(streamId)
      if (stream !== undefined) complete.set(streamId, stream, ttl)
      open.delete(streamId)
      dropAbove(maxStreams, complete)
      resumeFollowers(streamId)
    },
    replay,
    follow: (lastEventId, signal) =>
      followByReplay(lastEventId, [signal], {
        replay,
        subscribe: (listener) => addEntry(waiting, streamOf(lastEventId), listener),
      }),
    refresh: (streamId) => void open.get(streamId, ttl),
    delete(streamId) {
      const stream = open.get(streamId) ?? complete.get(streamId)
      if (stream === undefined) return
      open.delete(streamId)
      complete.delete(streamId)
      release(streamId, stream)
    },
  }
}

// Event bus

/** Options of `createMemoryEventBus`. */
export interface MemoryEventBusOptions {
  /** Called with errors of listeners. Default: none. */
  onWarning?: ((warning: Error) => void) | undefined
}

/** Creates an event bus within this process. */
export function createMemoryEventBus({ onWarning }: MemoryEventBusOptions = {}): EventBus {
  const topics: Sets<{ readonly listener: (message: string) => void }> = new Map()
  const waiting: { readonly topic: string; readonly message: string }[] = []
  let isDelivering = false

  function deliver(topic: string, message: string): void {
    for (const { listener } of [...(topics.get(topic) ?? [])]) {
      try {
        listener(message)
      } catch (error) {
        onWarning?.(error instanceof Error ? error : new Error('The thrown value is not an Error', { cause: error }))
      }
    }
  }

  return {
    publish(topic, message) {
      waiting.push({ topic, message })
      // A message that a listener publishes is delivered to all listeners after the current one.
      if (isDelivering) return
      isDelivering = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next.topic, next.message)
      isDelivering = false
    },
    subscribe: (topic, listener) => addEntry(topics, topic, { listener }),
  }
}

type Sets<Entry> = Map<string, Set<Entry>>

/** Adds an entry to the set of a key, until the returned function is called. Deletes the set with its last entry. */
function addEntry<Entry>(sets: Sets<Entry>, key: string, entry: Entry): () => void {
  const entries = sets.get(key) ?? new Set()
  sets.set(key, entries.add(entry))
  return () => {
    entries.delete(entry)
    if (entries.size === 0 && sets.get(key) === entries) sets.delete(key)
  }
}
