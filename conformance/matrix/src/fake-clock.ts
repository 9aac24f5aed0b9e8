/** A fake clock that a test advances; promises and I/O run as usual. */

import { vi } from 'vitest'

/** The clock advances in steps of this size, in milliseconds. */
const STEP = 10_000
/** The turns of the event loop after each step, so that streams can deliver their data. */
const TURNS = 25

/** @param fake false restores the real clock. */
export function useFakeClock(fake = true): void {
  if (fake)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] })
  else vi.useRealTimers()
}

export async function advanceTime(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP) {
    await runEventLoop()
    await vi.advanceTimersByTimeAsync(Math.min(STEP, left))
  }
  await runEventLoop()
}

async function runEventLoop(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
