/** Polls a task until it has ended, in both eras, answers its input requests, and cancels it. */

import {
  abortable,
  ConnectionError,
  type DetailedTask,
  ErrorCode,
  guarded,
  type JsonObject,
  pause,
  quoted,
  RpcError,
  type Task,
} from '@mcpx/protocol'
import { createDeferred, withSignal } from './async.ts'
import { DEFAULT_MAX_TIMEOUT, timeError } from './era.ts'
import type { ExtensionCall } from './extensions.ts'

/**
 * The reason of a `TaskError`.
 * - `cancelled`: the task was cancelled.
 * - `expired`: the server keeps a task for `ttlMs`, and this time has passed.
 * - `unknown`: the server does not know the task: the id is wrong, belongs to another caller, or was deleted.
 */
export type TaskErrorReason = 'cancelled' | 'expired' | 'unknown'

/** A task that ends without a result. A task that failed rejects with the `RpcError` of its call. */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  /** The reason why there is no result. */
  readonly reason: TaskErrorReason
  /** The id of the task. */
  readonly taskId: string

  constructor(reason: TaskErrorReason, taskId: string, message: string) {
    super(message)
    this.reason = reason
    this.taskId = taskId
  }
}

/** The requests of one era about one task. */
export interface TaskPeer {
  readonly id: string
  /** Resolves to the state of the task, with its result or its error when it has ended. */
  get(call: ExtensionCall, timeout: number): Promise<DetailedTask>
  cancel(call: ExtensionCall): Promise<unknown>
  /** Handles the input requests of a state. Called with each state that is not final. */
  handleInput(task: DetailedTask, follower: TaskFollower): void
  /**
   * Subscribes to the states of the task, which are passed to `push`. Returns a function that returns whether the
   * server currently sends states.
   */
  watch?(follower: TaskFollower): () => boolean
}

/**
 * The delays between polls if the server requests no interval, in ms: the first delay, the growth factor, and the
 * longest delay.
 */
const FIRST_DELAY = 1_000
const DELAY_GROWTH = 1.5
const LONGEST_DELAY = 15_000
/** The bounds of the intervals that a server may request, in ms. */
const SHORTEST_INTERVAL = 100
const LONGEST_INTERVAL = 300_000
/** The delay between polls while the server sends the states, in ms. */
const WATCHED_DELAY = 30_000
/** How long requests about a task may stay without a response by default, in ms. */
export const DEFAULT_TIMEOUT = 60_000
/** How long one request about a task may take before it is sent again, and the delays in between, in ms. */
const ATTEMPT_TIMEOUT = 30_000
const FIRST_RETRY = 250
const LONGEST_RETRY = 5_000

const LONGER = "Pass a longer maxTimeout, or wait for the result of the handle that { task: 'handle' } returns."

interface FollowOptions {
  /** Whether the task is cancelled when the call ends before it. */
  readonly cancels: boolean
  readonly maxTimeout: number
  readonly onStatus: (task: Task) => void
}

/** Polls one task until it has ended. */
export class TaskFollower {
  readonly call: ExtensionCall
  readonly #peer: TaskPeer
  readonly #options: FollowOptions
  readonly #startTime = performance.now()
  #isWatched: () => boolean = () => false
  /** Whether a poll was answered since the server began to send the states. Until then, a state may have been missed. */
  #isUpToDate = false
  #delay = FIRST_DELAY
  #ttl: number | null | undefined
  #expiry = Number.POSITIVE_INFINITY
  #hasEnded = false
  #pushed: DetailedTask | undefined
  #failure: { readonly error: unknown } | undefined
  #woken = createDeferred<void>()
  /**
   * How many input requests are open, since when at least one is open, and for how long earlier ones were open, in ms.
   */
  #holds = 0
  #heldSince = 0
  #heldTime = 0

  constructor(peer: TaskPeer, call: ExtensionCall, options: FollowOptions) {
    this.#peer = peer
    this.call = call
    this.#options = options
  }

