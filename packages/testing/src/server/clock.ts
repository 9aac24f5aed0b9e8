/** A fake clock, with which tests of timeouts do not have to wait. */

import FakeTimers from '@sinonjs/fake-timers'

/** A clock that stands still until it is advanced. */
export interface FakeClock extends Disposable {
  /** The time of the clock, in ms since 1970. */
  readonly now: number
  /** Advances the clock by a number of ms, runs the timers that are due, and lets promises and I/O run between them. */
  advance(ms: number): Promise<void>
  /** Restores the real clock. Timers that have not run are dropped. */
  restore(): void
}

/** Options of `fakeClock`. */
export interface FakeClockOptions {
  /** The time at which the clock starts. Default: the real time. */
  readonly now?: Date | number | undefined
}

/** The clock advances in steps of this size, in ms. */
const STEP = 1_000
/** The turns of the event loop after each step, in which streams deliver their data. */
const TURNS = 10

/**
 * Replaces `setTimeout`, `setInterval`, `AbortSignal.timeout`, `Date` and `performance.now` of this process with a
 * clock that stands still. All timeouts of the packages use it: those of requests, sessions, subscriptions, tasks,
 * tokens and stores in memory. Timers that are already running are not affected, so create the clock before the server.
 * Other processes are not affected either.
 *
 * ```ts
 * using clock = fakeClock()
 * const call = client.callTool('slow')
 * await clock.advance(60_000)
 * await call // rejects: ConnectionError, reason 'timeout'
 * ```
 */
export function fakeClock({ now = Date.now() }: FakeClockOptions = {}): FakeClock {
  const realTimeout = globalThis.setTimeout
  const { setImmediate: nextTurn = (run: () => void) => realTimeout(run, 0) } = globalThis as {
    setImmediate?: (run: () => void) => unknown
  }
  const clock = FakeTimers.install({
    now,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  })

  const realSignal = AbortSignal.timeout
  AbortSignal.timeout = createTimeoutSignal

  async function runEventLoop(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void nextTurn(resolve))
  }

  function restore(): void {
    AbortSignal.timeout = realSignal
    clock.uninstall()
  }

  return {
    get now() {
      return clock.now
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance: expected a number of ms from 0, got ${ms}`)
      await runEventLoop()
      for (let left = ms; left > 0; left -= STEP) {
        await clock.tickAsync(Math.min(STEP, left))
        await runEventLoop()
      }
    },
    restore,
    [Symbol.dispose]: restore,
  }
}

/** `AbortSignal.timeout` with the timers of the clock. */
function createTimeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController()
  const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  setTimeout(() => controller.abort(reason), ms)
  return controller.signal
}
