/** Timers for streams and running requests. */

type Timer = ReturnType<typeof setInterval>

export const LONGEST_TIMER = 2 ** 31 - 1

/** Returns the timer, which does not keep a process alive. */
export function unref(timer: Timer): Timer {
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

/** Runs every `ms`. Returns undefined when that is longer than a timer can wait. */
export function every(ms: number, run: () => void): Timer | undefined {
  return ms > LONGEST_TIMER ? undefined : unref(setInterval(run, ms))
}
