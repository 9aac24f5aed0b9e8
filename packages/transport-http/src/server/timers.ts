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
  readonly process?: { readonly nextTick?: (run: () => void) => void }
}

const { setImmediate: immediate, process } = globalThis as NodeGlobals
/**
 * Runs a function in the next turn of the event loop. It is read when the module is loaded, because tests replace the
 * global timers.
 */
const inNextTurn = immediate ?? queueMicrotask

/**
 * Runs a function after all promise jobs, but in the same turn of the event loop. Node runs a `nextTick` function after
 * all promise jobs only if a promise job has passed it.
 */
function afterJobs(run: () => void): void {
  if (process?.nextTick === undefined) inNextTurn(run)
  else queueMicrotask(() => process.nextTick?.(run))
}

let turn: Promise<void> | undefined

/** The largest number of requests that are handled in one turn of the event loop. */
const REQUESTS_PER_TURN = 64
/**
 * How many requests are handled at the same time. Their results, and the JSON of the results, are in memory together.
 */
const REQUESTS_AT_ONCE = 8
/** The bytes of responses after which the next requests wait for the next turn. */
const BYTES_PER_TURN = 4 * 1024 * 1024

/** The functions that begin the requests of one caller that have arrived and are not handled yet, oldest first. */
type Queue = (() => void)[]

/** The queues by caller. An empty queue is kept, because V8 replaces the table of a map after many deletions. */
const queues = new Map<string | undefined, Queue>()
/** The queues that are not empty. The first one is next. */
const waiting: Queue[] = []
/** Above this number of callers, the empty queues are deleted. */
const FEW_CALLERS = 1_000
let handledInTurn = 0
let bytesInTurn = 0

/**
 * Resolves when a request may be handled, in a later turn of the event loop. The number of requests per turn and at the
 * same time is limited, so that responses are written and read before more memory is used. The callers take turns, so
 * that the requests of one caller do not wait for all earlier requests of another caller. For Node only, like
 * `nextTurn`.
 */
export function requestTurnOf(caller: string | undefined): Promise<void> {
  return new Promise((begin) => {
    if (waiting.length === 0) inNextTurn(beginTurn)
    let queue = queues.get(caller)
    if (queue === undefined) {
      queue = []
      queues.set(caller, queue)
    }
    if (queue.length === 0) waiting.push(queue)
    queue.push(begin)
  })
}

/** Begins the oldest request of the next caller. */
function beginNext(): void {
  const queue = waiting.shift()
  const begin = queue?.shift()
  if (queue === undefined || begin === undefined) return
  if (queue.length > 0) waiting.push(queue)
  else if (queues.size > FEW_CALLERS && waiting.length === 0) queues.clear()
  handledInTurn += 1
  begin()
}

/** Counts the bytes of a response that was created in this turn. */
export function countResponse(bytes: number): void {
  bytesInTurn += bytes
}

function beginTurn(): void {
  handledInTurn = 0
  bytesInTurn = 0
  beginGroup()
}

function beginGroup(): void {
  if (handledInTurn >= REQUESTS_PER_TURN || bytesInTurn >= BYTES_PER_TURN) {
    inNextTurn(beginTurn)
    return
  }
  for (let count = 0; count < REQUESTS_AT_ONCE; count++) beginNext()
  if (waiting.length > 0) afterJobs(beginGroup)
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
