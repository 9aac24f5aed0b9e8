/** What comes on a stream of changes after another has taken its place. */

import { type Change, pause } from '@mcpx/protocol'
import type { Listening } from './listening.ts'

/** How long, in ms, what was told on a stream may come after the confirmation of the one that took its place. */
const STRAGGLING = 500
/** How many streams may be waited for at a time: nothing comes so many confirmations late. */
const MOST = 16

/** Of a stream that another has taken the place of. */
interface Leaving {
  /** What newer ones have told since. */
  readonly told: Set<string>
  /** What has come of it, and not of those. */
  readonly late: Map<string, Change>
}

export interface StragglersOptions {
  /** Ends all waiting. */
  readonly signal: AbortSignal
  tell(change: Change): void
  /** None is waited for any more. */
  onNone(): void
  /** Whether what was told before a confirmation has come by then, and is only to be read. */
  isOrdered(): boolean
}

/**
 * What the server told before it confirmed the next stream may come on the last one still. It is told at the end of the
 * wait, unless a newer one has told it by then: that has all that happened since. So nothing is told twice but what comes
 * on both together with the confirmation.
 */
export class Stragglers {
  readonly #options: StragglersOptions
  readonly #leaving = new Map<Listening, Leaving>()
  /** Those that this side has ended. */
  readonly #closed = new WeakSet<Listening>()

  constructor(options: StragglersOptions) {
    this.#options = options
  }

  hasClosed(stream: Listening): boolean {
    return this.#closed.has(stream)
  }

  /** @param isOver whether nothing more is wanted of it, nor of those before it */
  leave(stream: Listening | undefined, isOver: boolean): void {
    if (stream !== undefined) this.#leaving.set(stream, { told: new Set(), late: new Map() })
    for (const [each, { late }] of this.#leaving) {
      if (isOver) late.clear()
      if (isOver || this.#leaving.size > MOST) this.#drop(each)
    }
    if (stream === undefined || isOver) return
    pause(this.#options.isOrdered() ? 0 : STRAGGLING, this.#options.signal).then(
      () => this.#drop(stream),
      () => {},
    )
  }

  take(change: Change, stream: Listening): void {
    const key = change.kind === 'resource' ? `resource ${change.uri}` : change.kind
    const own = this.#leaving.get(stream)
    if (own === undefined && this.#closed.has(stream)) return
    // Those before it: they are in the order in which they left.
    for (const each of this.#leaving.values()) {
      if (each === own) break
      each.told.add(key)
      each.late.delete(key)
    }
    if (own === undefined) this.#options.tell(change)
    else if (!own.told.has(key)) own.late.set(key, change)
  }

  #drop(stream: Listening): void {
    const own = this.#leaving.get(stream)
    if (own === undefined) return
    this.#leaving.delete(stream)
    this.#closed.add(stream)
    stream.close()
    for (const change of own.late.values()) this.#options.tell(change)
    if (this.#leaving.size === 0) this.#options.onNone()
  }
}