  /** Resolves to the result of the call. `first` is the state in the response to the call, which has no result. */
  async follow(first?: Task): Promise<JsonObject> {
    try {
      return await this.#follow(first)
    } catch (error) {
      const isOver = this.#hasEnded || error instanceof TaskError || isConnectionLost(error)
      if (this.#options.cancels && !isOver) this.#peer.cancel(this.call).catch(() => {})
      throw error
    }
  }

  async #follow(first: Task | undefined): Promise<JsonObject> {
    const { call } = this
    const peer = this.#peer
    if (first !== undefined) this.#note(first)
    if (first === undefined || !isFinal(first)) this.#isWatched = peer.watch?.(this) ?? this.#isWatched
    let task: DetailedTask
    if (first !== undefined && hasOutcome(first)) task = first
    else task = first?.status === 'working' ? await this.#next(first) : await this.#poll()
    for (;;) {
      this.#note(task)
      if (task.status === 'completed') return task.result
      if (task.status === 'failed') throw new RpcError(task.error.code, task.error.message, { data: task.error.data })
      if (task.status === 'cancelled') {
        const { statusMessage = 'it was cancelled' } = task
        throw new TaskError('cancelled', peer.id, `${call.label} has no result: ${statusMessage}`)
      }
      peer.handleInput(task, this)
      task = await this.#next(task)
    }
  }

