/** A stream whose events are kept: the client may lose it and have the rest later, on another response. */

import { type Awaitable, type EventStore, isPromise, type StoredEvent } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EventStream } from '../event-stream.ts'
import { unref } from '../watch.ts'
import { encodeStored } from './legacy-whole-stream.ts'

/** How events are kept: the same for all streams of an endpoint. */
export interface Keeping {
  readonly events: EventStore
  /** How long the client is to wait before it comes back, in ms. */
  readonly retry: number
  readonly report: (problem: Error) => void
}

/** How much of what was missed is sent without waiting for the reader, in characters. */
const MOST_AT_ONCE = 16 * 1024
/** How often the store is shown that a stream goes on whose reader is away, in ms. */
const LEASE = 60_000

export class StoredStream {
  readonly id: string
  readonly #keeping: Keeping
  readonly #onEnd: (() => void) | undefined
  #reader: EventStream | undefined
  /** A reader that is still given what it missed. */
  #joining: EventStream | undefined
  #hasEnded = false
  /** Runs while the reader is away. */
  #lease: ReturnType<typeof setInterval> | undefined
  /** What is still being stored; nothing overtakes it. Absent when nothing is. */
  #tail: PromiseLike<void> | undefined

  constructor(keeping: Keeping, id: string, onEnd?: () => void) {
    this.#keeping = keeping
    this.id = id
    this.#onEnd = onEnd
  }

  /** Resolves when all that was sent until now is stored; nothing when it is. */
  get stored(): PromiseLike<void> | undefined {
    return this.#tail
  }

  /** Gives the stream to a reader that has seen nothing of it, and the reader a place to resume from before there is anything to say. */
  open(reader: EventStream): Awaitable<void> {
    this.#leaveOthers()
    this.#reader = reader
    const { retry } = this.#keeping
    return this.#next(() => this.#store('', { retry }))
  }

  send(text: string): Awaitable<void> {
    const stored = this.#next(() => this.#store(text))
    return isPromise(stored) ? stored.then(() => this.#reader?.room) : this.#reader?.room
  }

  /** Shows the store that the stream goes on. */
  refresh(): void {
    void this.#next(() => this.#keeping.events.refresh?.(this.id))
  }

  end(): void {
    const end = () => {
      this.#hasEnded = true
      this.expectNobody()
      this.#reader?.end()
      this.#onEnd?.()
    }
    void this.#next(() => this.#keeping.events.end(this.id))
    void this.#next(end)
  }

  /** Sends the reader away after what was sent; it may come back. */
  closeStream(): void {
    void this.#next(() => this.#reader?.end())
  }

  /** The reader has gone; what comes is kept for the next one. */
  detach(reader: EventStream): void {
    if (this.#reader === reader) this.#reader = undefined
    if (this.#joining === reader) this.#joining = undefined
    if (this.#hasEnded || this.#reader !== undefined || this.#joining !== undefined) return
    this.#lease ??= unref(setInterval(() => this.refresh(), LEASE))
  }

  /** No reader is waited for, or one is there: the store forgets the stream in its own time. */
  expectNobody(): void {
    clearInterval(this.#lease)
    this.#lease = undefined
  }

  /** Goes on with another reader after an event that an earlier one has seen. */
  async resume(lastEventId: string, reader: EventStream): Promise<void> {
    this.#leaveOthers()
    this.#joining = reader
    let last = lastEventId
    for (let missed = await this.#join(reader, last); missed.length > 0; missed = await this.#join(reader, last)) {
      for (const { id, data } of missed) {
        last = id
        // As fast as it reads: what was missed may be more than may wait unread.
        await reader.send(encodeEvent({ id, data }))
      }
    }
  }

  /** What comes from now on is for a new reader, and for no other. */
  #leaveOthers(): void {
    for (const earlier of [this.#joining, this.#reader]) earlier?.end()
    this.#joining = undefined
    this.#reader = undefined
    this.expectNobody()
  }

  /** Gives the stream to a reader that has missed little; otherwise resolves to what it has to be given before. */
  async #join(reader: EventStream, last: string): Promise<readonly StoredEvent[]> {
    let missed: readonly StoredEvent[] = []
    await this.#next(async () => {
      if (this.#joining !== reader) return
      const { events = [] } = (await this.#keeping.events.replay(last)) ?? {}
      // A newer one may have come, or this one may have gone, while the store was asked.
      if (this.#joining !== reader) return
      if (events.reduce((sum, { data }) => sum + data.length, 0) > MOST_AT_ONCE) missed = events
      else this.#handOver(reader, events)
    })
    // What cannot be had from the store now may be had later.
    if (missed.length === 0 && this.#reader !== reader) reader.end()
    return missed
  }

  #handOver(reader: EventStream, missed: readonly StoredEvent[]): void {
    this.#joining = undefined
    this.#reader = reader
    for (const { id, data } of missed) void reader.send(encodeEvent({ id, data }))
    if (this.#hasEnded) reader.end()
  }

  /** A store that fails costs the place to resume from, not the event. */
  #store(data: string, first?: { readonly retry: number }): Awaitable<void> {
    const { events, report } = this.#keeping
    let id: Awaitable<string | undefined>
    try {
      id = events.append(this.id, data)
    } catch (problem) {
      report(problem as Error)
    }
    if (!isPromise(id)) return this.#pass(id, data, first)
    const failed = (problem: unknown) => report(problem as Error) as undefined
    return id.then(undefined, failed).then((late) => this.#pass(late, data, first))
  }

  #pass(id: string | undefined, data: string, first: { readonly retry: number } | undefined): void {
    // The next event is stored whether or not the reader has room: the stream itself says when there is too much.
    if (id !== undefined || data !== '')
      void this.#reader?.send(encodeStored({ ...first, id, data }, this.#keeping.report))
  }

  /** Takes a step at once when nothing is waited for. */
  #next(step: () => Awaitable<void>): Awaitable<void> {
    const last = this.#tail
    const taken = last === undefined ? this.#take(step) : last.then(() => this.#take(step))
    if (!isPromise(taken)) return undefined
    const tail: PromiseLike<void> = taken.then(() => {
      if (this.#tail === tail) this.#tail = undefined
    })
    this.#tail = tail
    return tail
  }

  #take(step: () => Awaitable<void>): Awaitable<void> {
    const { report } = this.#keeping
    try {
      const done = step()
      return isPromise(done) ? done.then(undefined, (problem) => report(problem as Error)) : undefined
    } catch (problem) {
      report(problem as Error)
    }
  }
}
