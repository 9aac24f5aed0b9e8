/** Waits; fails at once when the signal fires. */

import { setTimeout } from 'node:timers/promises'

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, signal && { signal })
}
