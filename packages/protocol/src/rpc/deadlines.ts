/** One timer for any number of deadlines: a timer per request costs more than the rest of a request. */

export interface Deadlines {
  /** Makes sure that the timer fires at this time (of `performance.now()`), or earlier. */
  watch(due: number): void
  /** Nothing is being waited for: the timer no longer keeps the process alive. */
  rest(): void
  /** Drops the timer. */
  stop(): void
}

/** Node's timers can let a process end; elsewhere these do not exist. */
interface ReleasableTimer {
  ref?(): void
  unref?(): void
}

/** Deadlines closer together than this, in ms, are met together. */
const GRAIN = 5

/** The longest delay that timers take, in ms. */
const LONGEST = 2 ** 31 - 1

/** @param expire deals with all that is due, and returns when the next thing will be, or infinity. */
export function createDeadlines(expire: (now: number) => number): Deadlines {
  let timer: (ReturnType<typeof setTimeout> & ReleasableTimer) | undefined
  let firesAt = Number.POSITIVE_INFINITY
  let resting = false

  function arm(due: number, now: number): void {
    firesAt = due
    timer = setTimeout(fire, Math.min(Math.max(due - now, GRAIN), LONGEST)) as typeof timer
  }

  function fire(): void {
    timer = undefined
    firesAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    const next = expire(now)
    if (next < firesAt) rearm(next, now)
  }

  function rearm(due: number, now: number): void {
    clearTimeout(timer)
    arm(due, now)
    if (resting) timer?.unref?.()
  }

  return {
    watch(due) {
      if (resting) timer?.ref?.()
      resting = false
      if (due < firesAt) rearm(due, performance.now())
    },
    rest() {
      resting = true
      timer?.unref?.()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
      firesAt = Number.POSITIVE_INFINITY
    },
  }
}
