/** A stream whose events are kept: the client may lose it and have the rest later, on another response. */

import type { Awaitable, EventStore } from '@mcpx/protocol'
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
  #tail: Promise<void> = Promise.resolve()

  constructor(options: StoredStreamOptions) {
    this.#options = options
  }

  /** Gives the stream its first reader, and the reader a place to resume from before there is anything to say. */
  open(reader: EventStream): Awaitable<void> {
    this.#reader = reader
    const { retry } = this.#options
    return this.#next(() => this.#store('', { retry }))
  }

  send(text: string): Promise<void> {
    const stored = this.#next(() => this.#store(text))
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

  /** Sends the reader away after what was sent; it may come back. */
  letGo(): void {
    void this.#next(() => this.#reader?.end())
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

  /** A store that fails costs the place to resume from, not the event. */
  async #store(data: string, first?: { readonly retry: number }): Promise<void> {
    const { events, id: stream, report } = this.#options
    let id: string | undefined
    try {
      id = await events.append(stream, data)
    } catch (problem) {
      report(problem as Error)
    }
    // The next event is stored whether or not the reader has room: the stream itself says when there is too much.
    if (id !== undefined || data !== '') void this.#reader?.send(encodeEvent({ ...first, id, data }))
  }

  #next(step: () => Awaitable<void>): Promise<void> {
    const safe = async () => {
      try {
        await step()
      } catch (problem) {
        this.#options.report(problem as Error)
      }
    }
    this.#tail = this.#tail.then(safe)
    return this.#tail
  }
}
