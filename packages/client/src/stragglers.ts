/** What comes on a stream of changes after another has taken its place. */

import { type Change, pause } from '@mcpx/protocol'
import type { Listening } from './listening.ts'

/** How long, in ms, what was told on a stream may come after the confirmation of the one that took its place. */
const STRAGGLING = 500
/** How many streams may be waited for at a time. */
const MOST = 4

/**
 * What the server told before it confirmed the next stream may come on the last one still. It is told at the end of the
 * wait, unless the next one has told it by then: that has all that happened since. So nothing is told twice but what comes
 * on both together with the confirmation.
 */
export class Stragglers {
  readonly #signal: AbortSignal
  readonly #tell: (change: Change) => void
  readonly #isOrdered: () => boolean
  readonly #leaving = new Set<Listening>()
  /** What the current one has told meanwhile. */
  readonly #told = new Set<string>()
  /** What has come of the others, and not of that. */
  readonly #late = new Map<string, Change>()
  /** Those that this side has ended. */
  readonly #closed = new WeakSet<Listening>()

  /** @param isOrdered whether what was told before the confirmation has come, and is only to be read */
  constructor(signal: AbortSignal, tell: (change: Change) => void, isOrdered: () => boolean) {
    this.#signal = signal
    this.#tell = tell
    this.#isOrdered = isOrdered
  }

  hasClosed(stream: Listening): boolean {
    return this.#closed.has(stream)
  }

  /** @param isOver whether nothing more is wanted of it, nor of those before it */
  leave(stream: Listening | undefined, isOver: boolean): void {
    if (stream !== undefined) this.#leaving.add(stream)
    if (isOver) this.#late.clear()
    for (const each of this.#leaving) if (isOver || this.#leaving.size > MOST) this.#drop(each)
    if (stream === undefined || isOver) return
    pause(this.#isOrdered() ? 0 : STRAGGLING, this.#signal).then(
      () => this.#drop(stream),
      () => {},
    )
  }

  take(change: Change, stream: Listening, isCurrent: boolean): void {
    if (this.#leaving.size === 0) {
      if (!this.#closed.has(stream)) this.#tell(change)
      return
    }
    const key = change.kind === 'resource' ? `resource ${change.uri}` : change.kind
    if (!isCurrent) {
      if (!this.#told.has(key)) this.#late.set(key, change)
      return
    }
    this.#told.add(key)
    this.#late.delete(key)
    this.#tell(change)
  }

  #drop(stream: Listening): void {
    if (!this.#leaving.delete(stream)) return
    this.#closed.add(stream)
    stream.close()
    if (this.#leaving.size > 0) return
    const late = [...this.#late.values()]
    this.#late.clear()
    this.#told.clear()
    for (const change of late) this.#tell(change)
  }
}
