/** A stream whose events are stored, so that a client that loses it can have the rest on another response. */

import type { EventStore, StoredEvent } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EventStream } from '../event-stream.ts'
import { every } from '../timers.ts'

/** The number of characters that a resumed stream sends without waiting for its reader. */
const SENT_AT_ONCE = 16 * 1024
/** The interval at which a stream without a reader is refreshed in the store, in ms. */
const REFRESH = 60_000

export interface Storing {
  readonly events: EventStore
  /** The time that a client waits before it reconnects, in ms. */
  readonly retry: number
  readonly report: (problem: Error) => void
}

export class StoredStream {
  readonly id: string
  /** The id of the last event that was stored. */
  lastEventId: string | undefined
  readonly #storing: Storing
  readonly #onEnd: (() => void) | undefined
  #reader: EventStream | undefined
  /** A reader that is still sent the events that it missed. */
  #joining: EventStream | undefined
  #hasEnded = false
  /** Runs while there is no reader. */
  #refreshing: ReturnType<typeof setInterval> | undefined
  /** Steps run one after the other, so that nothing overtakes an event that is being stored. */
  #lastStep: Promise<void> = Promise.resolve()

  constructor(storing: Storing, id: string, onEnd?: () => void) {
    this.#storing = storing
    this.id = id
    this.#onEnd = onEnd
  }

  /** Resolves when everything that was sent until now is stored. */
  get stored(): Promise<void> {
    return this.#lastStep
  }

  /** Attaches a reader that has seen nothing of the stream. The first event has no data: it is a position to resume from. */
  open(reader: EventStream): Promise<void> {
    this.#dismissReaders()
    this.#reader = reader
    const { retry } = this.#storing
    return this.#enqueue(() => this.#append('', { retry }))
  }

  /** Resolves to whether the event was stored, when the reader has room for more. */
  async send(text: string): Promise<boolean> {
    let isStored = false
    await this.#enqueue(async () => {
      isStored = await this.#append(text)
    })
    await this.#reader?.room
    return isStored
  }

  /** Refreshes the stream in the store. */
  async refresh(): Promise<void> {
    try {
      await this.#storing.events.refresh?.(this.id)
    } catch (problem) {
      this.#storing.report(problem as Error)
    }
  }

  end(): Promise<void> {
    void this.#enqueue(async () => this.#storing.events.end(this.id))
    return this.#enqueue(async () => {
      this.#hasEnded = true
      this.stopRefreshing()
      this.#reader?.end()
      this.#onEnd?.()
    })
  }

  /** Ends the response after the messages that were sent. The client reconnects for the rest. */
  closeStream(): void {
    void this.#enqueue(async () => this.#reader?.end())
  }

  /** The reader is gone; events are stored for the next one. */
  detach(reader: EventStream): void {
    if (this.#reader === reader) this.#reader = undefined
    if (this.#joining === reader) this.#joining = undefined
    if (this.#hasEnded || this.#reader !== undefined || this.#joining !== undefined) return
    this.#refreshing ??= every(REFRESH, () => void this.refresh())
  }

  /** From now on the store may forget the stream in its own time. */
  stopRefreshing(): void {
    clearInterval(this.#refreshing)
    this.#refreshing = undefined
  }

  /** Attaches a reader that has seen the events up to `lastEventId`. Resolves when it has the rest, or was replaced. */
  async resume(lastEventId: string, reader: EventStream): Promise<void> {
    this.#dismissReaders()
    this.#joining = reader
    let last = lastEventId
    for (;;) {
      const missed = await this.#join(reader, last)
      if (missed.length === 0) return
      for (const { id, data } of missed) {
        last = id
        // No faster than it reads: there may be more events than may wait unread.
        await reader.send(encodeEvent({ id, data }))
      }
    }
  }

  #dismissReaders(): void {
    for (const earlier of [this.#joining, this.#reader]) earlier?.end()
    this.#joining = undefined
    this.#reader = undefined
    this.stopRefreshing()
  }

  /** Hands the stream over to a reader that has missed little. Otherwise returns the events that it is sent before. */
  async #join(reader: EventStream, last: string): Promise<readonly StoredEvent[]> {
    let missed: readonly StoredEvent[] = []
    await this.#enqueue(async () => {
      if (this.#joining !== reader) return
      const { events = [] } = (await this.#storing.events.replay(last)) ?? {}
      // Another reader may have come, or this one gone, while the store was asked.
      if (this.#joining !== reader) return
      if (events.reduce((sum, { data }) => sum + data.length, 0) > SENT_AT_ONCE) missed = events
      else this.#handOver(reader, events)
    })
    // The store failed: the client can try again.
    if (missed.length === 0 && this.#reader !== reader) reader.end()
    return missed
  }

  #handOver(reader: EventStream, missed: readonly StoredEvent[]): void {
    this.#joining = undefined
    this.#reader = reader
    for (const { id, data } of missed) void reader.send(encodeEvent({ id, data }))
    if (this.#hasEnded) reader.end()
  }

  /** A store that fails costs the position to resume from, not the event. Returns whether the event was stored. */
  async #append(data: string, first?: { readonly retry: number }): Promise<boolean> {
    const { events, report } = this.#storing
    let id: string | undefined
    try {
      id = await events.append(this.id, data)
      this.lastEventId = id
    } catch (problem) {
      report(problem as Error)
    }
    // The next event is stored whether or not the reader has room: the reader itself limits what waits.
    if (id !== undefined || data !== '') void this.#reader?.send(encodeStored({ ...first, id, data }, report))
    return id !== undefined
  }

  #enqueue(step: () => Promise<unknown>): Promise<void> {
    this.#lastStep = this.#lastStep.then(async () => {
      try {
        await step()
      } catch (problem) {
        this.#storing.report(problem as Error)
      }
    })
    return this.#lastStep
  }
}

/** The text of an event. An invalid id of the store costs the position to resume from, not the event. */
function encodeStored(
  event: { readonly id: string | undefined; readonly data: string; readonly retry?: number },
  report: (problem: Error) => void,
): string {
  try {
    return encodeEvent(event)
  } catch (cause) {
    const text = `The event store gave an id that cannot be sent: expected a line of text, got ${String(event.id).slice(0, 80)}`
    report(new TypeError(text, { cause }))
    return encodeEvent({ ...event, id: undefined })
  }
}
