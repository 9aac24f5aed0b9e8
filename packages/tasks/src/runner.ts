/**
 * Runs the tasks of one process: creates tasks, renews their leases, and claims tasks of processes that have crashed.
 */

import {
  type AuthInfo,
  type Context,
  estimateBytes,
  type JsonObject,
  pause,
  principalOf,
  SharedLimit,
} from '@mcpx/protocol'
import type { ExtensionHost, ServerRequest } from '@mcpx/server'
import { isFull, isRetryable, LiveTask, type TaskFailureReason, taskError } from './live-task.ts'
import type { TaskSettings } from './options.ts'
import { ended, hasEnded, hasExpired, keptAfter, type LoadedTask, type TaskData } from './record.ts'
import { type TaskRecords, TaskTooLarge } from './records.ts'
import { failed, TaskRun } from './run.ts'

/** The length of a task id: 192 random bits, in bytes. */
const ID_BYTES = 24

/** How long to wait before a lease that could not be renewed is renewed again, in ms. */
const RETRY_INTERVAL = 1_000

/** The encrypted part of a task that can be resumed. */
interface SealedRequest {
  readonly params: JsonObject
  readonly auth: AuthInfo | undefined
  readonly client: TaskRun['client']
}

export class TaskRunner {
  readonly host: ExtensionHost
  readonly records: TaskRecords
  readonly settings: TaskSettings
  /** The tasks of this process, with the bytes of their arguments that count in the limit. */
  readonly #runs = new Map<string, { readonly run: TaskRun; readonly live: LiveTask; readonly bytes: number }>()
  readonly #kept: SharedLimit
  readonly #arguments: SharedLimit
  /** The tasks that count toward the limit, in the order of their expiry. */
  readonly #expiries: { readonly caller: string | undefined; readonly at: number }[] = []
  /** The id of this process. Created on first use, because workerd has no random values while modules are loaded. */
  #owner: string | undefined
  #isStarted = false
  #isSweeping = false
  #nextSweep = 0
  /** Whether further tasks of other processes may be claimed. */
  #hasRoom = true

  constructor(host: ExtensionHost, records: TaskRecords, settings: TaskSettings) {
    this.host = host
    this.records = records
    this.settings = settings
    const { tasks, arguments: bytes, perCaller } = settings.limits
    this.#kept = new SharedLimit(tasks, perCaller)
    this.#arguments = new SharedLimit(bytes, perCaller)
  }

  get #lease() {
    this.#owner ??= crypto.randomUUID()
    return { owner: this.#owner, duration: this.settings.lease }
  }

