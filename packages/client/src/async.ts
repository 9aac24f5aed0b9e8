/** Helpers for promises: cancellation, timeouts, and promises with their resolve functions. */

import { abortable, ConnectionError, LONGEST_TIMER, pause } from '@mcpx/protocol'

/**
 * Runs a function with a signal that is aborted together with the signal of the caller or of the connection. When it is
 * aborted, the promise rejects without waiting for the function.
 */
export async function withSignal<T>(
  label: string,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
  closing?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const cancel = () => {
    controller.abort(new ConnectionError('cancelled', `${label} was cancelled`, { cause: signal?.reason }))
  }
  const close = () => controller.abort(closing?.reason)
  signal?.addEventListener('abort', cancel)
  closing?.addEventListener('abort', close)
  if (signal?.aborted) cancel()
  if (closing?.aborted) close()
  try {
    return await abortable(run(controller.signal), controller.signal)
  } finally {
    signal?.removeEventListener('abort', cancel)
    closing?.removeEventListener('abort', close)
    // Aborts work whose result is no longer needed, for example after another part has failed.
    controller.abort(new ConnectionError('cancelled', `${label} has ended`))
  }
}

/** Runs a function. Rejects when the signal is aborted, or with an error for the timeout after a number of ms. */
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

/** Runs a function for each item, a few at a time. After the first failure, no further call is started. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < items.length) await run(items[next++] as Item)
  }
  try {
    await Promise.all(Array.from({ length: limit }, work))
  } finally {
    next = items.length
  }
}

/** Runs a limited number of functions at once. The others wait, and run in the order in which they were added. */
export class ConcurrencyLimit {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many functions run or wait. */
  get size(): number {
    return this.#running + this.#waiting.length
  }

  async run<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running += 1
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    try {
      return await run()
    } finally {
      const startNext = this.#waiting.shift()
      if (startNext === undefined) this.#running -= 1
      else startNext()
    }
  }
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
