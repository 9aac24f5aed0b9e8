/** Timers for streams and running requests, and the shared turn of the event loop on Node. */

import { LONGEST_TIMER } from '@mcpx/protocol'

type Timer = ReturnType<typeof setInterval>

/** Changes a timer so that it does not keep the process alive, and returns it. */
export function unref(timer: Timer): Timer {
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

/** Runs a function every `ms`. Returns undefined and never runs it if a timer cannot wait that long. */
export function every(ms: number, run: () => void): Timer | undefined {
  return ms > LONGEST_TIMER ? undefined : unref(setInterval(run, ms))
}

/** Runs a function once after `ms`. Returns undefined and never runs it if a timer cannot wait that long. */
export function after(ms: number, run: () => void): Timer | undefined {
  return ms > LONGEST_TIMER ? undefined : unref(setTimeout(run, ms))
}

interface NodeGlobals {
  readonly setImmediate?: (run: () => void) => void
}

/** The function is read when the module is loaded, because tests replace the global timers. */
const inNextTurn = (globalThis as NodeGlobals).setImmediate ?? queueMicrotask

let turn: Promise<void> | undefined

/** The most requests that are handled in one turn of the event loop. */
const REQUESTS_PER_TURN = 64
let requestTurn: { promise: Promise<void>; left: number } | undefined

/**
 * Resolves in a turn of the event loop in which a request may be handled. The number of requests per turn is limited,
 * so that responses are written and read before more memory is used. For Node only, like `nextTurn`.
 */
export function requestTurnOf(): Promise<void> {
  const last = requestTurn
  if (last !== undefined && last.left > 0) {
    last.left -= 1
    return last.promise
  }
  const next = { promise: (last?.promise ?? Promise.resolve()).then(nextTurn), left: REQUESTS_PER_TURN - 1 }
  requestTurn = next
  void next.promise.then(() => {
    if (requestTurn === next) requestTurn = undefined
  })
  return next.promise
}

/**
 * Resolves in the next turn of the event loop. All callers of one turn share it, so requests that arrive together are
 * answered together, which saves a quarter of the processor time of a small call under load.
 * Each caller awaits the promise itself and so stays in its own async context. For Node only: other runtimes forbid
 * awaiting a promise of another request.
 */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    inNextTurn(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}
