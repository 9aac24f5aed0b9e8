/** The waits between attempts to open a stream: the wait that the server asks for, or growing random waits. */

import { pause } from '@mcpx/protocol'
import type { Settings } from './options.ts'

/** The shortest wait, in ms, so that a server cannot keep a client busy. */
const MIN_WAIT = 20

export class Backoff {
  readonly #settings: Settings
  #waits = 0
  #failures = 0

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** The last attempt led to something: the waits start again with the shortest. */
  resetWaits(): void {
    this.#waits = 0
  }

  /** An attempt reached the server: the number of failures in a row is 0 again. */
  resetFailures(): void {
    this.#failures = 0
  }

  /** Counts a failed attempt. Returns whether another attempt is allowed. */
  countFailure(): boolean {
    this.#failures += 1
    return this.#failures < this.#settings.attempts
  }

  /**
   * Waits for the next attempt. Rejects when the signal fires.
   * @param retry the wait that the server asks for, in ms.
   */
  wait(retry: number | undefined, signal: AbortSignal): Promise<void> {
    const { minDelay, maxDelay } = this.#settings
    const grown = minDelay * 2 ** this.#waits * (0.5 + Math.random() / 2)
    // The first wait is exactly the one that the server asks for, even where `grown` is longer.
    const wanted = retry === undefined ? grown : Math.max(retry, this.#waits === 0 ? 0 : grown)
    this.#waits += 1
    return pause(Math.max(Math.min(wanted, maxDelay), MIN_WAIT), signal)
  }
}
