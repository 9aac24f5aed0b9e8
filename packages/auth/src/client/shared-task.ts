/** A task that several callers wait for, each with its own signal. */

import { abortable } from '@mcpx/protocol'

export class SharedTask<T> {
  readonly #abandoned = new AbortController()
  readonly #result: Promise<T>
  #waiting = 0

  /** @param run does the work; its signal is aborted when no caller is waiting any more */
  constructor(run: (abandoned: AbortSignal) => Promise<T>) {
    this.#result = run(this.#abandoned.signal)
    // Callers receive the error from `wait`. Without callers, the rejection must not be unhandled.
    this.#result.catch(() => {})
  }

  /** Waits for the result. Rejects early when the signal is aborted; the task continues for the other callers. */
  async wait(signal: AbortSignal | null | undefined): Promise<T> {
    signal?.throwIfAborted()
    this.#waiting += 1
    try {
      return await (signal ? abortable(this.#result, signal) : this.#result)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#abandoned.abort()
    }
  }
}
