/** What the client as a whole listens to: its subscriptions to resources, and the lists if somebody hears of them. */

import { type Change, ConnectionError, pause, type ServerCapabilities, type SubscriptionFilter } from '@mcpx/protocol'
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
  /** Fires when the client is closed. */
  readonly closing?: AbortSignal | undefined
}

/** A stream that the server ends before that, in ms, is begun again after a pause, which is twice as long each time. */
const SOON = 5_000
const PAUSE = 250
const LONGEST = 30_000

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
  #turn: Promise<void> = Promise.resolve()
  /** Whether nobody has listened since the last stream. */
  #isMissed = false

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { closing, onChange } = options
    if (closing?.aborted) this.close()
    closing?.addEventListener('abort', () => this.close(), { signal: this.#stop.signal })
    if (onChange) this.#change((same) => same, {}).catch((problem) => this.#tryAgain(problem))
  }

  subscribe(uri: string, call: CallOptions): Promise<void> {
    return this.#change((known) => (known.includes(uri) ? known : [...known, uri]), call)
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#change((known) => known.filter((each) => each !== uri), {})
  }

  /** The stream ends with the signal. */
  close(): void {
    this.#stop.abort()
    this.#uris = []
    this.#current = undefined
  }

  /** One after the other, each from what the one before has left. */
  #change(next: (uris: Uris) => Uris, call: CallOptions): Promise<void> {
    const done = this.#turn.then(() => {
      const wanted = next(this.#uris)
      return wanted === this.#uris && this.#current !== undefined ? undefined : this.#replace(wanted, call)
    })
    this.#turn = done.catch(() => {})
    return done
  }

  async #replace(wanted: Uris, { timeout }: CallOptions): Promise<void> {
    const { onChange, capabilities, listen } = this.#options
    const filter = filterOf(wanted, onChange ? capabilities() : {})
    const how = { timeout, signal: this.#stop.signal, isAgain: this.#isMissed }
    const next = Object.keys(filter).length === 0 ? undefined : listen(filter, how)
    const followed = await next?.ready
    // The last one has ended meanwhile: what nobody told of since is lost on this one too.
    if (this.#isMissed && !how.isAgain) {
      next?.close()
      return this.#replace(wanted, { timeout })
    }
    if (wanted.length > 0 && followed?.resourceSubscriptions === undefined) {
      next?.close()
      throw new ConnectionError('unsupported', 'The server does not tell of updates of resources')
    }
    this.#uris = wanted
    const last = this.#current
    this.#current = next
    this.#isMissed = false
    if (next) void this.#tell(next)
    last?.close()
  }

  async #tell(changes: Listening): Promise<void> {
    const begun = Date.now()
    let isOver = false
    try {
      // Also what waits when another stream has taken its place: that one does not tell of it again.
      for await (const each of changes) if (!this.#stop.signal.aborted) this.#options.onChange?.(each)
    } catch (error) {
      isOver = true
      this.#options.report(error as Error)
    }
    if (changes !== this.#current || this.#stop.signal.aborted) return
    this.#current = undefined
    this.#isMissed = true
    if (!isOver) await this.#goOn(begun)
  }

  /** The server has ended the stream in good order, as one does that another will stand for. */
  async #goOn(begun: number): Promise<void> {
    this.#ends = Date.now() - begun < SOON ? this.#ends + 1 : 0
    const { signal } = this.#stop
    try {
      if (this.#ends > 0) await pause(Math.min(PAUSE * 2 ** this.#ends, LONGEST), signal)
      signal.throwIfAborted()
      await this.#change((same) => same, {})
    } catch (error) {
      await this.#tryAgain(error as ConnectionError)
    }
  }

  /** After an end before the stream was confirmed, or no word for too long. Anything else is for good. */
  async #tryAgain(problem: Error & Partial<ConnectionError>): Promise<void> {
    const { reason } = problem
    // Whose client is not known says in no other way that it was closed.
    if (this.#stop.signal.aborted || (reason === 'closed' && !this.#options.closing)) return
    if (reason !== 'cancelled') this.#options.report(problem)
    if (reason === 'cancelled' || reason === 'timeout') await this.#goOn(Date.now())
  }
}

function filterOf(uris: readonly string[], { tools, prompts, resources }: ServerCapabilities): SubscriptionFilter {
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
}
