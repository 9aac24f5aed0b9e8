/** What the client as a whole listens to: its subscriptions to resources, and the lists if somebody hears of them. */

import { type Change, ConnectionError, pause, type ServerCapabilities, type SubscriptionFilter } from '@mcpx/protocol'
import { withSignal } from './cancellation.ts'
import type { Listening, ListenOptions } from './listening.ts'
import type { CallOptions } from './options.ts'

export interface Subscriptions {
  subscribe(uri: string, options: CallOptions): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** Ends the stream and forgets all subscriptions. */
  close(): void
}

export interface SubscriptionsOptions {
  readonly listen: (filter: SubscriptionFilter, options: ListenOptions) => Listening
  readonly capabilities: () => ServerCapabilities
  readonly onChange: ((change: Change) => void) | undefined
  readonly report: (problem: Error) => void
  /** Whether what was told before a stream is confirmed has come by then, as where all streams come by one pipe. */
  readonly isOrdered: () => boolean
  /** Fires when the client is closed. */
  readonly closing?: AbortSignal | undefined
}

/** A stream that the server ends before that, in ms, is begun again after a pause, which is twice as long each time. */
const SOON = 5_000
const PAUSE = 250
const LONGEST = 30_000
/** How long, in ms, what was told on a stream may come after the confirmation of the one that took its place. */
const STRAGGLING = 500

