/** How long to wait before a process that keeps exiting is started again. */

export interface RestartOptions {
  /** How long to wait before the second restart in a row, in ms; it doubles with each. The first is at once. Default: 250. */
  readonly delay?: number | undefined
  /** How long to wait at most, in ms. Default: 10,000. */
  readonly maxDelay?: number | undefined
  /** A process that ran for so long, in ms, was well: counting begins anew. Default: 10,000. */
  readonly healthyAfter?: number | undefined
}

export interface BackOff {
  /** Resolves when the process may be started; rejects when the signal fires before. */
  wait(signal?: AbortSignal): Promise<void>
  /** A process exited by itself after so many ms. */
  exited(lived: number): void
}

export function createBackOff(options: RestartOptions | false = {}): BackOff {
  if (options === false) return { wait: async (signal) => signal?.throwIfAborted(), exited() {} }
  const { delay = 250, maxDelay = 10_000, healthyAfter = 10_000 } = options
  let exits = 0
  let notBefore = 0
  return {
    async wait(signal) {
      signal?.throwIfAborted()
      const left = notBefore - performance.now()
      if (left > 0) await pause(left, signal)
    },
    exited(lived) {
      exits = lived >= healthyAfter ? 1 : exits + 1
      const pause = exits < 2 ? 0 : Math.min(maxDelay, delay * 2 ** (exits - 2))
      notBefore = performance.now() + pause
    },
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
