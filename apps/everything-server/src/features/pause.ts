/** Waits for the given milliseconds; rejects when the signal is aborted. */

import { setTimeout } from 'node:timers/promises'

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, signal && { signal })
}
