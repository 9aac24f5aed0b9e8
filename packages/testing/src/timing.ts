/** Helpers of tests for time and errors. */

/** Resolves after a time in ms. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

/** Returns the value that a call threw or rejected with, or undefined when it succeeded. */
export async function catchError(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

/** Resolves after five turns of the event loop, so that pending work has run. */
export async function waitForTasks(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await delay(0)
}

/** Calls a function while `Date.now` of this process differs by a number of ms. */
export async function withClockShifted<T>(ms: number, run: () => T | PromiseLike<T>): Promise<T> {
  const { now } = Date
  Date.now = () => now() + ms
  try {
    return await run()
  } finally {
    Date.now = now
  }
}

/** An hour in ms, by which the clocks of two processes differ in some cases. */
export const HOUR = 3_600_000
