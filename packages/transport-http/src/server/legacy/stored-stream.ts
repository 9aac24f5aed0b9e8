/** A stream whose events are stored, so that a client that lost its connection can resume on another response. */

import { type Awaitable, ConnectionError, type EventStore, isPromise, type StoredEvent } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import type { EventStream } from '../event-stream.ts'
import { after, every } from '../timers.ts'
import type { UnreadResponse, UnreadResponses } from '../unread.ts'

/** If a reader has missed at most this many characters, they are sent at once, without waiting for the reader. */
const SENT_AT_ONCE = 16 * 1024
/** The first and the longest delay before storing is tried again, after the store has refused events, in ms. */
const FIRST_ATTEMPT = 1_000
const LAST_ATTEMPT = 60_000
/** The interval at which a stream without a reader is refreshed in the store, in ms. */
const REFRESH = 60_000

export interface Storing {
  readonly events: EventStore
  /** The time that a client waits before it reconnects, in ms. */
  readonly retry: number
  readonly report: (problem: Error) => void
  /** The largest number of characters that a stream keeps of events that the store has refused. */
  readonly unsent: number
  /** Counts the events that streams keep. */
  readonly unread: UnreadResponses
}

export interface StreamFacts {
  readonly id: string
  /** The caller that the events count for. */
  readonly caller: string | undefined
  /** Whether the client accepts events without data. */
  readonly acceptsEmptyEvents: boolean
}

/** The owner of a stream that answers a POST. */
export interface StoredStreamOwner {
  /** Whether no client can resume the stream any more. */
  readonly hasEnded: boolean
  onEnd(): void
  /**
   * The interval at which `onUnread` is called while the stream has no reader, in ms. Refused events are kept for the
   * same time.
   */
  readonly unreadInterval: number
  onUnread(): void
}

export class StoredStream implements UnreadResponse {
  readonly id: string
  /** The caller that the events count for. */
  readonly caller: string | undefined
  /** The id of the last event that was stored. */
  lastEventId: string | undefined
  readonly #storing: Storing
  readonly #acceptsEmptyEvents: boolean
  readonly #owner: StoredStreamOwner | undefined
  #reader: EventStream | undefined
  /** A reader that is still receiving the events it missed. */
  #joining: EventStream | undefined
  /** Events that the store has refused while there was no reader. Later events are added too, because the order must be kept. */
  #refused: string[] = []
  #hasEnded = false
  /** The time after which storing the end is not tried any more, in ms since 1970. */
  #givesUpAt: number | undefined
  /** Refreshes the stream in the store while there is no reader. */
  #refreshing: ReturnType<typeof setInterval> | undefined
  /** Resolves when the last call of the store has finished. Undefined if no call is pending. */
  #lastCall: Promise<void> | undefined

  constructor(storing: Storing, { id, caller, acceptsEmptyEvents }: StreamFacts, owner?: StoredStreamOwner) {
    this.#storing = storing
    this.id = id
    this.caller = caller
    this.#acceptsEmptyEvents = acceptsEmptyEvents
    this.#owner = owner
  }

  /** Resolves when all messages sent so far are stored. Undefined if they already are. */
  get stored(): Promise<void> | undefined {
    return this.#lastCall
  }

  /**
   * Attaches the first reader. It stores an event without data first, whose id is a position to resume from, and sends it
   * to clients that accept it.
   */
  open(reader: EventStream): void {
    this.#dismissReaders()
    this.#reader = reader
    const { retry } = this.#storing
    void this.#append('', (id) => id !== undefined && this.#sendEvent({ id, retry, data: '' }))
  }

  /** Stores and sends a message. Returns a promise if the sender has to wait for the reader or the store. */
  send(text: string, onNotStored?: () => void): Promise<void> | undefined {
    const stored = this.#append(text, (id) => {
      if (id === undefined && onNotStored !== undefined) onNotStored()
      else if (id === undefined && this.#reader === undefined) this.#keep(text)
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

  /** Ends the stream. Returns a promise if messages are still being stored or sent. */
  end(): Promise<void> | undefined {
    return this.#storeEnd(FIRST_ATTEMPT)
  }

  /** @param wait the delay before the next attempt if the store refuses, in ms */
  #storeEnd(wait: number): Promise<void> | undefined {
    return this.#callStore(
      () => {
        const ending = this.#afterRefused(() => this.#storing.events.end(this.id))
        return isPromise(ending) ? ending.then(() => true) : true
      },
      (isStored) => {
        this.#hasEnded = true
        this.stopRefreshing()
        this.#reader?.end()
        // Until the end is stored, a resumed stream could not end in another process.
        if (isStored !== true && this.#canWait())
          after(wait, () => void this.#storeEnd(Math.min(wait * 2, LAST_ATTEMPT)))
        else this.#release()
      },
    )
  }

  /** Returns whether the end may be stored later, because a client may still resume the stream. */
  #canWait(): boolean {
    if (this.#owner === undefined || this.#owner.hasEnded) return false
    this.#givesUpAt ??= Date.now() + this.#owner.unreadInterval
    return Date.now() < this.#givesUpAt
  }

  #release(): void {
    if (this.#refused.length > 0 && this.#owner?.hasEnded !== true) {
      this.#reportLoss('the event store has refused them for too long')
    }
    this.#refused = []
    this.#owner?.onEnd()
  }

  /** Ends the HTTP response after the messages that were sent. The client reconnects to receive the rest. */
  closeStream(): void {
    void this.#callStore(
      () => undefined,
      () => this.#reader?.end(),
    )
  }

  /** The characters of the kept events. */
  get unread(): number {
    return this.#refused.reduce((sum, { length }) => sum + length, 0)
  }

