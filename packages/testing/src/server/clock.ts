/** A fake clock, so that tests of timeouts do not have to wait. */

import { kindOf, refuseUnknownOption } from '@mcpx/protocol'
import FakeTimers from '@sinonjs/fake-timers'

/** A clock that stands still until it is advanced. */
export interface FakeClock extends Disposable {
  /** The time of the clock, in ms since 1970. */
  readonly now: number
  /**
   * Advances the clock by a number of ms, runs the timers that are due, and lets promises and I/O run between them.
   * Before that it waits 20 ms of real time, so that work which has begun can set its timers. If a handler uses a
   * network or a file, advance the clock in parts, with a part before each wait that you test. The clock advances in
   * steps of 1 s; if `ms` is more than an hour, in 3,600 steps. In steps of more than 15 s, open streams count as silent,
   * so keep them open in parts of a few hours.
   */
  advance(ms: number): Promise<void>
  /** Restores the real clock. Timers that have not run are dropped. */
  restore(): void
}

/** Options of `fakeClock`. */
export interface FakeClockOptions {
  /** The time at which the clock starts. Default: the real time. */
  readonly now?: Date | number | undefined
}

/** The clock advances in steps of this size, in ms, and in larger steps if there would be more than `MAX_STEPS`. */
const STEP = 1_000
const MAX_STEPS = 3_600
/** The number of turns of the event loop after each step. In these turns, streams deliver their data. */
const TURNS = 10
/** The real time before the first step, in ms, in which modules are loaded. */
const REAL_TIME = 20
/** The real time after a step in which timers have run or were set, in ms. */
const REAL_TIME_OF_STEP = 2
/** The most real time that a step waits for cryptography, in ms. */
const MAX_CRYPTO_TIME = 1_000

/**
 * Replaces `setTimeout`, `setInterval`, `AbortSignal.timeout`, `Date` and `performance.now` of this process with a
 * clock that stands still. On Node, it also drives timers that modules import from `node:timers/promises`. All timeouts
 * of the packages use this clock: of requests, sessions, subscriptions, tasks, tokens and stores in memory. It does not
 * affect timers that are already running, so create the clock before the server. It does not affect other processes.
 *
 * ```ts
 * using clock = fakeClock()
 * const call = client.callTool('slow')
 * await clock.advance(60_000)
 * await call // rejects: ConnectionError, reason 'timeout'
 * ```
 */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  refuseUnknownOption('fakeClock', options, ['now'] satisfies (keyof FakeClockOptions)[])
  const { now = Date.now() } = options
  if (!Number.isFinite(Number(now)))
    throw new RangeError(`fakeClock, now: expected a date or ms since 1970, got ${now}`)
  const realTimeout = globalThis.setTimeout
  const { setImmediate: nextTurn = (run: () => void) => realTimeout(run, 0) } = globalThis as {
    setImmediate?: (run: () => void) => unknown
  }
  if ('isFake' in Date) {
    throw new Error(
      'fakeClock: expected the real clock, got a fake one; restore it first, also that of vi.useFakeTimers',
    )
  }
  const clock = FakeTimers.install({
    now,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  })
  updateImportedTimers()

  const realSignal = AbortSignal.timeout
  AbortSignal.timeout = createTimeoutSignal

  const sleep = (ms: number) => new Promise<void>((resolve) => void realTimeout(resolve, ms))
  const cryptography = watchCryptography()

  async function runEventLoop(realTime = 0): Promise<void> {
    if (realTime > 0) await sleep(realTime)
    for (let waited = 0; ; waited++) {
      for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void nextTurn(resolve))
      if (cryptography.pending === 0 || waited === MAX_CRYPTO_TIME) return
      await sleep(1)
    }
  }

  function restore(): void {
    AbortSignal.timeout = realSignal
    cryptography.restore()
    clock.uninstall()
    updateImportedTimers()
  }

  return {
    get now() {
      return clock.now
    },
    async advance(ms) {
      if (!(Number.isFinite(ms) && ms >= 0)) {
        const got = typeof ms === 'number' ? ms : kindOf(ms)
        throw new RangeError(`advance: expected a number of ms from 0, got ${got}`)
      }
      await runEventLoop(REAL_TIME)
      const step = Math.max(STEP, Math.ceil(ms / MAX_STEPS))
      for (let left = ms; left > 0; left -= step) {
        const timers = clock.countTimers()
        await clock.tickAsync(Math.min(step, left))
        await runEventLoop()
        if (clock.countTimers() !== timers) await runEventLoop(REAL_TIME_OF_STEP)
      }
    },
    restore,
    [Symbol.dispose]: restore,
  }
}

/** The function of Node, Bun and Deno that loads a module of Node. */
interface NodeRuntime {
  readonly process?: { getBuiltinModule?(id: string): { syncBuiltinESMExports?(): void } | undefined }
}

/** Lets modules that import timers from `node:timers` or `node:timers/promises` use the current timers. */
function updateImportedTimers(): void {
  const { process } = globalThis as NodeRuntime
  process?.getBuiltinModule?.('node:module')?.syncBuiltinESMExports?.()
}

/** `AbortSignal.timeout` with the timers of the clock. */
function createTimeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController()
  const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  setTimeout(() => controller.abort(reason), ms)
  return controller.signal
}

/** The operations of WebCrypto. */
const OPERATIONS = [
  'encrypt',
  'decrypt',
  'sign',
  'verify',
  'digest',
  'importKey',
  'generateKey',
  'deriveKey',
  'deriveBits',
]

/**
 * Counts the running operations of WebCrypto until it is restored. They take real time, in which the clock has to stand
 * still: otherwise a sealed state or a signed token would reach its receiver too late.
 */
function watchCryptography(): { readonly pending: number; restore(): void } {
  const prototype = Object.getPrototypeOf(crypto.subtle) as Record<string, (...args: unknown[]) => Promise<unknown>>
  const originals = OPERATIONS.map((name) => [name, prototype[name]] as const)
  let pending = 0
  for (const [name, original] of originals) {
    if (original === undefined) continue
    prototype[name] = async function (this: unknown, ...args) {
      pending += 1
      try {
        return await original.apply(this, args)
      } finally {
        pending -= 1
      }
    }
  }
  return {
    get pending() {
      return pending
    },
    restore() {
      for (const [name, original] of originals) if (original !== undefined) prototype[name] = original
    },
  }
}
