/** Functions for promises and callbacks. */

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/** Returns whether a value is a promise. */
export function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<T>>).then === 'function'
}

/**
 * Wraps a callback so that calling it never throws. Errors and rejections of the callback are passed to `fail`, which
 * must not throw. Default of `fail`: none.
 */
export function guarded<Args extends readonly unknown[]>(
  listener: ((...args: Args) => unknown) | undefined,
  fail: (problem: Error) => void = () => {},
): (...args: Args) => void {
  return (...args) => {
    try {
      const returned = listener?.(...args)
      if (isPromise(returned)) returned.then(undefined, fail)
    } catch (problem) {
      fail(problem as Error)
    }
  }
}

/** The longest delay that timers support, in ms. */
export const LONGEST_TIMER: number = 2 ** 31 - 1

/** Waits for a number of ms, at most `LONGEST_TIMER`. Rejects with the reason of the signal if it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(ms, LONGEST_TIMER),
    )
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

/** Waits for a promise, or rejects with the reason of the signal if it is aborted first. */
export async function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