  /** Starts to renew leases and to look for tasks of other processes, until the server is closed. */
  start(): void {
    if (this.#isStarted) return
    const runner = new WeakRef(this)
    const interval = Math.max(1, Math.floor(this.settings.lease / 3))
    // The timer has only a weak reference to this object, so that an unused server can be removed from memory.
    const timer = setInterval(() => {
      const found = runner.deref()
      if (found === undefined || found.#isIdle) clearInterval(timer)
      else void found.#keepAlive()
    }, interval)
    ;(timer as { unref?: () => void }).unref?.()
    this.#isStarted = true
    this.host.reportLoad(() => ({ tasks: runner.deref()?.countByStatus() }))
    this.host.closing.addEventListener('abort', () => void this.#close(), { once: true })
  }

  get #isIdle(): boolean {
    return this.host.closing.aborted && this.#runs.size === 0
  }

  /** Returns how many tasks this process works on, by status. */
  countByStatus(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { live } of this.#runs.values()) counts[live.data.status] = (counts[live.data.status] ?? 0) + 1
    return counts
  }

  /** Stores the task of a call. Returns undefined if the limits allow no further task. */
  async create(run: TaskRun): Promise<LiveTask | undefined> {
    const { ttl, pollInterval, limits } = this.settings
    const text = JSON.stringify(run.request.params)
    if (text.length > limits.data) throw new TaskTooLarge(`the arguments have more than ${limits.data} characters`)
    const bytes = estimateBytes(text)
    if (!this.#acquire(run.caller, bytes)) return undefined
    const id = createId()
    const now = Date.now()
    const kept = ttl + keptAfter(ttl)
    const data: TaskData = {
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttl,
      pollInterval,
      principal: principalOf(run.auth) ?? null,
      tool: String(run.request.params.name),
      sealed: run.isResumable ? await this.#seal(id, run, kept) : undefined,
      resumptions: 0,
      questions: {},
      ...run.received,
    }
    const live = new LiveTask(
      this.records,
      { id, version: 1, data, owner: this.#lease.owner, ttl: kept },
      this.#lease.owner,
    )
    try {
      await this.records.create(id, data, kept, this.#lease, run.caller)
    } catch (error) {
      this.#kept.release(run.caller)
      this.#arguments.release(run.caller, bytes)
      if (isFull(error)) {
        this.host.report(error)
        return undefined
      }
      // The store may have created the task before it failed. Cancel the task, because otherwise another process would
      // resume it.
      live.change((stored) => ended(stored, { status: 'cancelled' })).catch(() => {})
      throw error
    }
    this.#expiries.push({ caller: run.caller, at: performance.now() + kept })
    this.#runs.set(id, { run, live, bytes })
    await this.#open(live)
    return live
  }

  /** Returns the error for the client. An error of an unavailable store is reported and replaced by a named error. */
  nameFailure(error: unknown, ctx: Context | undefined): unknown {
    if (!isRetryable(error)) return error
    this.host.report(error, ctx)
    return taskError('store', 'The tasks of this server cannot be reached at the moment: send the request again')
  }

  /** Called when the work on a task has ended in this process. */
  release(id: string): void {
    const { run, bytes = 0 } = this.#runs.get(id) ?? {}
    this.#arguments.release(run?.caller, bytes)
    this.#runs.delete(id)
    if (this.#hasRoom) return
    this.#hasRoom = true
    this.#nextSweep = 0
    void this.sweep()
  }

  /** Claims the tasks of processes that have crashed. Called by a timer, and when a client polls. */
  async sweep(): Promise<void> {
    const now = performance.now()
    if (this.#isSweeping || now < this.#nextSweep || this.host.closing.aborted) return
    this.#isSweeping = true
    this.#nextSweep = now + this.settings.lease / 4
    try {
      while (this.#hasRoom) {
        const task = await this.records.claim(this.#lease)
        if (task === undefined) return
        if (this.host.closing.aborted) return void (await this.#leave(task.id))
        // After a long pause of this process, its own leases have lapsed.
        const own = this.#runs.get(task.id)
        if (own === undefined) await this.#takeOver(task)
        else await own.live.refresh()
      }
    } catch (error) {
      this.host.report(error)
    } finally {
      this.#isSweeping = false
    }
  }

  /** Marks a task as expired if it has not ended. Returns its newest state. */
  async expire(task: LoadedTask): Promise<LoadedTask> {
    const message = `The task did not end within its time to live of ${task.data.ttl} ms`
    return (await this.#fail(task, 'expired', message)) ?? task
  }

  async #takeOver(task: LoadedTask): Promise<void> {
    const { data } = task
    const { resumptions } = this.settings.limits
    if (hasExpired(task)) return void (await this.expire(task))
    if (data.sealed === undefined) {
      return void (await this.#fail(task, 'lost', 'The process that worked on the task has ended'))
    }
    if (data.resumptions >= resumptions) {
      return void (await this.#fail(task, 'lost', `${resumptions} processes that worked on the task have ended`))
    }
    let opened: SealedRequest
    try {
      opened = (await this.host.open(data.sealed, task.id)) as unknown as SealedRequest
    } catch {
      const problem = 'The task cannot be continued: this process has other secrets than the one that began it'
      this.host.report(new Error(`${problem}; pass the same \`secrets\` to createServer in each`))
      return void (await this.#fail(task, 'secrets', problem))
    }
    void this.#resume(task, opened)
  }

  async #resume(task: LoadedTask, { params, auth, client }: SealedRequest): Promise<void> {
    const request: ServerRequest = { method: 'tools/call', params }
    const live = new LiveTask(this.records, task, this.#lease.owner)
    const run = new TaskRun(this, { request, auth, client }, { isResumable: true, live })
    // A claimed task is resumed even above the limit, but then no other task is claimed until one has ended.
    const estimated = estimateBytes(JSON.stringify(params))
    this.#hasRoom = this.#arguments.acquire(undefined, estimated) === undefined
    this.#runs.set(task.id, { run, live, bytes: this.#hasRoom ? estimated : 0 })
    await this.#open(live)
    try {
      await live.change((counted) => ({ ...counted, resumptions: counted.resumptions + 1 }))
      const result = await this.host.run(request, this.host.createContext(run))
      if (!run.hasStarted) await run.finish(live, { result })
    } catch (error) {
      await run.finish(live, { error })
    }
  }

  #fail(task: LoadedTask, reason: TaskFailureReason, message: string): Promise<LoadedTask | undefined> {
    const end = failed(taskError(reason, message))
    return this.records.change(task.id, ({ data }) => (hasEnded(data) ? undefined : ended(data, end)), task)
  }

  /** Subscribes to changes of a task. If this fails, changes are noticed when the lease is renewed. */
  async #open(live: LiveTask): Promise<void> {
    try {
      await live.open()
    } catch (error) {
      this.host.report(error)
    }
  }

  async #keepAlive(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ live }) => this.#renew(live)))
    await this.sweep()
  }

  /**
   * Renews the lease of a task if it may have lapsed, for example while the process was suspended. Waits while the
   * store is unavailable. Rejects with `TaskEnded` if another process has claimed the task.
   */
  async confirmLease(live: LiveTask): Promise<void> {
    for (;;) {
      live.ended.throwIfAborted()
      if (Date.now() - live.renewedAt < this.settings.lease) return
      await this.#renew(live)
      if (Date.now() - live.renewedAt >= this.settings.lease) await pause(RETRY_INTERVAL, live.ended)
    }
  }

  async #renew(live: LiveTask): Promise<void> {
    try {
      const renewedAt = Date.now()
      const version = await this.records.renew(live.id, this.#lease)
      if (version !== undefined) live.renewedAt = renewedAt
      if (version !== live.loaded.version) await live.refresh()
    } catch (error) {
      this.host.report(error)
    }
  }

  /**
   * Ends the leases of the resumable tasks, so that other processes continue them. All other tasks continue in this
   * process.
   */
  async #close(): Promise<void> {
    for (const { run, live } of [...this.#runs.values()]) {
      if (!run.isResumable) continue
      live.end('closed')
      await this.#leave(live.id).catch((error) => this.host.report(error))
    }
  }

  /** Ends the lease of a task, so that another process can claim the task at once. */
  async #leave(id: string): Promise<void> {
    await this.records.renew(id, { ...this.#lease, duration: 0 })
  }

  #acquire(caller: string | undefined, bytes: number): boolean {
    const now = performance.now()
    while ((this.#expiries[0]?.at ?? now) < now) this.#kept.release(this.#expiries.shift()?.caller)
    if (this.#kept.acquire(caller) !== undefined) return false
    if (this.#arguments.acquire(caller, bytes) === undefined) return true
    this.#kept.release(caller)
    return false
  }

  #seal(id: string, { request, auth, client }: TaskRun, ttl: number): Promise<string> {
    const { inputResponses, requestState, ...params } = request.params
    const { info, capabilities } = client
    return this.host.seal({ params, auth, client: { info, capabilities } }, id, ttl)
  }
}

function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
