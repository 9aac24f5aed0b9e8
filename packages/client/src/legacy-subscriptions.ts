/**
 * Subscriptions of the legacy era. List changes arrive without a subscription. Each resource needs its own
 * `resources/subscribe` request.
 */

import {
  abortable,
  type Change,
  type Connection,
  ConnectionError,
  pause,
  RpcError,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { createDeferred, forEachConcurrently, within, withSignal } from './async.ts'
import { allowedFilter, type ChangeListener, type Side } from './era.ts'
import type { ClientState } from './state.ts'

const SUBSCRIBE = 'resources/subscribe'
const UNSUBSCRIBE = 'resources/unsubscribe'
/** The requests have no timeout, because each caller has its own. */
const NO_TIMEOUT = { timeout: Number.POSITIVE_INFINITY, maxTimeout: Number.POSITIVE_INFINITY }
/**
 * How long the server may take to unsubscribe, in ms. After this time, the next subscription to the same resource is
 * sent.
 */
const UNSUBSCRIBE_TIMEOUT = 1_000
/** How many resources are subscribed to at once: servers limit the requests of one session. */
const MAX_CONCURRENT = 10

export class LegacySubscriptions {
  readonly #connection: Connection
  readonly #state: ClientState
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #missedListeners = new Set<() => void>()
  readonly #resources = new Map<string, ResourceSubscription>()

  constructor(connection: Connection, state: ClientState) {
    this.#connection = connection
    this.#state = state
  }

  /** Passes a change to the streams. */
  handle(change: Change): void {
    this.#state.cache.invalidate(change)
    for (const listener of this.#listeners) listener(change)
  }

  /** Called when notifications of the session may have been lost. */
  handleMissed(): void {
    for (const listener of this.#missedListeners) listener()
  }

  async listen(asked: SubscriptionFilter, capabilities: ServerCapabilities, listener: ChangeListener): Promise<Side> {
    const filter = allowedFilter(asked, capabilities, this.#state.extensions)
    const uris = filter.resourceSubscriptions ?? []
    const refused = new Map<string, Error>()
    const releases: (() => Promise<void>)[] = []
    const lost = createDeferred<void>()
    // Until this stream is ready, older streams report changes of their resources. Changes of new resources are
    // reported only by this stream.
    const newUris = uris.filter((uri) => !this.#resources.has(uri))
    let isReady = false
    let isOver = false
    const onChange = (change: Change) => {
      if (covers(filter, change) && (isReady || isBelow(newUris, change))) listener.onChange(change)
    }
    const onReady = () => {
      isReady = true
      listener.onReady(withoutRefused(filter, refused), refused)
    }
    this.#listeners.add(onChange)
    try {
      await forEachConcurrently(uris, MAX_CONCURRENT, async (uri) => {
        try {
          const release = await this.#resource(uri).watch(listener, lost.resolve)
          if (isOver) void release()
          else releases.push(release)
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          refused.set(uri, error)
        }
      })
      const [refusal] = refused.values()
      if (refusal !== undefined && Object.keys(withoutRefused(filter, refused)).length === 0) throw refusal
      onReady()
      this.#missedListeners.add(onReady)
      const lostResource = lost.promise.then(lostError)
      const end = await abortable(Promise.race([this.#connection.closed, lostResource]), listener.signal)
      throw end ?? new ConnectionError('closed', 'The connection was closed')
    } catch (error) {
      if (listener.signal.aborted) return 'client'
      throw error
    } finally {
      isOver = true
      this.#listeners.delete(onChange)
      this.#missedListeners.delete(onReady)
      void forEachConcurrently(releases, MAX_CONCURRENT, (release) => release())
    }
  }

  #resource(uri: string): ResourceSubscription {
    const known = this.#resources.get(uri)
    if (known !== undefined) return known
    const resource = new ResourceSubscription(uri, this.#resources, this.#connection, this.#state.onWarning)
    this.#resources.set(uri, resource)
    return resource
  }
}

/**
 * Creates the error for a lost subscription. It is retryable, so that the stream is opened again with the remaining
 * resources.
 */
function lostError(): ConnectionError {
  return new ConnectionError('closed', 'The server ended the subscription to a resource', { retryable: true })
}

function withoutRefused(filter: SubscriptionFilter, refused: ReadonlyMap<string, Error>): SubscriptionFilter {
  const { resourceSubscriptions = [], ...lists } = filter
  const left = resourceSubscriptions.filter((uri) => !refused.has(uri))
  return left.length === 0 ? lists : { ...lists, resourceSubscriptions: left }
}

function covers(filter: SubscriptionFilter, change: Change): boolean {
  if (change.kind !== 'resource') return filter[`${change.kind}ListChanged`] === true
  return isBelow(filter.resourceSubscriptions ?? [], change)
}

function isBelow(uris: readonly string[], change: Change): boolean {
  return change.kind === 'resource' && uris.some((uri) => change.uri.startsWith(uri))
}

/** The subscription of a session to one resource, shared by all streams that watch it. Its requests run one after the other. */
class ResourceSubscription {
  readonly #uri: string
  /** All subscriptions of the session. This subscription removes itself when it has ended. */
  readonly #all: Map<string, ResourceSubscription>
  readonly #connection: Connection
  readonly #onWarning: (warning: Error) => void
  /** How many streams use this subscription, or wait for its confirmation. */
  #watchers = 0
  /** Called when a confirmed subscription is lost. */
  readonly #lostListeners = new Set<() => void>()
  #isSubscribed = false
  /** Whether the response to a running `resources/subscribe` is no longer valid. */
  #isStale = false
  #syncing: Promise<void> | undefined

  constructor(
    uri: string,
    all: Map<string, ResourceSubscription>,
    connection: Connection,
    onWarning: (warning: Error) => void,
  ) {
    this.#uri = uri
    this.#all = all
    this.#connection = connection
    this.#onWarning = onWarning
  }

  /**
   * Adds a stream to this subscription. When the server has confirmed, resolves to a function that removes the stream.
   * This function never rejects.
   */
  async watch({ signal, timeout }: ChangeListener, onLost: () => void): Promise<() => Promise<void>> {
    this.#watchers += 1
    const late = () => new ConnectionError('timeout', `No response to ${SUBSCRIBE} within ${timeout} ms`)
    try {
      await within(SUBSCRIBE, { signal, timeout }, () => this.#sync(), late)
    } catch (error) {
      void this.#release()
      throw error
    }
    this.#lostListeners.add(onLost)
    return () => {
      this.#lostListeners.delete(onLost)
      return this.#release()
    }
  }

  /** Sends the subscription again, because the server may have ended it. */
  subscribeAgain(): void {
    this.#isStale = true
    this.#isSubscribed = false
    this.#sync().catch(this.#onWarning)
  }

  async #release(): Promise<void> {
    this.#watchers -= 1
    // If this fails, the remaining streams are notified through their listeners.
    if (this.#watchers === 0) await this.#sync().catch(() => {})
  }

  get #isSynced(): boolean {
    return this.#watchers > 0 === this.#isSubscribed
  }

  /** Sends requests until the server is subscribed or unsubscribed, as the streams need it. */
  async #sync(): Promise<void> {
    if (this.#syncing === undefined && !this.#isSynced) this.#syncing = this.#sendUntilSynced()
    await this.#syncing
  }

  async #sendUntilSynced(): Promise<void> {
    try {
      while (!this.#isSynced) await (this.#isSubscribed ? this.#unsubscribe() : this.#subscribe())
    } catch (error) {
      this.#leave()
      for (const onLost of this.#lostListeners) onLost()
      throw error
    } finally {
      this.#syncing = undefined
    }
    if (this.#watchers === 0) this.#leave()
  }

  #leave(): void {
    if (this.#all.get(this.#uri) === this) this.#all.delete(this.#uri)
  }

  async #subscribe(): Promise<void> {
    this.#isStale = false
    await this.#connection.request(SUBSCRIBE, { uri: this.#uri }, NO_TIMEOUT)
    this.#isSubscribed = !this.#isStale
  }

  /**
   * Unsubscribes, and waits a limited time for the response. A later response may end the next subscription, so that it
   * is sent again.
   */
  async #unsubscribe(): Promise<void> {
    this.#isSubscribed = false
    let isLate = false
    const answered = this.#connection.request(UNSUBSCRIBE, { uri: this.#uri }, NO_TIMEOUT).catch((error: Error) => {
      if (!(error instanceof ConnectionError)) this.#onWarning(error)
    })
    void answered.then(() => {
      if (isLate) this.#all.get(this.#uri)?.subscribeAgain()
    })
    await withSignal(UNSUBSCRIBE, undefined, (done) => Promise.race([answered, pause(UNSUBSCRIBE_TIMEOUT, done)]))
    isLate = true
  }
}