  /** Drops the kept events. Called if all streams together keep too many events. */
  cut(): void {
    this.#refused = []
  }

  /** Keeps an event that the store has refused, for the next reader. A single event may have any size. */
  #keep(text: string): void {
    const { unread, unsent } = this.#storing
    if (this.unread > unsent) {
      this.#reportLoss('the event store refuses them (limits.unsent)')
      return
    }
    this.#refused.push(text)
    if (this.#owner !== undefined) unread.add(this, text.length)
  }

  #reportLoss(reason: string): void {
    this.#storing.report(new ConnectionError('limit', `Dropped messages for a disconnected client: ${reason}`))
  }

  /** Calls the store after the refused events were stored. */
  #afterRefused<Result>(call: () => Awaitable<Result>): Awaitable<Result> {
    return this.#refused.length === 0 ? call() : this.#storeRefused().then(call)
  }

  /** Stores the refused events. Rejects if the store still refuses one. */
  async #storeRefused(): Promise<void> {
    for (let text = this.#refused[0]; text !== undefined; text = this.#refused[0]) {
      this.lastEventId = await this.#storing.events.append(this.id, text, this.caller)
      this.#refused.shift()
    }
  }

  /** Detaches a reader that has disconnected. Later events are stored for the next reader. */
  detach(reader: EventStream): void {
    if (this.#reader === reader) this.#reader = undefined
    if (this.#joining === reader) this.#joining = undefined
    if (this.#hasEnded || this.#reader !== undefined || this.#joining !== undefined) return
    this.#refreshing ??= every(Math.min(REFRESH, this.#owner?.unreadInterval ?? REFRESH), () => {
      void this.refresh()
      this.#owner?.onUnread()
    })
  }

  /** Stops refreshing the stream, so that the store can expire it. */
  stopRefreshing(): void {
    clearInterval(this.#refreshing)
    this.#refreshing = undefined
  }

  /**
   * Attaches a reader that already has the events up to `lastEventId`. Resolves when the reader has received the rest,
   * or was replaced.
   */
  async resume(lastEventId: string, reader: EventStream): Promise<void> {
    this.#dismissReaders()
    this.#joining = reader
    let last = lastEventId
    for (;;) {
      const missed = await this.#join(reader, last)
      if (missed.length === 0) return
      for (const event of missed) {
        last = event.id
        await reader.takeTurn(event.data.length)
        // Waits for the reader, because the missed events may exceed the limit for unread bytes.
        await this.#sendTo(reader, event)
      }
    }
  }

  #dismissReaders(): void {
    for (const earlier of [this.#joining, this.#reader]) earlier?.end()
    this.#joining = undefined
    this.#reader = undefined
    this.stopRefreshing()
  }

  /**
   * Makes this reader the reader of the stream if it has missed only few events. Otherwise returns the missed events,
   * which must be sent first.
   */
  async #join(reader: EventStream, last: string): Promise<readonly StoredEvent[]> {
    let missed: readonly StoredEvent[] = []
    await this.#callStore(
      async () => {
        await this.#storeRefused().catch(this.#storing.report)
        return (await this.#storing.events.replay(last))?.events ?? []
      },
      (events) => {
        // While the store was read, another reader may have joined, or this reader may have left. If `events` is
        // undefined, the store failed.
        if (this.#joining !== reader || events === undefined) return
        if (events.reduce((sum, { data }) => sum + data.length, 0) > SENT_AT_ONCE) missed = events
        else this.#handOver(reader, events)
      },
    )
    // The store failed or another reader has joined. End the response, so that the client can reconnect.
    if (missed.length === 0 && this.#reader !== reader) reader.end()
    return missed
  }

  #handOver(reader: EventStream, missed: readonly StoredEvent[]): void {
    this.#joining = undefined
    this.#reader = reader
    for (const event of missed) this.#sendEvent(event)
    // The limit was applied when they were kept. If the stream were cut now, they would be lost.
    for (const data of this.#refused.splice(0))
      reader.sendExempt(encodeStored({ id: undefined, data }, this.#storing.report))
    if (this.#hasEnded) reader.end()
  }

  /** Stores an event. If the store fails, the event is still sent, but without an id to resume from. */
  #append(data: string, onAppended: (id: string | undefined) => void): Promise<void> | undefined {
    return this.#callStore(
      () => this.#afterRefused(() => this.#storing.events.append(this.id, data, this.caller)),
      (id) => {
        if (id !== undefined) this.lastEventId = id
        onAppended(id)
      },
    )
  }

  /** Sends an event without waiting for the reader, because the reader itself limits its unread bytes. */
  #sendEvent(event: EventToSend): void {
    if (this.#reader !== undefined) void this.#sendTo(this.#reader, event)
  }

  #sendTo(reader: EventStream, event: EventToSend): Promise<void> | undefined {
    if (event.data === '' && !this.#acceptsEmptyEvents) return undefined
    return reader.send(encodeStored(event, this.#storing.report))
  }

  /**
   * Calls the store, then `done` with its result, or with undefined if the store failed. Calls run one after the other,
   * so that the order of events is kept. Returns undefined if all calls were synchronous. Promises would take a third
   * of the processor time of a progress notification.
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

/** Encodes an event. If the id from the store is invalid, the event is sent without an id to resume from. */
function encodeStored(event: EventToSend, report: Storing['report']): string {
  try {
    return encodeEvent(event)
  } catch (cause) {
    const text = `The event store returned an invalid event id: expected a string of one line, got ${String(event.id).slice(0, 80)}`
    report(new TypeError(text, { cause }))
    return encodeEvent({ ...event, id: undefined })
  }
}
