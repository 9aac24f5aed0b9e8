/** The resources that a session of the legacy era is subscribed to: each once, however many want it. */

import { type Connection, ConnectionError, pause } from '@mcpx/protocol'
import { inTime, withSignal } from '../cancellation.ts'
import type { Core } from '../core.ts'
import type { ListenHooks } from './era.ts'

/** How long, in ms, a server may take to let go of a resource before it is asked for that again. */
const LETTING_GO = 1_000
const SUBSCRIBE = 'resources/subscribe'
const UNSUBSCRIBE = 'resources/unsubscribe'
const FOR_EVER = { timeout: Number.POSITIVE_INFINITY, maxTimeout: Number.POSITIVE_INFINITY }

interface Watched {
  /** How many want it. */
  count: number
  isAsking: boolean
  /** Whether the server follows it. */
  isOn: boolean
  /** Ends when the server does what is wanted. */
  work: Promise<void> | undefined
  readonly stop: AbortController
}

/** Subscribes to a resource for the first who wants it, and gives it up after the last: one request after the other. */
export class WatchedResources {
  readonly #core: Core
  readonly #connection: Connection
  readonly #all = new Map<string, Watched>()
  /** What is being given up: who wants it again asks after that, or would lose it to that. */
  readonly #leaving = new Map<string, Promise<void>>()

  constructor(core: Core, connection: Connection) {
    this.#core = core
    this.#connection = connection
  }

  has(uri: string): boolean {
    return this.#all.has(uri)
  }

  /** Gives what gives it up, and never rejects. */
  async watch(uri: string, { signal, timeout }: ListenHooks): Promise<() => Promise<void>> {
    const entry = this.#all.get(uri) ?? newWatched()
    this.#all.set(uri, entry)
    entry.count += 1
    const late = () => new ConnectionError('timeout', `No answer to ${SUBSCRIBE} within ${timeout} ms`)
    try {
      await withSignal(SUBSCRIBE, signal, (done) => inTime(this.#work(uri, entry), timeout, done, late))
    } catch (error) {
      void this.#release(uri, entry)
      throw error
    }
    return () => this.#release(uri, entry)
  }

  async #release(uri: string, entry: Watched): Promise<void> {
    entry.count -= 1
    if (entry.count > 0 || this.#all.get(uri) !== entry) return
    if (!entry.isAsking) return this.#work(uri, entry).catch(this.#core.report)
    this.#forget(uri, entry)
    entry.stop.abort(new ConnectionError('cancelled', `${SUBSCRIBE} was cancelled`))
    await this.#letGo(uri)
  }

  /** Resolves when the server does what is wanted. */
  #work(uri: string, entry: Watched): Promise<void> {
    entry.work ??= this.#settle(uri, entry).then(
      () => {
        entry.work = undefined
        if (entry.count === 0) this.#forget(uri, entry)
      },
      (error) => {
        // Nothing to give up: who wants it again asks again.
        this.#forget(uri, entry)
        throw error
      },
    )
    return entry.work
  }

  #forget(uri: string, entry: Watched): void {
    if (this.#all.get(uri) === entry) this.#all.delete(uri)
  }

  async #settle(uri: string, entry: Watched): Promise<void> {
    while (entry.count > 0 !== entry.isOn) {
      if (entry.isOn) {
        entry.isOn = false
        await this.#letGo(uri)
      } else {
        await this.#leaving.get(uri)
        if (entry.count > 0) await this.#ask(uri, entry)
      }
    }
  }

  /** For all who want it, so it ends with the last of them. */
  async #ask(uri: string, entry: Watched): Promise<void> {
    entry.isAsking = true
    try {
      await this.#connection.request(SUBSCRIBE, { uri }, { signal: entry.stop.signal, ...FOR_EVER })
      entry.isOn = true
    } finally {
      entry.isAsking = false
    }
  }

  /** Waits for a while. A server that lets go only later may have taken it from who wanted it again meanwhile. */
  #letGo(uri: string): Promise<void> {
    const begun = Date.now()
    const { timeout } = this.#core.options
    const asked = this.#connection.request(UNSUBSCRIBE, { uri }, { timeout }).catch((error: Error) => {
      if (!(error instanceof ConnectionError)) this.#core.report(error)
    })
    const left = withSignal(UNSUBSCRIBE, undefined, async (done) => {
      await Promise.race([asked, pause(LETTING_GO, done)])
    })
    this.#leaving.set(uri, left)
    void asked.then(() => {
      if (this.#leaving.get(uri) === left) this.#leaving.delete(uri)
      const again = this.#all.get(uri)
      if (Date.now() - begun < LETTING_GO || again?.isOn !== true) return
      again.isOn = false
      this.#work(uri, again).catch(this.#core.report)
    })
    return left
  }
}

const newWatched = (): Watched => ({
  count: 0,
  isAsking: false,
  isOn: false,
  work: undefined,
  stop: new AbortController(),
})
