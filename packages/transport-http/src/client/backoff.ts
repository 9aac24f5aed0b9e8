/** When to try again: at the time that the server names, else after waits that grow and differ from client to client. */

import { pause } from '@mcpx/protocol'
import type { Settings } from './options.ts'

export interface Backoff {
  /** Something came of the last attempt: the waits begin anew. */
  progressed(): void
  /** An attempt reached the server. */
  opened(): void
  /** An attempt failed. False when it was the last one. */
  failed(): boolean
  /** Waits for the next attempt; `retry` is what the server asks for, in ms. Rejects when the signal fires. */
  wait(retry: number | undefined, signal: AbortSignal): Promise<void>
}

/** A server cannot make a client busy: waits are never shorter than this, in ms. */
const SHORTEST = 20

export function createBackoff({ minDelay, maxDelay, attempts }: Settings): Backoff {
  let waits = 0
  let failures = 0

  return {
    progressed() {
      waits = 0
    },
    opened() {
      failures = 0
    },
    failed: () => ++failures < attempts,
    wait(retry, signal) {
      const grown = minDelay * 2 ** waits * (0.5 + Math.random() / 2)
      // The first wait is what the server says, to the ms; it knows when it will be ready.
      const wanted = retry === undefined ? grown : Math.max(retry, waits === 0 ? 0 : grown)
      waits += 1
      return pause(Math.max(Math.min(wanted, maxDelay), SHORTEST), signal)
    },
  }
}