/** One stream carries everything; a change of what is wanted begins a new one before it ends the old. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  return new OneStream(options)
}

type Uris = readonly string[]

class OneStream implements Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #stop = new AbortController()
  /** How often in a row a stream has ended soon. */
  #ends = 0
  #uris: Uris = []
  #current: Listening | undefined
  /** The one before, for as long as something may come of it. */
  #last: Listening | undefined
  /** What has come of that, and not of the current one. */
  readonly #late = new Map<string, Change>()
  /** Those that this side has ended. */
  readonly #closed = new WeakSet<Listening>()
  #turn: Promise<void> = Promise.resolve()
  /** Whether changes may have gone unheard. */
  #isMissed = false
  /** Whether the server has ever confirmed a stream. */
  #isKnown = false
  #reported = ''

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { closing, onChange } = options
    if (closing?.aborted) this.close()
    closing?.addEventListener('abort', () => this.close(), { signal: this.#stop.signal })
    if (onChange) this.#change((same) => same, {}).catch((problem) => this.#tryAgain(problem))
  }

  subscribe(uri: string, { signal, timeout }: CallOptions): Promise<void> {
    const add = (known: Uris) => (known.includes(uri) ? known : [...known, uri])
    return withSignal('subscribe', signal, (given) => this.#change(add, { uri, timeout, signal: given }))
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#change((known) => (known.includes(uri) ? known.filter((each) => each !== uri) : known), {})
  }

  /** The stream ends with the signal. */
  close(): void {
    this.#stop.abort(new ConnectionError('closed', 'The client was closed'))
    this.#uris = []
    this.#current = undefined
  }

  /** One after the other, each from what the one before has left. */
  #change(next: (uris: Uris) => Uris, asked: Asked): Promise<void> {
    const done = this.#turn.then(async () => {
      asked.signal?.throwIfAborted()
      const wanted = next(this.#uris)
      if (wanted === this.#uris && this.#current !== undefined && !this.#isMissed) return
      // Who wants less hears less from now on, even where the server does not confirm it.
      if (asked.uri === undefined) this.#uris = wanted
      await this.#replace(wanted, asked)
    })
    this.#turn = done.catch(() => {})
    return done
  }

  async #replace(wanted: Uris, { uri, timeout, signal }: Asked): Promise<void> {
    const { onChange, capabilities, listen } = this.#options
    const filter = filterOf(wanted, onChange ? capabilities() : {})
    const isAgain = this.#isMissed
    const next =
      Object.keys(filter).length === 0 ? undefined : listen(filter, { timeout, signal: this.#stop.signal, isAgain })
    const giveUp = () => next?.close()
    signal?.addEventListener('abort', giveUp)
    const followed = await next?.ready.finally(() => signal?.removeEventListener('abort', giveUp))
    // What came before the confirmation is read by then, and the end of the last one noticed.
    if (this.#current !== undefined) await pause(0, this.#stop.signal)
    const told = new Set(followed?.resourceSubscriptions)
    const refused = wanted.filter((each) => !told.has(each))
    const isRefused = uri !== undefined && refused.includes(uri)
    if (isRefused || signal?.aborted) giveUp()
    signal?.throwIfAborted()
    if (isRefused) throw notTold([uri])
    this.#uris = wanted
    if (isAgain) this.#isMissed = false
    this.#isKnown = true
    if (refused.length > 0) this.#report(notTold(refused))
    else this.#reported = ''
    this.#leave(this.#current, next === undefined)
    this.#current = next
    if (next) void this.#tell(next)
  }

  /**
   * What the server told before it confirmed the next stream may come on the last one still. It is told at the end of the
   * wait, unless the next one has told it: that has all that happened since, so nothing is told twice.
   */
  #leave(stream: Listening | undefined, isUnwanted: boolean): void {
    this.#drop(this.#last)
    if (isUnwanted || this.#options.isOrdered()) this.#drop(stream)
    else if (stream !== undefined) {
      this.#last = stream
      pause(STRAGGLING, this.#stop.signal).then(
        () => this.#drop(stream),
        () => {},
      )
    }
  }

  #drop(stream: Listening | undefined): void {
    if (stream === undefined || this.#closed.has(stream)) return
    this.#closed.add(stream)
    stream.close()
    if (stream !== this.#last) return
    this.#last = undefined
    const late = [...this.#late.values()]
    this.#late.clear()
    for (const change of late) this.#hear(change)
  }

  async #tell(stream: Listening): Promise<void> {
    const begun = Date.now()
    try {
      for await (const change of stream) this.#take(change, stream)
    } catch (error) {
      this.#report(error as Error)
    }
    if (this.#closed.has(stream) || this.#stop.signal.aborted) return
    if (stream === this.#current) this.#current = undefined
    this.#isMissed = true
    await this.#goOn(begun)
  }

  #take(change: Change, stream: Listening): void {
    if (stream === this.#current || this.#last === undefined) {
      this.#late.delete(keyOf(change))
      this.#hear(change)
    } else this.#late.set(keyOf(change), change)
  }

  #hear(change: Change): void {
    if (this.#stop.signal.aborted) return
    if (change.kind !== 'resource' || this.#uris.some((uri) => change.uri.startsWith(uri)))
      this.#options.onChange?.(change)
  }

  /** The server has ended the stream in good order, as one does that another will stand for, or it could not be kept. */
  async #goOn(begun: number): Promise<void> {
    this.#ends = Date.now() - begun < SOON ? this.#ends + 1 : 0
    const { signal } = this.#stop
    try {
      if (this.#ends > 0) await pause(Math.min(PAUSE * 2 ** this.#ends, LONGEST), signal)
      signal.throwIfAborted()
      if (this.#isMissed) await this.#change((same) => same, {})
    } catch (error) {
      await this.#tryAgain(error as ConnectionError)
    }
  }

  /** A server that has never confirmed a stream, and says no, does not tell of changes. */
  async #tryAgain(problem: Error & Partial<ConnectionError>): Promise<void> {
    const { reason } = problem
    // Whose client is not known says in no other way that it was closed.
    if (this.#stop.signal.aborted || (reason === 'closed' && !this.#options.closing)) return
    this.#isMissed = true
    if (reason !== 'cancelled') this.#report(problem)
    if (this.#isKnown || reason === 'cancelled' || reason === 'timeout') await this.#goOn(Date.now())
  }

  /** Once, as long as it stays the same. */
  #report(problem: Error): void {
    if (problem.message !== this.#reported) this.#options.report(problem)
    this.#reported = problem.message
  }
}

/** What is asked for once: a URI, and how long to wait for it. */
interface Asked {
  readonly uri?: string
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal
}

function notTold(uris: Uris): ConnectionError {
  return new ConnectionError('unsupported', `The server does not tell of updates of ${uris.slice(0, 10).join(', ')}`)
}

function keyOf(change: Change): string {
  return change.kind === 'resource' ? `resource ${change.uri}` : change.kind
}

function filterOf(uris: readonly string[], { tools, prompts, resources }: ServerCapabilities): SubscriptionFilter {
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
}