  /** Adds a state that the server sent in a notification. A final state is never replaced. */
  readonly push = (task: DetailedTask): void => {
    if (this.#pushed === undefined || !isFinal(this.#pushed)) this.#pushed = task
    this.#woken.resolve()
  }

  /** Runs a function in the background. When it fails, the call fails. */
  run(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#failure ??= { error }
      this.#woken.resolve()
    })
  }

  /** Excludes the time until the returned function is called from `maxTimeout`. */
  hold(): () => void {
    if (this.#holds === 0) this.#heldSince = performance.now()
    this.#holds += 1
    return () => {
      this.#holds -= 1
      if (this.#holds === 0) this.#heldTime += performance.now() - this.#heldSince
    }
  }

  /** How long the call may still take, in ms. */
  get timeLeft(): number {
    const now = this.#holds > 0 ? this.#heldSince : performance.now()
    return this.#options.maxTimeout - (now - this.#startTime - this.#heldTime)
  }

  /** Sends a request about the task. If it fails for a temporary reason, sends it again until `timeout`. */
  async attempt<Result>(send: (timeout: number) => Promise<Result>): Promise<Result> {
    const { label, options, client, signal } = this.call
    const timeout = options.timeout ?? client.timeout ?? DEFAULT_TIMEOUT
    const startTime = performance.now()
    for (let delay = FIRST_RETRY; ; delay = Math.min(delay * 2, LONGEST_RETRY)) {
      try {
        return await abortable(send(Math.min(timeout / 2, ATTEMPT_TIMEOUT)), signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!mayPass(error)) throw error
        const isLate = performance.now() - startTime + delay >= timeout
        if (isLate) throw error instanceof ConnectionError ? notFollowedError(label, this.#peer.id, error) : error
        await pause(delay, signal)
      }
    }
  }

  /** Waits for the next state: until the server sends one, or until it is time to poll. */
  async #next(task: Task): Promise<DetailedTask> {
    const { label, signal } = this.call
    if (this.timeLeft <= 0) throw timeError(label, this.#options.maxTimeout, LONGER)
    const expiry = this.#expiry - performance.now()
    if (expiry <= 0) throw this.#unknownError()
    const delay = Math.min(this.#delayAfter(task), this.timeLeft, expiry)
    const woken = this.#woken.promise
    if (this.#pushed === undefined && this.#failure === undefined) {
      await withSignal(label, undefined, (ended) => Promise.race([pause(delay, ended), woken]), signal)
    }
    this.#woken = createDeferred()
    if (this.#failure !== undefined) throw this.#failure.error
    const pushed = this.#pushed
    this.#pushed = undefined
    return pushed ?? this.#poll()
  }

  async #poll(): Promise<DetailedTask> {
    const isWatched = this.#isWatched()
    try {
      const task = await this.attempt((timeout) => this.#peer.get(this.call, timeout))
      this.#isUpToDate = isWatched
      return task
    } catch (error) {
      throw isUnknown(error) ? this.#unknownError() : error
    }
  }

  #delayAfter({ pollIntervalMs = 0 }: Task): number {
    let delay = Math.min(Math.max(pollIntervalMs, SHORTEST_INTERVAL), LONGEST_INTERVAL)
    if (pollIntervalMs <= 0) {
      delay = this.#delay
      this.#delay = Math.min(delay * DELAY_GROWTH, LONGEST_DELAY)
    }
    return this.#isUpToDate && this.#isWatched() ? Math.max(delay, WATCHED_DELAY) : delay
  }

  #note(task: Task): void {
    this.#hasEnded = isFinal(task)
    this.#options.onStatus(task)
    if (task.ttlMs !== this.#ttl) this.#expiry = Number.POSITIVE_INFINITY
    this.#ttl = task.ttlMs
    // The clock of the server may differ from ours, so compute the age from two timestamps of the server. The task is
    // at least this old.
    const age = Date.parse(task.lastUpdatedAt) - Date.parse(task.createdAt)
    const left = (task.ttlMs ?? Number.POSITIVE_INFINITY) - Math.max(age || 0, 0)
    this.#expiry = Math.min(this.#expiry, performance.now() + left)
  }

  #unknownError(): TaskError {
    const { label } = this.call
    const { id } = this.#peer
    if (performance.now() < this.#expiry) return unknownError(label, id)
    return new TaskError('expired', id, `${label} has no result: the server kept its task for ${this.#ttl} ms only`)
  }
}

/** Polls the task of a call until it has ended. If the call ends first, the task is cancelled. */
export function followCall(peer: TaskPeer, first: Task, call: ExtensionCall): Promise<JsonObject> {
  const { options, client } = call
  const maxTimeout = options.maxTimeout ?? client.maxTimeout ?? DEFAULT_MAX_TIMEOUT
  const onStatus = createStatusListener(guarded(options.onStatus, client.onWarning))
  return new TaskFollower(peer, call, { cancels: true, maxTimeout, onStatus }).follow(first)
}

function isFinal({ status }: Task): boolean {
  return status !== 'working' && status !== 'input_required'
}

export function hasOutcome(task: Task): task is DetailedTask {
  return task.status === 'cancelled' || 'result' in task || 'error' in task
}

/** Returns a function that calls a listener with each state that differs from the previous state. */
export function createStatusListener(listener: (task: Task) => void): (task: Task) => void {
  let last: Task | undefined
  return (task) => {
    const isSame = task.status === last?.status && task.statusMessage === last.statusMessage
    last = task
    if (!isSame) listener(task)
  }
}

/** Returns whether a server refused the id of a task. */
export function isUnknown(error: unknown): boolean {
  return error instanceof RpcError && error.code === ErrorCode.InvalidParams
}

function unknownError(label: string, id: string): TaskError {
  return new TaskError('unknown', id, `${label} has no result: the server does not know the task ${quoted(id)}`)
}

export function explainUnknown(label: string, id: string): (error: unknown) => never {
  return (error) => {
    throw isUnknown(error) ? unknownError(label, id) : error
  }
}

const lostReasons: readonly string[] = ['closed', 'exited', 'unreachable']
/** The code of `rateLimit` of `@mcpx/server`. */
const RATE_LIMITED = 429

/** Returns whether the same request may succeed later. */
function mayPass(error: unknown): boolean {
  if (error instanceof RpcError) return error.code === ErrorCode.InternalError || error.code === RATE_LIMITED
  if (!(error instanceof ConnectionError)) return false
  return error.retryable || error.reason === 'timeout' || lostReasons.includes(error.reason)
}

function isConnectionLost(error: unknown): boolean {
  return error instanceof ConnectionError && [...lostReasons, 'refused', 'unsupported'].includes(error.reason)
}

function notFollowedError(label: string, id: string, cause: ConnectionError): ConnectionError {
  const hint = `The task may continue: call client.task(${quoted(id)}).result() to wait for it again.`
  const message = `The client stopped polling the task of ${label}. ${cause.message}`
  return new ConnectionError(cause.reason, message, { hint, cause })
}
