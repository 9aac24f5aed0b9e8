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

/** A stream that the server ends before that, in ms, is begun again after a pause, which is longer each time. */
const SOON = 5_000
const SHORTEST_PAUSE = 500
const LONGEST_PAUSE = 30_000

/** One stream carries everything; a change of what is wanted begins a new one before it ends the old. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  return new OneStream(options)
}

type Uris = readonly string[]

class OneStream implements Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #stop = new AbortController()
  readonly #rest = createRest(this.#stop.signal)
  #uris: Uris = []
  #current: Listening | undefined
  #turn: Promise<void> = Promise.resolve()
  /** Whether nobody has listened since the last stream. */
  #isMissed = false

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    options.closing?.addEventListener('abort', () => this.close(), { once: true })
    if (options.onChange !== undefined) this.#change((same) => same, {}).catch((problem) => this.#report(problem))
  }

  subscribe(uri: string, call: CallOptions): Promise<void> {
    return this.#change((known) => (known.includes(uri) ? known : [...known, uri]), call)
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#change((known) => known.filter((each) => each !== uri), {})
  }

  close(): void {
    this.#stop.abort()
    this.#uris = []
    this.#current?.close()
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
    const filter = filterOf(wanted, onChange === undefined ? {} : capabilities())
    const how = { timeout, signal: this.#stop.signal, isAgain: this.#isMissed }
    const next = Object.keys(filter).length === 0 ? undefined : listen(filter, how)
    const followed = await next?.ready
    if (wanted.length > 0 && followed?.resourceSubscriptions === undefined) {
      next?.close()
      throw new ConnectionError('unsupported', 'The server does not tell of updates of resources')
    }
    this.#uris = wanted
    const last = this.#current
    this.#current = next
    this.#isMissed = false
    if (next !== undefined) void this.#tell(next)
    last?.close()
  }

  async #tell(changes: Listening): Promise<void> {
    const begun = Date.now()
    let isOver = false
    try {
      for await (const each of changes) {
        if (changes === this.#current) this.#options.onChange?.(each)
      }
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
    try {
      await this.#rest(begun)
      await this.#change((same) => same, {})
    } catch (error) {
      const { reason } = error as ConnectionError
      // Whose client is not known says in no other way that it was closed.
      if (reason === 'closed' && this.#options.closing === undefined) return
      if (reason === 'cancelled') await this.#goOn(Date.now())
      else this.#report(error as Error)
    }
  }

  #report(problem: Error): void {
    if (!this.#stop.signal.aborted) this.#options.report(problem)
  }
}

/** How to wait before the next stream, by when the last one began. */
function createRest(signal: AbortSignal): (begun: number) => Promise<void> {
  /** How often in a row one was ended soon. */
  let ends = 0
  return async (begun) => {
    ends = Date.now() - begun < SOON ? ends + 1 : 0
    if (ends > 0) await pause(Math.min(SHORTEST_PAUSE * 2 ** (ends - 1), LONGEST_PAUSE), signal)
    signal.throwIfAborted()
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
