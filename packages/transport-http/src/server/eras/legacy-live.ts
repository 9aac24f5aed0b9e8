/** What one process knows of the sessions it is serving just now. A session that rests is known to the store alone. */

import {
  ConnectionError,
  type EventBus,
  isRequestId,
  type NotificationMessage,
  type RequestId,
  type ResponseMessage,
  type SessionState,
} from '@mcpx/protocol'
import type { HttpExchange } from '../exchange.ts'
import { Asks } from './legacy-asking.ts'
import type { Missed } from './legacy-missed.ts'
import type { StoredStream } from './legacy-stored-stream.ts'

/** The stream of what a session is told unasked. */
interface Feed {
  /** Whether its client has gone, and may come back. */
  readonly isAway?: boolean
  /** What is kept of it. */
  readonly stored?: StoredStream | undefined
  /** What its client is still to be told. */
  missed?: Missed | undefined
  end(): void
}

/** What it holds besides the record is made when it is needed: most requests need nothing of it. */
export class LiveSession {
  readonly id: string
  /** The newest record that this process has seen. */
  state: Readonly<SessionState>
  /** How often it was replaced: a record that was read before that is not the newest. */
  changes = 0
  /** How many clients read a stream. */
  readers = 0
  /** The stream that carries no answer. */
  feed: Feed | undefined
  /** The session has ended, whoever still holds this object. */
  isOver = false
  /** How many calls hold on to this object. */
  holders = 0
  unsubscribe: (() => unknown) | undefined
  #asks: Asks | undefined
  #running: Map<RequestId, HttpExchange> | undefined
  #streams: Map<string, StoredStream> | undefined
  #seekers: Set<Seeker> | undefined

  constructor(id: string, state: Readonly<SessionState>) {
    this.id = id
    this.state = state
  }

  get asks(): Asks {
    this.#asks ??= new Asks()
    return this.#asks
  }

  /** Requests that are being answered, and were not at once. */
  get running(): Map<RequestId, HttpExchange> {
    this.#running ??= new Map()
    return this.#running
  }

  /** How many they are. */
  get load(): number {
    return this.#running?.size ?? 0
  }

  /** Streams that are still being written to, whether or not a client reads them. */
  get streams(): Map<string, StoredStream> {
    this.#streams ??= new Map()
    return this.#streams
  }

  /** The stream that an event is named after, if it is written to here. */
  streamOf(eventId: string): StoredStream | undefined {
    for (const [id, stream] of this.#streams ?? []) if (eventId.includes(id)) return stream
    return undefined
  }

  /** Who waits to hear that a stream is written to by some process. */
  get seekers(): Set<Seeker> {
    this.#seekers ??= new Set()
    return this.#seekers
  }
}

interface Seeker {
  readonly streamId: string
  readonly found: () => void
}

/** What processes tell each other about a session. */
type Word =
  | { readonly answer: ResponseMessage }
  | { readonly notification: NotificationMessage }
  | { readonly state: Readonly<SessionState> }
  | { readonly ended: true }
  | { readonly sought: string }
  | { readonly writing: string }

/** How long other processes are given to say that they write to a stream, in ms. */
const SEEK = 1_000

export class LiveSessions {
  readonly #sessions = new Map<string, LiveSession>()
  readonly #bus: EventBus | undefined
  readonly #report: (problem: Error) => void

  constructor(bus: EventBus | undefined, report: (problem: Error) => void) {
    this.#bus = bus
    this.#report = report
  }

  /** Whether there may be other processes. */
  get isShared(): boolean {
    return this.#bus !== undefined
  }

