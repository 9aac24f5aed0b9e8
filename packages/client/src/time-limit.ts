/** Bounds in time for work that is not a request of its own: waiting for people, and waiting on purpose. */

import { ConnectionError } from '@mcpx/protocol'

export interface TimeLimit {
  /** What is being done, for the error. */
  readonly method: string
  readonly signal: AbortSignal | undefined
  /** How long it may take, in ms; `Infinity`: for ever. */
  readonly ms: number
}

/** The longest delay that timers take, in ms. */
const LONGEST = 2 ** 31 - 1

/** Runs something with a signal that fires when the caller's does or the time is up; it is not waited for any longer. */
export async function within<T>(
  { method, signal, ms }: TimeLimit,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancel = () => {
    controller.abort(new ConnectionError('cancelled', `${method} was cancelled`, { cause: signal?.reason }))
  }
  const expire = () => {
    const hint = 'Pass a longer maxTimeout with the call.'
    controller.abort(new ConnectionError('timeout', `${method} took longer than its longest time`, { hint }))
  }
  const timer = ms < LONGEST ? setTimeout(expire, Math.max(ms, 0)) : undefined
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  try {
    return await Promise.race([run(controller.signal), whenAborted(controller.signal)])
  } finally {
    clearTimeout(timer)
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

/** Waits, or rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
