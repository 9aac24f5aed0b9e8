/** Delays the restart of a server that keeps exiting. */

import { pause } from '@mcpx/protocol'

/** How long to wait before a server process that keeps exiting is restarted. */
export interface RestartOptions {
  /**
   * The delay before the second consecutive restart, in ms. It doubles with each further restart. The first
   * restart has no delay. Default: 250.
   */
  readonly delay?: number | undefined
  /** The longest delay, in ms. Default: 10,000. */
  readonly maxDelay?: number | undefined
  /**
   * If a process has run for this time, in ms, the restart after its exit has no delay. Default: 10,000.
   */
  readonly healthyAfter?: number | undefined
}

export interface RestartDelay {
  /** Resolves when the process may be started. If `signal` is aborted earlier, rejects with the reason of the signal. */
  wait(signal?: AbortSignal): Promise<void>
  /** Records that the process has exited by itself. `lifetime` is in ms. */
  exited(lifetime: number): void
}

export function createRestartDelay(options: RestartOptions | false = {}): RestartDelay {
  if (options === false) return { wait: async (signal) => signal?.throwIfAborted(), exited() {} }
  const { delay = 250, maxDelay = 10_000, healthyAfter = 10_000 } = options
  let exits = 0
  let notBefore = 0
  return {
    async wait(signal) {
      signal?.throwIfAborted()
      const left = notBefore - performance.now()
      if (left <= 0) return
      await pause(left, signal ?? new AbortController().signal)
    },
    exited(lifetime) {
      exits = lifetime >= healthyAfter ? 1 : exits + 1
      const wait = exits < 2 ? 0 : Math.min(maxDelay, delay * 2 ** (exits - 2))
      notBefore = performance.now() + wait
    },
  }
}
