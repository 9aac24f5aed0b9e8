/** One piece of work that any number of callers wait for, each as long as it likes. */

export interface Flight<T> {
  /** Rejects early when the signal fires; the work goes on for the others. */
  join(signal?: AbortSignal | null): Promise<T>
}

/** @param run its signal fires when nobody waits any more, and must then end what only serves those who wait */
export function startFlight<T>(run: (abandoned: AbortSignal) => Promise<T>): Flight<T> {
  const abandoned = new AbortController()
  const work = run(abandoned.signal)
  // Whoever waits is told. When nobody does, nobody wants to know.
  work.catch(() => {})
  let waiting = 0

  function leave(): void {
    waiting -= 1
    if (waiting === 0) abandoned.abort()
  }

  return {
    async join(signal) {
      signal?.throwIfAborted()
      waiting += 1
      try {
        return await (signal ? unlessAborted(work, signal) : work)
      } finally {
        leave()
      }
    },
  }
}

/** Waits for work, or rejects with the signal's reason, whatever becomes of the work. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
