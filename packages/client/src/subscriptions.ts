/** What the client as a whole listens to: its subscriptions to resources, and the lists if somebody hears of them. */

import {
  type Change,
  ConnectionError,
  ErrorCode,
  pause,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { inTime, withSignal } from './cancellation.ts'
import { CONFIRM_TIMEOUT, notConfirmed } from './confirmation.ts'
import type { Listening, ListenOptions } from './listening.ts'
import type { CallOptions } from './options.ts'
import { Stragglers } from './stragglers.ts'

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
  /** How long the server may take to confirm, in ms. Default: 60,000. */
  readonly timeout?: number | undefined
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
  readonly #stragglers: Stragglers
  #uris: Uris = []
  #current: Listening | undefined
  /** What the current one was asked to follow. */
  #asked: Uris = []
  /** What was followed until just now. */
  readonly #gone = new Set<string>()
  /** What is to be given up when its turn has come. */
  readonly #leaving = new Set<string>()
  #turn: Promise<void> = Promise.resolve()
  /** Whether changes may have gone unheard, and whether that is seen to. */
  #isMissed = false
  #isGoingOn = false
  /** Whether the server has ever confirmed a stream. */
  #isKnown = false
  /** How often in a row a stream has ended soon. */
  #ends = 0
  #reported = ''

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { closing, onChange, isOrdered } = options
    const { signal } = this.#stop
    const tell = (change: Change) => this.#hear(change)
    // The server has forgotten by then what is not wanted any more, if it was asked to.
    const onNone = () => void (this.#asked === this.#uris && this.#gone.clear())
    this.#stragglers = new Stragglers({ signal, tell, onNone, isOrdered })
    if (closing?.aborted) this.close()
    closing?.addEventListener('abort', () => this.close(), { signal: this.#stop.signal })
    if (onChange) this.#change((same) => same, {}).catch((problem) => this.#retry(problem))
  }

  subscribe(uri: string, { signal, timeout }: CallOptions): Promise<void> {
    const add = (known: Uris) => (known.includes(uri) ? known : [...known, uri])
    return withSignal('subscribe', signal, (given) => {
      const change = this.#change(add, { uri, timeout, signal: given })
      // Those before it may take their time.
      return timeout === undefined ? change : inTime(change, timeout, given, notConfirmed)
    })
  }

  async unsubscribe(uri: string): Promise<void> {
    this.#leaving.add(uri)
    const remove = (known: Uris) => {
      this.#leaving.delete(uri)
      if (!known.includes(uri)) return known
      this.#gone.add(uri)
      return known.filter((each) => each !== uri)
    }
    await this.#change(remove, {})
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
      const isThere = this.#current !== undefined && !this.#isMissed
      const isFollowed = asked.uri === undefined || followedOf([asked.uri], this.#current?.followed).has(asked.uri)
      if (wanted === this.#uris && isThere && isFollowed) return
      // Who wants less hears less from now on, even where the server does not confirm it.
      if (asked.uri === undefined) this.#uris = wanted
      await this.#replace(wanted, asked)
    })
    this.#turn = done.catch(() => {})
    return done
  }

  async #replace(wanted: Uris, asked: Asked): Promise<void> {
    const { uri, timeout, signal } = asked
    const { onChange, capabilities, listen } = this.#options
    const filter = filterOf(wanted, onChange ? capabilities() : {})
    const isAgain = this.#isMissed || this.#current?.isOpen === false
    const next =
      Object.keys(filter).length === 0 ? undefined : listen(filter, { timeout, signal: this.#stop.signal, isAgain })
    const answered = await this.#confirmed(next, asked)
    const followed = followedOf(wanted, answered)
    const isRefused = uri !== undefined && !followed.has(uri)
    if (isRefused || signal?.aborted) next?.close()
    signal?.throwIfAborted()
    if (isRefused) throw next?.refused?.get(uri) ?? notTold([uri])
    this.#isKnown = true
    // Where it counts all as changed, that makes up for whatever was missed before.
    this.#isMissed = !isAgain && (this.#isMissed || this.#current?.isOpen === false)
    for (const each of this.#asked) this.#gone.add(each)
    for (const each of wanted) this.#gone.delete(each)
    this.#uris = this.#asked = wanted
    this.#reportRefused(wanted.filter((each) => !followed.has(each)))
    const last = this.#current
    this.#current = next
    if (next) void this.#tell(next)
    this.#stragglers.leave(last, next === undefined || isAgain)
    void this.#goOn()
  }

  /** Whoever asked for a resource waits no longer than for any answer: to reach the server again may take long. */
  async #confirmed(next: Listening | undefined, asked: Asked): Promise<SubscriptionFilter | undefined> {
    if (next === undefined || asked.uri === undefined) return next?.ready
    const { timeout = this.#options.timeout ?? CONFIRM_TIMEOUT, signal } = asked
    try {
      return await withSignal('subscribe', signal, (done) => inTime(next.ready, timeout, done, notConfirmed))
    } catch (error) {
      next.close()
      throw error
    }
  }

  async #tell(stream: Listening): Promise<void> {
    const begun = Date.now()
    try {
      for await (const change of stream) this.#stragglers.take(change, stream)
    } catch (error) {
      this.#report(error as Error)
    }
    if (this.#stragglers.hasClosed(stream) || this.#stop.signal.aborted) return
    if (stream === this.#current) {
      this.#current = undefined
      this.#ends = Date.now() - begun < SOON ? this.#ends + 1 : 0
    }
    this.#isMissed = true
    await this.#goOn()
  }

  #hear(change: Change): void {
    if (this.#stop.signal.aborted) return
    const isOf = (uri: string) => change.kind === 'resource' && normal(change.uri).startsWith(normal(uri))
    const isUnwanted = [...this.#gone, ...this.#leaving].some(isOf)
    if (isUnwanted && !this.#uris.some((uri) => !this.#leaving.has(uri) && isOf(uri))) return
    this.#options.onChange?.(change)
  }

  /** Listens anew until nothing is missed any more. */
  async #goOn(): Promise<void> {
    if (this.#isGoingOn) return
    this.#isGoingOn = true
    const { signal } = this.#stop
    while (this.#isMissed && !signal.aborted) {
      if (this.#ends > 0) await pause(Math.min(PAUSE * 2 ** this.#ends, LONGEST), signal).catch(() => {})
      if (!this.#isMissed || signal.aborted) break
      const problem = await this.#change((same) => same, {}).catch((error: Problem) => error)
      if (problem !== undefined && this.#isForGood(problem)) break
      if (problem !== undefined) this.#ends += 1
    }
    this.#isGoingOn = false
  }

  #retry(problem: Problem): void {
    if (this.#isForGood(problem)) return
    this.#isMissed = true
    this.#ends += 1
    void this.#goOn()
  }

  /** A server that has never confirmed a stream, and says no, does not tell of changes. */
  #isForGood(problem: Problem): boolean {
    const { reason, code, status = 0 } = problem
    // Whose client is not known says in no other way that it was closed.
    if (this.#stop.signal.aborted || (reason === 'closed' && !this.#options.closing)) return true
    if (reason !== 'cancelled') this.#report(problem)
    if (this.#isKnown) return false
    return (
      reason === 'unsupported' || code === ErrorCode.MethodNotFound || (status >= 400 && status < 500 && status !== 429)
    )
  }

  /** Once, as long as it stays the same. */
  #report(problem: Error): void {
    if (problem.message !== this.#reported) this.#options.report(problem)
    this.#reported = problem.message
  }

  #reportRefused(uris: Uris): void {
    if (uris.length > 0) this.#report(notTold(uris))
    else this.#reported = ''
  }
}

type Problem = Error & Partial<Pick<ConnectionError, 'reason' | 'status'>> & { readonly code?: unknown }

/** What is asked for once: a URI, and how long to wait for it. */
interface Asked {
  readonly uri?: string
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal
}

/** Servers may write a URI in another way when they confirm it. */
function followedOf(wanted: Uris, answered: SubscriptionFilter | undefined): ReadonlySet<string> {
  const told = answered?.resourceSubscriptions ?? []
  const exact = new Set(told)
  if (wanted.every((uri) => exact.has(uri))) return exact
  const alike = new Set(told.map(normal))
  return new Set(wanted.filter((uri) => alike.has(normal(uri))))
}

const normal = (uri: string) => (URL.canParse(uri) ? new URL(uri).href : uri)

function notTold(uris: Uris): ConnectionError {
  return new ConnectionError('unsupported', `The server does not tell of updates of ${uris.slice(0, 10).join(', ')}`)
}

function filterOf(uris: readonly string[], { tools, prompts, resources }: ServerCapabilities): SubscriptionFilter {
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
}
