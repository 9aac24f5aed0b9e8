/** Sent events of one process, kept for a while so that a client can have them again. */

import type { EventStore, StoredEvent } from '../ports/stores.ts'
import { createExpiringMap } from './expiring-map.ts'

export interface MemoryEventStoreOptions {
  /** How long a stream is kept after it was last added to, replayed or refreshed, in ms. Default: 300,000. */
  ttlMs?: number
  /** How many streams are kept that have ended; the one that was not used for longest gives way. Default: 1,000. */
  maxStreams?: number
  /** How many streams are kept that go on, likewise: they never give way to those that have ended. Default: 10,000. */
  maxLive?: number
  /** How many events of a stream are kept; the oldest give way and cannot be resumed from. Default: 1,000. */
  maxEvents?: number
  /** How many characters of a stream's events are kept, likewise. Default: 4 Mi. */
  maxCharacters?: number
}

interface Stream {
  events: StoredEvent[]
  characters: number
}

export function createMemoryEventStore(options: MemoryEventStoreOptions = {}): EventStore {
  const {
    ttlMs = 300_000,
    maxStreams = 1_000,
    maxLive = 10_000,
    maxEvents = 1_000,
    maxCharacters = 4_194_304,
  } = options
  const live = createExpiringMap<Stream>(maxLive)
  const over = createExpiringMap<Stream>(maxStreams)
  // Counted over all streams: a stream that was forgotten and begins again never gives an id that it gave before.
  let count = 0

  return {
    append(streamId, data) {
      const known = live.get(streamId, ttlMs)
      if (known === undefined && over.get(streamId)) throw new Error('The stream has ended: it takes no more events')
      count += 1
      // The name of its stream, and its number.
      const id = `${streamId}.${count}`
      // Most streams keep a single event: an array that is made with it has room for no more.
      const stream = known ?? { events: [{ id, data }], characters: 0 }
      if (known) known.events.push({ id, data })
      else live.set(streamId, stream, ttlMs)
      stream.characters += data.length
      const { events } = stream
      while (events.length > maxEvents || (stream.characters > maxCharacters && events.length > 1)) {
        stream.characters -= (events.shift() as StoredEvent).data.length
      }
      return id
    },
    end(streamId) {
      const stream = live.get(streamId)
      if (stream === undefined) return
      live.delete(streamId)
      over.set(streamId, stream, ttlMs)
    },
    replay(lastEventId) {
      const streamId = lastEventId.slice(0, lastEventId.lastIndexOf('.'))
      const ended = over.get(streamId, ttlMs)
      const { events } = ended ?? live.get(streamId, ttlMs) ?? { events: [] }
      const after = events.findIndex(({ id }) => id === lastEventId) + 1
      return after > 0 ? { streamId, events: events.slice(after), ended: ended !== undefined } : undefined
    },
    refresh: (streamId) => void live.get(streamId, ttlMs),
    delete: (streamId) => void (live.delete(streamId) || over.delete(streamId)),
  }
}
