/** Work that is not a request of its own, such as asking people: it ends when the caller gives up. */

import { ConnectionError, pause } from '@mcpx/protocol'

/** Runs something with a signal that fires when the caller's does; then it is not waited for any longer. */
export async function withSignal<T>(
  method: string,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancel = () => {
    controller.abort(new ConnectionError('cancelled', `${method} was cancelled`, { cause: signal?.reason }))
  }
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  try {
    return await Promise.race([run(controller.signal), whenAborted(controller.signal)])
  } finally {
    signal?.removeEventListener('abort', cancel)
    // Lets go of whoever still waits for an answer that nobody needs, such as after another one failed.
    controller.abort(new ConnectionError('cancelled', `${method} has ended`))
  }
}

/** Rejects with the signal's reason once it fires. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** In ms. What is to take longer has no timer. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Waits so many ms for it, or until the signal fires. */
export function inTime<T>(work: Promise<T>, ms: number, signal: AbortSignal, late: () => Error): Promise<T> {
  if (ms > LONGEST_TIMER) return work
  return Promise.race([work, pause(ms, signal).then(() => Promise.reject(late()))])
}
