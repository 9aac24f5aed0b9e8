/** Small tools for promises: cancellation of work that is not a request, timeouts, and promises that are settled elsewhere. */

import { ConnectionError, pause } from '@mcpx/protocol'

/** Runs a function with a signal that fires with that of the caller; then the result is no longer awaited. */
export async function withSignal<T>(
  label: string,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancel = () => {
    controller.abort(new ConnectionError('cancelled', `${label} was cancelled`, { cause: signal?.reason }))
  }
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  try {
    return await Promise.race([run(controller.signal), whenAborted(controller.signal)])
  } finally {
    signal?.removeEventListener('abort', cancel)
    // Ends what still waits for a result that is not needed, for example after another part failed.
    controller.abort(new ConnectionError('cancelled', `${label} has ended`))
  }
}

/** Rejects with the reason of the signal once it fires. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** The longest delay that timers support, in ms. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Runs a function, and rejects when the signal fires or after a number of ms, with the error for that. */
export function within<T>(
  label: string,
  { signal, timeout }: { readonly signal: AbortSignal | undefined; readonly timeout: number },
  run: (signal: AbortSignal) => Promise<T>,
  late: () => Error,
): Promise<T> {
  return withSignal(label, signal, (ended) => {
    const result = run(ended)
    if (timeout > LONGEST_TIMER) return result
    return Promise.race([result, pause(timeout, ended).then(() => Promise.reject(late()))])
  })
}

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: Error): void
}

/** Returns a promise with the functions that settle it. Its rejection may stay unhandled. */
export function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((...settle) => {
    ;[resolve, reject] = settle
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}
