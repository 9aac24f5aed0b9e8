/** Work that is not a request of its own, such as asking people: it ends when the caller gives up. */

import { ConnectionError } from '@mcpx/protocol'

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
