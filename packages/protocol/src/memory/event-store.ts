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

/** Of an event its number is kept: it makes the id. */
interface Stream {
  readonly numbers: number[]
  readonly texts: string[]
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

  /** At the end of a stream, if there is one. The arrays of a new one have room for no more: most get no more. */
  function put(known: Stream | undefined, added: readonly string[]): Stream {
    const numbered = added.map((_, index) => count + 1 + index)
    count += added.length
    const stream = known ?? { numbers: numbered, texts: [...added], characters: 0 }
    const { numbers, texts } = stream
    added.forEach((text, index) => {
      if (known !== undefined) {
        numbers.push(numbered[index] as number)
        texts.push(text)
      }
      stream.characters += text.length
    })
    trim(stream, maxEvents, maxCharacters)
    return stream
  }

  /** The stream, if it goes on. */
  function goingOn(streamId: string): Stream | undefined {
    const stream = live.get(streamId, ttlMs)
    if (stream === undefined && over.get(streamId)) throw new Error('The stream has ended: it takes no more events')
    return stream
  }

  const store: EventStore = {
    append(streamId, data) {
      const known = goingOn(streamId)
      const stream = put(known, [data])
      if (known === undefined) live.set(streamId, stream, ttlMs)
      return idOf(streamId, count)
    },
    end(streamId) {
      const stream = live.get(streamId)
      if (stream !== undefined) over.set(streamId, stream, ttlMs)
      live.delete(streamId)
    },
    replay(lastEventId) {
      const streamId = lastEventId.slice(0, lastEventId.lastIndexOf('.'))
      const ended = over.get(streamId, ttlMs)
      const stream = ended ?? live.get(streamId, ttlMs)
      const events = stream && eventsAfter(lastEventId, streamId, stream)
      return events && { streamId, events, ended: ended !== undefined }
    },
    refresh: (streamId) => void live.get(streamId, ttlMs),
    delete: (streamId) => void (live.delete(streamId) || over.delete(streamId)),
  }
  const appendWhole = (streamId: string, texts: readonly string[]): readonly string[] => {
    const before = count
    over.set(streamId, put(goingOn(streamId), texts), ttlMs)
    live.delete(streamId)
    return texts.map((_, index) => idOf(streamId, before + 1 + index))
  }
  // A copy that has an `append` of its own, `{ ...store, append }`, must not have this one.
  return Object.defineProperty(store, 'appendWhole', { value: appendWhole })
}

/** The oldest events give way. */
function trim(stream: Stream, maxEvents: number, maxCharacters: number): void {
  const { numbers, texts } = stream
  while (texts.length > maxEvents || (stream.characters > maxCharacters && texts.length > 1)) {
    stream.characters -= (texts.shift() as string).length
    numbers.shift()
  }
}

/** What came after an event; nothing when the stream does not hold it. A number can be written in more than one way, an id cannot. */
function eventsAfter(id: string, streamId: string, { numbers, texts }: Stream): StoredEvent[] | undefined {
  const last = Number(id.slice(streamId.length + 1))
  const after = numbers.indexOf(last) + 1
  if (after === 0 || idOf(streamId, last) !== id) return undefined
  const textOf = (number: number, index: number) => ({
    id: idOf(streamId, number),
    data: texts[after + index] as string,
  })
  return numbers.slice(after).map(textOf)
}

/** The name of its stream, and its number: one that became a text by itself would stay in a cache of the engine. */
function idOf(streamId: string, number: number): string {
  return `${streamId}.${JSON.stringify(number)}`
}
