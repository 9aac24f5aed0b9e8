/**
 * A stream of changes to iterate over. It continues over a new connection; after the gap, everything in its filter
 * counts as changed.
 */

import { type Change, ConnectionError, ErrorCode, pause, RpcError, type SubscriptionFilter } from '@mcpx/protocol'
import { createDeferred } from './async.ts'
import { createChangeQueue, overflowError } from './change-queue.ts'
import { changesOf, type Side } from './era.ts'
import type { ListenOptions } from './options.ts'
import type { Reconnector } from './reconnect.ts'
import type { ClientState } from './state.ts'

/**
 * The changes of a server, to iterate over. The iteration ends when the server or the client ends the stream, when the
 * signal is aborted, or after `close()`. It throws if the stream cannot be continued. After a lost connection,
 * everything in the filter counts as changed.
 */
export interface Listening extends AsyncIterableIterator<Change> {
  /** Resolves when the server has confirmed the subscription, with the confirmed part of the filter. */
  readonly ready: Promise<SubscriptionFilter>
  /**
   * Whether the stream is open. False before the server has confirmed the subscription, and between two connections.
   */
  readonly isOpen?: boolean | undefined
  /** The part of the filter that the server confirmed on the present connection. It may differ between connections. */
  readonly followed?: SubscriptionFilter | undefined
  /** The errors of resources that the server refused. Legacy era only; the modern era has no error for a single resource. */
  readonly refused?: ReadonlyMap<string, Error> | undefined
  /** Whether messages of other streams can overtake messages of this stream, as over HTTP. */
  readonly isSeparate?: boolean | undefined
  /** The side that ended the stream. Undefined while the stream is open. After an error, it is `server`. */
  readonly endedBy?: Side | undefined
  /** Ends the stream. Changes that arrived before can still be read. */
  close(): void
}

/** The default time in which the server must confirm, in ms. */
export const CONFIRM_TIMEOUT = 60_000
/**
 * The largest number of failed attempts in a row to open a broken stream again, and the delays between attempts, in ms.
 */
const MAX_ATTEMPTS = 8
const FIRST_DELAY = 250
const LONGEST_DELAY = 30_000
/** If a stream was open for longer than this, in ms, the delays begin again. */
const SHORT_LIFE = 5_000

export class ChangeStream implements Listening {
  followed: SubscriptionFilter | undefined
  refused: ReadonlyMap<string, Error> | undefined
  isSeparate = false
  endedBy: Side | undefined
  readonly #state: ClientState
  readonly #reconnector: Reconnector
  readonly #filter: SubscriptionFilter
  readonly #timeout: number
  readonly #stop = new AbortController()
  readonly #queue = createChangeQueue()
  readonly #ready = createDeferred<SubscriptionFilter>()
  /** The time at which the open stream was confirmed. */
  #openSince: number | undefined
  #attempts = 0
  #delays = 0

