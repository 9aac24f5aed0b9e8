/** A stream whose events are stored, so that a client that loses it can have the rest on another response. */

import { type Awaitable, type EventStore, isPromise, type StoredEvent } from '@mcpx/protocol'
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
  /** Resolves when the last call of the store is done. Undefined while none is waited for. */
  #lastCall: Promise<void> | undefined

  constructor(storing: Storing, id: string, onEnd?: () => void) {
    this.#storing = storing
    this.id = id
    this.#onEnd = onEnd
  }

  /** Resolves when everything that was sent until now is stored. Undefined when it is. */
  get stored(): Promise<void> | undefined {
    return this.#lastCall
  }

  /** Attaches a reader that has seen nothing of the stream. The first event has no data: it is a position to resume from. */
  open(reader: EventStream): void {
    this.#dismissReaders()
    this.#reader = reader
    const { retry } = this.#storing
    void this.#append('', (id) => id !== undefined && this.#sendEvent({ id, retry, data: '' }))
  }

  /** The promise, if there is one, resolves when the reader has room for more. */
  send(text: string, onNotStored?: () => void): Promise<void> | undefined {
    const stored = this.#append(text, (id) => {
      if (id === undefined) onNotStored?.()
      this.#sendEvent({ id, data: text })
    })
    return stored === undefined ? this.#reader?.room : stored.then(() => this.#reader?.room)
  }

  /** Refreshes the stream in the store. */
  async refresh(): Promise<void> {
    try {
      await this.#storing.events.refresh?.(this.id)
    } catch (problem) {
      this.#storing.report(problem as Error)
    }
  }

  /** The promise, if there is one, resolves when everything is stored and with the reader. */
  end(): Promise<void> | undefined {
    return this.#callStore(
      () => this.#storing.events.end(this.id),
      () => {
        this.#hasEnded = true
        this.stopRefreshing()
        this.#reader?.end()
        this.#onEnd?.()
      },
    )
  }

  /** Ends the response after the messages that were sent. The client reconnects for the rest. */
  closeStream(): void {
    void this.#callStore(
      () => undefined,
      () => this.#reader?.end(),
    )
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
      for (const event of missed) {
        last = event.id
        // No faster than it reads: there may be more events than may wait unread.
        await reader.send(encodeStored(event, this.#storing.report))
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
    await this.#callStore(
      async () => (await this.#storing.events.replay(last))?.events ?? [],
      (events) => {
        // Another reader may have come, or this one gone, while the store was asked; or the store failed.
        if (this.#joining !== reader || events === undefined) return
        if (events.reduce((sum, { data }) => sum + data.length, 0) > SENT_AT_ONCE) missed = events
        else this.#handOver(reader, events)
      },
    )
    // The store failed, or another reader has the stream: the client can try again.
    if (missed.length === 0 && this.#reader !== reader) reader.end()
    return missed
  }

  #handOver(reader: EventStream, missed: readonly StoredEvent[]): void {
    this.#joining = undefined
    this.#reader = reader
    for (const event of missed) this.#sendEvent(event)
    if (this.#hasEnded) reader.end()
  }

  /** A store that fails costs the position to resume from, not the event. */
  #append(data: string, onAppended: (id: string | undefined) => void): Promise<void> | undefined {
    return this.#callStore(
      () => this.#storing.events.append(this.id, data),
      (id) => {
        if (id !== undefined) this.lastEventId = id
        onAppended(id)
      },
    )
  }

  /** The next event is stored whether or not the reader has room: the reader itself limits what waits. */
  #sendEvent(event: EventToSend): void {
    void this.#reader?.send(encodeStored(event, this.#storing.report))
  }

  /**
   * Calls the store, then `done` with its result, or with undefined when it has failed. Calls run one after the other, so
   * that nothing overtakes an event that is being stored. Returns undefined when nothing had to be waited for: promises
   * took a third of the processor time of a progress notification.
   */
  #callStore<Result>(call: () => Awaitable<Result>, done: (result?: Result) => void): Promise<void> | undefined {
    const earlier = this.#lastCall
    const calling = earlier === undefined ? this.#callNow(call, done) : earlier.then(() => this.#callNow(call, done))
    if (calling === undefined) return undefined
    this.#lastCall = calling.then(() => {
      if (this.#lastCall === last) this.#lastCall = undefined
    })
    const last = this.#lastCall
    return last
  }

  #callNow<Result>(call: () => Awaitable<Result>, done: (result?: Result) => void): Promise<void> | undefined {
    const fail = (problem: unknown) => {
      this.#storing.report(problem as Error)
      done()
    }
    let result: Awaitable<Result>
    try {
      result = call()
    } catch (problem) {
      fail(problem)
      return undefined
    }
    if (isPromise(result)) return Promise.resolve(result).then(done, fail).catch(this.#storing.report)
    done(result)
    return undefined
  }
}

interface EventToSend {
  readonly id: string | undefined
  readonly data: string
  readonly retry?: number
}

/** The text of an event. An invalid id of the store costs the position to resume from, not the event. */
function encodeStored(event: EventToSend, report: Storing['report']): string {
  try {
    return encodeEvent(event)
  } catch (cause) {
    const text = `The event store gave an id that cannot be sent: expected a line of text, got ${String(event.id).slice(0, 80)}`
    report(new TypeError(text, { cause }))
    return encodeEvent({ ...event, id: undefined })
  }
}
