/** Clocks that a test moves on, while everything that takes no time goes on by itself. */

import { vi } from 'vitest'

/** So much passes at once, in ms; then all that is under way may go on. */
const STEP = 10_000
/** How many turns that takes: what passes through pipes and streams needs some. */
const TURNS = 25

/** @param stop false: they run again. */
export function stopClocks(stop = true): void {
  if (stop)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] })
  else vi.useRealTimers()
}

export async function passTime(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP) {
    await takeTurns()
    await vi.advanceTimersByTimeAsync(Math.min(STEP, left))
  }
  await takeTurns()
}

async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
