/** A stream whose events are kept: the client may lose it and have the rest later, on another response. */

import { type Awaitable, type EventStore, isPromise } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse'
import type { EventStream } from '../event-stream.ts'

export interface StoredStreamOptions {
  readonly id: string
  readonly events: EventStore
  /** How long the client is to wait before it comes back, in ms. */
  readonly retry: number
  readonly onEnd?: (() => void) | undefined
  readonly report: (problem: Error) => void
}

export class StoredStream {
  readonly #options: StoredStreamOptions
  #reader: EventStream | undefined
  /** What is still being stored; nothing overtakes it. */
  #tail: Promise<void> | undefined

  constructor(options: StoredStreamOptions) {
    this.#options = options
  }

  /** Gives the stream its first reader, and the reader a place to resume from before there is anything to say. */
  open(reader: EventStream): Awaitable<void> {
    this.#reader = reader
    const { retry } = this.#options
    return this.#next(() => this.#store('', (id) => encodeEvent({ id, retry, data: '' })))
  }

  send(text: string): Promise<void> {
    const stored = this.#next(() => this.#store(text, (id) => encodeEvent({ id, data: text })))
    return stored.then(() => this.#reader?.room)
  }

  end(): void {
    const { events, id, onEnd } = this.#options
    void this.#next(() => events.end(id)).then(() => {
      this.#reader?.end()
      onEnd?.()
    })
  }

  /** This side writes no more; another reader may go on with the stream. */
  release(): void {
    this.#options.onEnd?.()
  }

  /** The reader has gone; what comes is kept for the next one. */
  detach(reader: EventStream): void {
    if (this.#reader === reader) this.#reader = undefined
  }

  /** Goes on with another reader after an event that an earlier one has seen. */
  resume(lastEventId: string, reader: EventStream): Awaitable<void> {
    return this.#next(async () => {
      const replay = await this.#options.events.replay(lastEventId)
      this.#reader?.end()
      this.#reader = reader
      for (const { id, data } of replay?.events ?? []) void reader.send(encodeEvent({ id, data }))
    })
  }

  #store(data: string, write: (id: string) => string): Awaitable<void> {
    const { events, id: stream } = this.#options
    const id = events.append(stream, data)
    // The next event is stored whether or not the reader has room: the stream itself says when there is too much.
    const pass = (stored: string) => void this.#reader?.send(write(stored))
    return isPromise(id) ? id.then(pass) : pass(id)
  }

  /** A store that fails costs the event, not the stream. */
  #next(step: () => Awaitable<void>): Promise<void> {
    const safe = async () => {
      try {
        await step()
      } catch (problem) {
        this.#options.report(problem as Error)
      }
    }
    const tail: Promise<void> = (this.#tail ?? Promise.resolve()).then(safe)
    this.#tail = tail
    return tail
  }
}
