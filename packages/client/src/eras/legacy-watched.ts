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
  /** Whether the server follows it. */
  isOn: boolean
  /** Whether the server may have let go of it while it was asked for it. */
  isUnsure: boolean
  /** Ends when the server does what is wanted. */
  work: Promise<void> | undefined
  /** Told when what was confirmed before is no more. */
  readonly holders: Set<() => void>
}

/** Subscribes to a resource for the first who wants it, and gives it up after the last: one request after the other. */
export class WatchedResources {
  readonly #core: Core
  readonly #connection: Connection
  readonly #all = new Map<string, Watched>()

  constructor(core: Core, connection: Connection) {
    this.#core = core
    this.#connection = connection
  }

  has(uri: string): boolean {
    return this.#all.has(uri)
  }

  /** Gives what gives it up, and never rejects. `onLost` is told if it is lost after that, for as long as it is not given up. */
  async watch(uri: string, { signal, timeout }: ListenHooks, onLost: () => void): Promise<() => Promise<void>> {
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
    entry.holders.add(onLost)
    return () => {
      entry.holders.delete(onLost)
      return this.#release(uri, entry)
    }
  }

  /** What the server is still asked for is given up when it has answered: it might be done after that otherwise. */
  async #release(uri: string, entry: Watched): Promise<void> {
    entry.count -= 1
    // What goes wrong from here on is told to those who want it.
    if (entry.count === 0 && this.#all.get(uri) === entry) await this.#work(uri, entry).catch(() => {})
  }

  /** Resolves when the server does what is wanted. */
  #work(uri: string, entry: Watched): Promise<void> {
    entry.work ??= this.#settle(uri, entry).then(
      () => {
        entry.work = undefined
        // Somebody may have come or gone since.
        if (entry.count > 0 !== entry.isOn) return this.#work(uri, entry)
        if (entry.count === 0) this.#all.delete(uri)
        return undefined
      },
      (error) => {
        // Nothing to give up: who wants it again asks again.
        this.#all.delete(uri)
        for (const onLost of entry.holders) onLost()
        throw error
      },
    )
    return entry.work
  }

  async #settle(uri: string, entry: Watched): Promise<void> {
    while (entry.count > 0 !== entry.isOn) {
      if (entry.isOn) {
        entry.isOn = false
        await this.#letGo(uri)
      } else {
        entry.isUnsure = false
        // Each waits as long as it says.
        await this.#connection.request(SUBSCRIBE, { uri }, FOR_EVER)
        entry.isOn = !entry.isUnsure
      }
    }
  }

  /** Waits for a while. A server that lets go only later may take it from who wants it again meanwhile. */
  async #letGo(uri: string): Promise<void> {
    let isLate = false
    const asked = this.#connection.request(UNSUBSCRIBE, { uri }, FOR_EVER).catch((error: Error) => {
      if (!(error instanceof ConnectionError)) this.#core.report(error)
    })
    void asked.then(() => isLate && this.#askAgain(uri))
    await withSignal(UNSUBSCRIBE, undefined, (done) => Promise.race([asked, pause(LETTING_GO, done)]))
    isLate = true
  }

  #askAgain(uri: string): void {
    const entry = this.#all.get(uri)
    if (entry === undefined) return
    entry.isUnsure = true
    entry.isOn = false
    this.#work(uri, entry).catch(this.#core.report)
  }
}

const newWatched = (): Watched => ({
  count: 0,
  isOn: false,
  isUnsure: false,
  work: undefined,
  holders: new Set(),
})
