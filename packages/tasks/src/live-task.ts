/**
 * A task that this process follows. Contains its newest state, writes changes in batches, and waits for changes of
 * other processes.
 */

import { ConnectionError, internalError, pause, type RpcError } from '@mcpx/protocol'
import { hasEnded, hasExpired, type LoadedTask, type TaskData } from './record.ts'
import type { TaskRecords } from './records.ts'

/**
 * The reason why the work on a task must end in this process. `lost`: another process works on the task. `closed`: the
 * server was closed, and another process continues the task. `unknown`: the task does not exist any more.
 */
export type TaskEndReason = 'completed' | 'failed' | 'cancelled' | 'expired' | 'lost' | 'closed' | 'unknown'

const MESSAGES: Readonly<Record<TaskEndReason, string>> = {
  completed: 'The task has been completed',
  failed: 'The task has failed',
  cancelled: 'The task was cancelled',
  expired: 'The time to live of the task has passed',
  lost: 'Another process works on the task',
  closed: 'The server was closed; another process continues the task',
  unknown: 'There is no such task, or it is no longer kept',
}

/** The error of a change to a task that has ended. It is also the reason of `ctx.signal` in the handler of the task. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded'
  /** The reason why the task has ended. */
  readonly reason: TaskEndReason

  constructor(reason: TaskEndReason) {
    super(MESSAGES[reason])
    this.reason = reason
  }
}

/** The reason why a task, or a request about it, failed because of the server: `data.reason` of the error. */
export type TaskFailureReason = 'expired' | 'lost' | 'secrets' | 'too-large' | 'limit' | 'store'

/** Creates the error of a task that failed because of the server. */
export function taskError(reason: TaskFailureReason, message: string): RpcError {
  return internalError(message, { data: { reason } })
}

/** Returns whether an error of a store says that the same call may succeed later. */
export function isRetryable(error: unknown): boolean {
  return (error as { retryable?: unknown } | undefined)?.retryable === true
}

/** Returns whether an error of a store says that it is full, or that the caller has used its share of it. */
export function isFull(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'limit'
}

interface PendingChange {
  apply(data: TaskData): TaskData
  resolve(): void
  reject(error: unknown): void
}

/** The times between attempts to write to an unavailable store, in ms. The last time is repeated. */
const RETRIES = [100, 250, 500, 1_000, 2_500, 5_000]

export class LiveTask {
  /**
   * When the lease was last renewed, in ms since 1970. Uses the wall clock, because the monotonic clock may stop while
   * a computer sleeps.
   */
  renewedAt: number = Date.now()
  readonly #records: TaskRecords
  readonly #owner: string | undefined
  readonly #ending = new AbortController()
  #changes: PendingChange[] = []
  readonly #waiting = new Set<() => void>()
  #task: LoadedTask
  #isWriting = false
  #unwatch: (() => void) | undefined

  /** @param owner the process that holds the lease. Default: any process may hold it */
  constructor(records: TaskRecords, task: LoadedTask, owner?: string) {
    this.#records = records
    this.#task = task
    this.#owner = owner
  }

  get id(): string {
    return this.#task.id
  }

  get data(): TaskData {
    return this.#task.data
  }

  get loaded(): LoadedTask {
    return this.#task
  }

  /** Aborted with a `TaskEnded` when the task has ended for this process. */
  get ended(): AbortSignal {
    return this.#ending.signal
  }

  /** Subscribes to changes of other processes. */
  async open(): Promise<void> {
    const unwatch = await this.#records.watch(this.id, (version) => {
      if (version === undefined || version > this.#task.version) void this.refresh()
    })
    if (this.ended.aborted) unwatch()
    else this.#unwatch = unwatch
  }

  /**
   * Changes the task. Changes of one turn of the event loop are written together. Rejects with `TaskEnded` if the task
   * ends before.
   */
  change(apply: (data: TaskData) => TaskData): Promise<void> {
    if (this.ended.aborted) return Promise.reject(this.ended.reason)
    return new Promise((resolve, reject) => {
      this.#changes.push({ apply, resolve, reject })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  /**
   * Calls `read` with each new state until it returns a value, and resolves with the value. Rejects with `TaskEnded` if
   * the task ends before.
   */
  until<Value>(read: (data: TaskData) => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const attempt = () => {
        const value = this.ended.aborted ? undefined : read(this.data)
        if (value === undefined && !this.ended.aborted) return
        this.#waiting.delete(attempt)
        if (value === undefined) reject(this.ended.reason)
        else resolve(value)
      }
      this.#waiting.add(attempt)
      attempt()
    })
  }

  /** Reads the newest state. Ignores a failure of the store. */
  async refresh(): Promise<void> {
    try {
      this.#accept(await this.#records.get(this.id))
    } catch {
      // The next change, renewal or poll reads the state again.
    }
  }

  /** Ends the task for this process. */
  end(reason: TaskEndReason): void {
    if (this.ended.aborted) return
    this.#ending.abort(new TaskEnded(reason))
    this.#unwatch?.()
    for (const { reject } of this.#changes.splice(0)) reject(this.ended.reason)
    for (const attempt of [...this.#waiting]) attempt()
  }

  /** Stores a state that was read or written. Ignores an older state, because reads may end in another order. */
  #accept(task: LoadedTask | undefined): void {
    if (task !== undefined && task.version < this.#task.version) return
    const reason = this.#reasonToEnd(task)
    if (task !== undefined) this.#task = task
    if (reason !== undefined) this.end(reason)
    else for (const attempt of [...this.#waiting]) attempt()
  }

  #reasonToEnd(task: LoadedTask | undefined): TaskEndReason | undefined {
    if (task === undefined) return 'unknown'
    const { status, error } = task.data
    if ((error?.data as { reason?: unknown } | undefined)?.reason === 'expired') return 'expired'
    if (hasEnded(task.data)) return status as 'completed' | 'failed' | 'cancelled'
    // If a process works on the task, it writes that the task has expired.
    if (this.#owner === undefined) return hasExpired(task) ? 'expired' : undefined
    return task.owner === this.#owner ? undefined : 'lost'
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Wait for the other changes of this turn.
    await Promise.resolve()
    while (this.#changes.length > 0) await this.#write(this.#changes.splice(0))
    this.#isWriting = false
  }

  async #write(batch: readonly PendingChange[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        let isWritten = false
        const apply = (task: LoadedTask) => {
          isWritten = this.#reasonToEnd(task) === undefined
          return isWritten ? batch.reduce((data, change) => change.apply(data), task.data) : undefined
        }
        const task = await this.#records.change(this.id, apply, this.#task)
        if (isWritten && task !== undefined) for (const { resolve } of batch) resolve()
        this.#accept(task)
        // This has no effect on changes that were written.
        for (const { reject } of batch) reject(this.ended.reason)
        return
      } catch (error) {
        if (!isRetryable(error) && batch.length > 1) {
          // Write the changes one by one: one of them may be invalid, such as the result of a step that is too large.
          for (const change of batch) await this.#write([change])
          return
        }
        if (!isRetryable(error) || this.ended.aborted) {
          for (const { reject } of batch) reject(error)
          return
        }
        await pause(RETRIES[Math.min(attempt, RETRIES.length - 1)] as number, this.ended).catch(() => {})
      }
    }
  }
}