  get all(): LiveSession[] {
    return [...this.#sessions.values()]
  }

  /** How often the record of a session has changed while it was alive here. */
  changesOf(id: string): number {
    return this.#sessions.get(id)?.changes ?? 0
  }

  /**
   * The session as far as it is alive here. Each call is paired with one of `release`. Others meet the same object only
   * when it is kept.
   * @param changes what `changesOf` said before the record was read
   */
  hold(id: string, state: Readonly<SessionState>, changes: number): LiveSession {
    const live = this.#sessions.get(id) ?? new LiveSession(id, state)
    live.holders += 1
    if (live.changes === changes) live.state = state
    return live
  }

  /** Has others find what is held, for as long as anybody holds it. */
  keep(live: LiveSession): void {
    if (this.#sessions.get(live.id) === undefined) this.#sessions.set(live.id, live)
  }

  /** Keeps what is held, and hears from now on what other processes say of it. */
  async listen(live: LiveSession): Promise<LiveSession> {
    const isKnown = this.#sessions.has(live.id)
    this.keep(live)
    try {
      if (!isKnown) live.unsubscribe = await this.#bus?.subscribe(topicOf(live.id), (text) => this.#hear(live, text))
      return live
    } catch (problem) {
      // Kept, it would be deaf for good, as who comes later takes what is known for subscribed.
      this.release(live)
      throw problem
    }
  }

  release(live: LiveSession): void {
    live.holders -= 1
    if (live.holders > 0 || this.#sessions.get(live.id) !== live) return
    this.#sessions.delete(live.id)
    void this.#unsubscribe(live)
  }

  async #unsubscribe(live: LiveSession): Promise<void> {
    try {
      await live.unsubscribe?.()
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  /** Brings an answer to whoever has asked. */
  async answer(live: LiveSession, answer: ResponseMessage): Promise<void> {
    if (live.asks.settle(answer)) return
    if (this.#bus === undefined) {
      this.#report(new ConnectionError('unmatched', 'An answer was ignored: nothing was asked with its id'))
    } else await this.#tell(live.id, { answer })
  }

  /** Brings a cancellation or a progress to whoever it is meant for; whether that is here. */
  async relate(live: LiveSession, notification: NotificationMessage): Promise<boolean> {
    const { method } = notification
    if (method !== 'notifications/cancelled' && method !== 'notifications/progress') return false
    if (!relateHere(live, notification)) await this.#tell(live.id, { notification })
    return true
  }

  /** The record has changed. */
  async changed(live: LiveSession, state: Readonly<SessionState>): Promise<void> {
    replaceState(live, state)
    await this.#tell(live.id, { state })
  }

  /** Whether some process writes to a stream of POST. Where processes cannot ask each other, it is taken for granted. */
  isWritten(live: LiveSession, streamId: string): Promise<boolean> {
    if (this.#bus === undefined || live.streams.has(streamId)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (isWritten: boolean) => {
        clearTimeout(timer)
        live.seekers.delete(seeker)
        resolve(isWritten)
      }
      const timer = setTimeout(() => settle(false), SEEK)
      const seeker: Seeker = { streamId, found: () => settle(true) }
      live.seekers.add(seeker)
      void this.#tell(live.id, { sought: streamId })
    })
  }

  /** Ends a session in every process. */
  async end(id: string): Promise<void> {
    const live = this.#sessions.get(id)
    if (live !== undefined) this.endHere(live, new ConnectionError('closed', 'The session has ended'))
    await this.#tell(id, { ended: true })
  }

  endHere(live: LiveSession, reason: Error): void {
    live.isOver = true
    live.feed?.end()
    live.asks.drop(reason)
    for (const exchange of [...live.running.values()]) exchange.abort(reason)
  }

  /** A bus is shared with others: what cannot be read of it ends nobody. */
  #hear(live: LiveSession, text: string): void {
    try {
      this.#heed(live, JSON.parse(text) as Word)
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  #heed(live: LiveSession, word: Word): void {
    if ('answer' in word) live.asks.settle(word.answer)
    else if ('notification' in word) relateHere(live, word.notification)
    else if ('state' in word) replaceState(live, word.state)
    else if ('sought' in word) this.#sayIfWriting(live, word.sought)
    else if ('writing' in word) tellSeekers(live, word.writing)
    else this.endHere(live, new ConnectionError('closed', 'The session has ended'))
  }

  #sayIfWriting(live: LiveSession, streamId: string): void {
    if (live.streams.has(streamId)) void this.#tell(live.id, { writing: streamId })
  }

  async #tell(id: string, word: Word): Promise<void> {
    try {
      await this.#bus?.publish(topicOf(id), JSON.stringify(word))
    } catch (problem) {
      this.#report(problem as Error)
    }
  }
}

function tellSeekers({ seekers }: LiveSession, streamId: string): void {
  for (const seeker of [...seekers]) if (seeker.streamId === streamId) seeker.found()
}

function replaceState(live: LiveSession, state: Readonly<SessionState>): void {
  live.state = state
  live.changes += 1
}

function relateHere(live: LiveSession, notification: NotificationMessage): boolean {
  if (notification.method === 'notifications/progress') return live.asks.hear(notification)
  const id = notification.params?.requestId
  const exchange = isRequestId(id) ? live.running.get(id) : undefined
  exchange?.abort(new ConnectionError('cancelled', 'The client cancelled the request'))
  return exchange !== undefined
}

function topicOf(id: string): string {
  return `mcpx/session/${id}`
}
