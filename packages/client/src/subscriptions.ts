/**
 * The subscriptions of a client. One stream carries the updates of all subscribed resources, and list changes. When the
 * set of resources changes, a new stream replaces the old stream after the server has confirmed it. During the
 * replacement a change may be reported twice, but no change is lost.
 */

import {
  type Change,
  ConnectionError,
  ErrorCode,
  pause,
  quoted,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { within } from './async.ts'
import { CONFIRM_TIMEOUT, type Listening } from './change-stream.ts'
import { changesOf } from './era.ts'
import type { ListenOptions } from './options.ts'

export interface SubscriptionsOptions {
  /** Opens a stream. */
  readonly listen: (filter: SubscriptionFilter, options: ListenOptions) => Listening
  readonly capabilities: () => ServerCapabilities
  /** Called with all changes. If undefined, the streams do not include list changes. */
  readonly onChange: ((change: Change) => void) | undefined
  readonly onWarning: (warning: Error) => void
  /** How long the server may take to confirm a subscription, in ms. Default: 60,000. */
  readonly timeout?: number | undefined
  /** Aborted when the client is closed. */
  readonly closing?: AbortSignal | undefined
}

/**
 * If a stream ends within `SHORT_LIFE`, the next stream is opened after a delay. The delay doubles with each such
 * stream in a row. All values are in ms.
 */
const SHORT_LIFE = 5_000
const FIRST_DELAY = 250
const LONGEST_DELAY = 30_000

type Uris = readonly string[]

/** The newest stream. */
interface CurrentStream {
  readonly stream: Listening
  /** Resolves when all changes that arrived have been reported. */
  readonly reading: Promise<void>
}

/** The subscription that the server has to confirm on a new stream. */
interface NewSubscription {
  readonly uri: string
  readonly timeout: number | undefined
  readonly signal: AbortSignal
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #stop = new AbortController()
  /** The resources that are subscribed to. */
  #uris: Uris = []
  #current: CurrentStream | undefined
  /** Resources whose `unsubscribe` call waits in the queue. */
  readonly #leaving = new Set<string>()
  /** Resources that were removed although the current stream may still announce their changes. */
  readonly #unsubscribed = new Set<string>()
  /** The last operation of the queue. Operations run one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  /** Whether a stream is needed and none is open, so that changes may be missed. */
  #isInterrupted = false
  #isReopening = false
  /** Whether the server has confirmed a stream. */
  #wasConfirmed = false
  /** How often in a row a stream ended soon, or could not be opened. */
  #failures = 0
  #lastWarning = ''

  /** Opens a stream immediately if there is a callback for list changes. */
  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { closing, onChange } = options
    if (closing?.aborted) this.close()
    closing?.addEventListener('abort', () => this.close(), { signal: this.#stop.signal })
    if (onChange === undefined) return
    this.#isInterrupted = true
    void this.#reopen()
  }

  /**
   * Resolves when the server has confirmed. The time in the queue counts towards `timeout`, but not towards the default
   * timeout.
   */
  subscribe(uri: string, { signal, timeout }: ListenOptions): Promise<void> {
    const limits = { signal, timeout: timeout ?? Number.POSITIVE_INFINITY }
    const subscribe = (ended: AbortSignal) =>
      this.#enqueue(async () => {
        ended.throwIfAborted()
        if (!this.#follows(uri)) await this.#replace(withUri(this.#uris, uri), { uri, timeout, signal: ended })
      })
    return within(`subscribe ${quoted(uri)}`, limits, subscribe, () => notConfirmedError(uri, limits.timeout))
  }

  async unsubscribe(uri: string): Promise<void> {
    this.#leaving.add(uri)
    await this.#enqueue(async () => {
      this.#leaving.delete(uri)
      if (!this.#uris.includes(uri)) return
      this.#unsubscribed.add(uri)
      this.#uris = this.#uris.filter((each) => each !== uri)
      await this.#replace(this.#uris)
    })
  }

  /** Ends the stream and forgets all subscriptions. */
  close(): void {
    this.#stop.abort(new ConnectionError('closed', 'The client was closed'))
    this.#uris = []
    this.#current = undefined
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(run)
    this.#queue = done.catch(() => {})
    return done
  }

  #follows(uri: string): boolean {
    const stream = this.#current?.stream
    return stream !== undefined && this.#uris.includes(uri) && follows(stream, uri)
  }

  /** Opens a stream for these resources. Once the server has confirmed it, it replaces the current one. */
  async #replace(uris: Uris, subscription?: NewSubscription): Promise<void> {
    const next = this.#open(uris, subscription?.timeout)
    try {
      await this.#untilReady(next, subscription)
      subscription?.signal.throwIfAborted()
      if (subscription !== undefined && next !== undefined) checkFollowed(next, subscription.uri)
    } catch (error) {
      next?.close()
      throw error
    }
    const previous = this.#current
    // No changes are missed before the first stream, unless it took several attempts to open it.
    const hasMissed = this.#isInterrupted && (this.#wasConfirmed || this.#failures > 0)
    this.#isInterrupted = false
    this.#wasConfirmed = true
    this.#uris = uris
    this.#current = next && { stream: next, reading: this.#read(next) }
    this.#warnOfUnfollowed(next, uris)
    if (hasMissed) this.#reportAll()
    void this.#closeReplaced(previous, [...this.#unsubscribed])
  }

  /**
   * Closes a replaced stream. If changes may have been missed on it, reports everything in the filter of the new stream
   * as changed.
   */
  async #closeReplaced(previous: CurrentStream | undefined, unsubscribed: Uris): Promise<void> {
    if (previous !== undefined) {
      const { stream, reading } = previous
      const wasOpen = stream.isOpen
      stream.close()
      await reading
      if (wasOpen !== true || stream.endedBy !== 'client' || stream.isSeparate !== false) this.#reportAll()
    }
    for (const uri of unsubscribed) this.#unsubscribed.delete(uri)
  }

  /** Opens a stream for these resources and list changes. Returns undefined if there is nothing to subscribe to. */
  #open(uris: Uris, timeout: number | undefined): Listening | undefined {
    const { onChange, capabilities, listen } = this.#options
    const { tools, prompts, resources }: ServerCapabilities = onChange === undefined ? {} : capabilities()
    const filter: SubscriptionFilter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
      ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
    }
    if (Object.keys(filter).length === 0) return undefined
    return listen(filter, { timeout, signal: this.#stop.signal })
  }

  /**
   * Waits until the server has confirmed, at most for the timeout of the `subscribe` call: the wait is long if a lost
   * connection has to be opened again.
   */
  async #untilReady(next: Listening | undefined, subscription: NewSubscription | undefined): Promise<void> {
    if (subscription === undefined) return void (await next?.ready)
    const { uri, signal, timeout = this.#options.timeout ?? CONFIRM_TIMEOUT } = subscription
    const isReady = async () => next?.ready
    await within(`subscribe ${quoted(uri)}`, { signal, timeout }, isReady, () => notConfirmedError(uri, timeout))
  }

  async #read(stream: Listening): Promise<void> {
    const startTime = Date.now()
    try {
      for await (const change of stream) this.#report(change)
    } catch (error) {
      this.#warn(error as Error)
    }
    if (stream !== this.#current?.stream) return
    // The client itself was closed.
    if (stream.endedBy === 'client') return this.close()
    this.#current = undefined
    this.#isInterrupted = true
    this.#failures = Date.now() - startTime < SHORT_LIFE ? this.#failures + 1 : 0
    void this.#reopen()
  }

  #reportAll(): void {
    for (const change of changesOf(this.#current?.stream.followed ?? {})) this.#report(change)
  }

  #report(change: Change): void {
    if (this.#stop.signal.aborted) return
    const isBelow = (uri: string) => change.kind === 'resource' && normalize(change.uri).startsWith(normalize(uri))
    const isUnwanted = [...this.#leaving, ...this.#unsubscribed].some(isBelow)
    if (isUnwanted && !this.#uris.some((uri) => !this.#leaving.has(uri) && isBelow(uri))) return
    this.#options.onChange?.(change)
  }

  /** Tries to open a stream until the server confirms one, or until further attempts are useless. */
  async #reopen(): Promise<void> {
    if (this.#isReopening) return
    this.#isReopening = true
    const { signal } = this.#stop
    while (this.#isInterrupted && !signal.aborted) {
      const delay = Math.min(FIRST_DELAY * 2 ** this.#failures, LONGEST_DELAY)
      if (this.#failures > 0) await pause(delay, signal).catch(() => {})
      try {
        await this.#enqueue(async () => {
          if (this.#isInterrupted) await this.#replace(this.#uris)
        })
      } catch (error) {
        if (this.#isFinal(error as Failure)) break
        this.#failures += 1
      }
    }
    this.#isReopening = false
  }

  /**
   * Returns whether further attempts are useless: the client was closed, or the server refuses streams and has never
   * confirmed one.
   */
  #isFinal(error: Failure): boolean {
    const { reason, code, status = 0 } = error
    if (this.#stop.signal.aborted || (reason === 'closed' && this.#options.closing === undefined)) return true
    if (reason !== 'cancelled') this.#warn(error)
    if (this.#wasConfirmed) return false
    const isRefusedStatus = status >= 400 && status < 500 && status !== 429
    return reason === 'unsupported' || code === ErrorCode.MethodNotFound || isRefusedStatus
  }

  /** Reports a warning, unless it is the same as the previous one. */
  #warn(warning: Error): void {
    if (warning.message !== this.#lastWarning) this.#options.onWarning(warning)
    this.#lastWarning = warning.message
  }

  #warnOfUnfollowed(stream: Listening | undefined, uris: Uris): void {
    const unfollowed = stream === undefined ? [] : uris.filter((uri) => !follows(stream, uri))
    if (unfollowed.length > 0) this.#warn(notFollowedError(unfollowed))
    else this.#lastWarning = ''
  }
}

/** An `RpcError`, a `ConnectionError`, or any other error. */
type Failure = Error & Partial<Pick<ConnectionError, 'reason' | 'status'>> & { readonly code?: unknown }

function withUri(uris: Uris, uri: string): Uris {
  return uris.includes(uri) ? uris : [...uris, uri]
}

/** Returns whether the server confirmed a resource. The server may write the URI in another way. */
function follows(stream: Listening, uri: string): boolean {
  const followed = stream.followed?.resourceSubscriptions ?? []
  return followed.includes(uri) || followed.map(normalize).includes(normalize(uri))
}

function checkFollowed(stream: Listening, uri: string): void {
  if (!follows(stream, uri)) throw stream.refused?.get(uri) ?? notFollowedError([uri])
}

function normalize(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri
}

function notFollowedError(uris: Uris): ConnectionError {
  return new ConnectionError('unsupported', `The server does not announce updates of ${uris.slice(0, 10).join(', ')}`)
}

function notConfirmedError(uri: string, timeout: number): ConnectionError {
  const hint = 'Pass a longer timeout.'
  const message = `The server did not confirm the subscription to ${quoted(uri)} within ${timeout} ms`
  return new ConnectionError('timeout', message, { hint })
}