  /** Opens the stream at once. */
  constructor(
    state: ClientState,
    reconnector: Reconnector,
    filter: SubscriptionFilter,
    { signal, timeout = state.options.timeout ?? CONFIRM_TIMEOUT }: ListenOptions,
  ) {
    this.#state = state
    this.#reconnector = reconnector
    this.#filter = filter
    this.#timeout = timeout
    const signals = [reconnector.closing, ...(signal === undefined ? [] : [signal])]
    for (const each of signals) {
      if (each.aborted) this.close()
      each.addEventListener('abort', this.close, { once: true })
    }
    const ended = this.#listen().then(
      (side) => this.#end(side),
      (error: Error) => this.#end('server', error),
    )
    void ended.then(() => {
      for (const each of signals) each.removeEventListener('abort', this.close)
    })
  }

  get ready(): Promise<SubscriptionFilter> {
    return this.#ready.promise
  }

  get isOpen(): boolean {
    return this.#openSince !== undefined
  }

  readonly close = (): void => {
    this.#stop.abort(new ConnectionError('cancelled', 'The stream of changes was closed'))
  }

  next(): Promise<IteratorResult<Change>> {
    return this.#queue.next()
  }

  async return(): Promise<IteratorResult<Change>> {
    this.close()
    this.#queue.end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Ends the stream. Further calls have no effect. */
  #end(side: Side, error?: Error): void {
    if (this.endedBy !== undefined) return
    this.endedBy = side
    this.#openSince = undefined
    const reason = side === 'client' ? 'closed' : 'cancelled'
    this.#ready.reject(error ?? new ConnectionError(reason, 'The stream ended before the server confirmed it'))
    this.#queue.end(error)
  }

  /**
   * Listens, and opens new connections if necessary. Resolves to the side that ended the stream. Rejects if the stream
   * cannot be continued.
   */
  async #listen(): Promise<Side> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const connection = await this.#reconnector.connect('listen', signal)
        this.isSeparate = connection.hasSeparateStreams
        return await connection.listen(this.#filter, {
          signal,
          timeout: this.#timeout,
          onReady: (followed, refused) => this.#handleReady(followed, refused),
          onChange: (change) => this.#push(change),
        })
      } catch (error) {
        if (signal.aborted) break
        const delay = this.#nextDelay(error)
        if (delay === undefined) throw error
        await pause(delay * (0.5 + Math.random() / 2), signal).catch(() => {})
      }
    }
    return 'client'
  }

  #handleReady(followed: SubscriptionFilter, refused: ReadonlyMap<string, Error> | undefined): void {
    const before = this.followed
    this.#openSince = Date.now()
    this.followed = followed
    this.refused = refused
    if (before !== undefined) this.#warnOfLost(before, followed)
    for (const change of changesOf(followed)) {
      // Cached responses may be older than a change for which no notification has arrived yet.
      if (before === undefined) this.#state.cache.invalidate(change)
      else this.#push(change)
    }
    this.#ready.resolve(followed)
  }

  #push(change: Change): void {
    if (this.#stop.signal.aborted) return
    this.#state.cache.invalidate(change)
    if (this.#queue.push(change)) return
    const error = overflowError()
    this.#stop.abort(error)
    this.#end('server', error)
  }

  /** Warns about resources that the server confirmed on the previous connection but not on this one. */
  #warnOfLost(before: SubscriptionFilter, now: SubscriptionFilter): void {
    const left = new Set(now.resourceSubscriptions)
    const lost = (before.resourceSubscriptions ?? []).filter((uri) => !left.has(uri)).slice(0, 10)
    if (lost.length === 0) return
    const message = `The server no longer announces updates of ${lost.join(', ')}`
    this.#state.onWarning(new ConnectionError('unsupported', message))
  }

  /** Returns the delay before the next attempt, in ms. Returns undefined if there is no further attempt. */
  #nextDelay(error: unknown): number | undefined {
    if (this.#openSince !== undefined) {
      this.#attempts = 0
      if (Date.now() - this.#openSince > SHORT_LIFE) this.#delays = 0
      this.#openSince = undefined
    }
    if (!isBroken(error, this.followed !== undefined) || this.#attempts++ === MAX_ATTEMPTS) return undefined
    return Math.min(FIRST_DELAY * 2 ** this.#delays++, LONGEST_DELAY)
  }
}

const brokenReasons: readonly string[] = ['closed', 'exited', 'unreachable']

/**
 * Returns whether an error means that the connection or the stream is broken. If not, the server has refused the
 * subscription. After a first confirmation, errors of the server or of its proxy count as broken, too.
 */
function isBroken(error: unknown, wasConfirmed: boolean): boolean {
  if (error instanceof RpcError) return wasConfirmed && error.code === ErrorCode.InternalError
  if (!(error instanceof ConnectionError)) return false
  const { reason, retryable, status = 0 } = error
  return retryable || brokenReasons.includes(reason) || (wasConfirmed && (reason === 'timeout' || status >= 500))
}
