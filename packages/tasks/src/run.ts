/** One call of a tool with the option `task`. It begins as a plain call, and may become a task. */

import {
  type Context,
  ErrorCode,
  type InputRequest,
  type InputResponse,
  isObject,
  type JsonObject,
  LONGEST_TIMER,
  RpcError,
} from '@mcpx/protocol'
import type { LongWork, Next, ServerRequest } from '@mcpx/server'
import { isFull, type LiveTask, TaskEnded, taskError } from './live-task.ts'
import { changed, ended, keptAfter, type TaskData, type TaskEnd, toTask, toTaskResult } from './record.ts'
import { TaskTooLarge } from './records.ts'
import type { TaskRunner } from './runner.ts'

type Outcome = { readonly result: object } | { readonly error: unknown }

/** The key of the call in a context of a handler. */
const RUN = Symbol('task')

/** Returns the call of a handler. Undefined if it cannot become a task. */
export function runOf(ctx: Context): TaskRun | undefined {
  return (ctx as { readonly [RUN]?: TaskRun })[RUN]
}

/** Thrown to end the handler after `handOff`. It is an `RpcError`, so that the server does not report and mask it. */
class HandedOff extends RpcError {
  constructor() {
    super(ErrorCode.InternalError, 'Another process continues the task')
  }
}

/** How long to wait before progress is written again, in ms. */
const PROGRESS_INTERVAL = 500

export class TaskRun implements LongWork {
  readonly request: ServerRequest
  readonly auth: LongWork['auth']
  readonly client: LongWork['client']
  readonly requestInfo: LongWork['requestInfo']
  readonly members: LongWork['members'] = { [RUN]: this }
  readonly isResumable: boolean
  /** Whether the handler was called. */
  hasStarted = false
  /** The caller to whom the limits apply. */
  readonly caller: string | undefined
  /** The responses that the handler received before the task was stored, as the client sent them. */
  readonly #responses: Record<string, InputResponse> = {}
  readonly #runner: TaskRunner
  /** The context of the request. Undefined in a process that continues the task. */
  readonly #base: Context | undefined
  readonly #controller = new AbortController()
  #creation: Promise<LiveTask | undefined> | undefined
  /**
   * The number of pending input requests that are part of the tool call. If one has no response yet, the handler ends
   * and runs again later.
   */
  #asking = 0
  /** The reason why the task could not be stored. */
  #failure: unknown
  #hasFinished = false
  #lastProgress = Number.NEGATIVE_INFINITY
  /** The newest progress message. Undefined before the first message. */
  #message: string | undefined
  #progressTimer: ReturnType<typeof setTimeout> | undefined
  #ttlTimer: ReturnType<typeof setTimeout> | undefined
  #promoteTimer: ReturnType<typeof setTimeout> | undefined
  #onPromoted: (live: LiveTask) => void = () => {}

  constructor(
    runner: TaskRunner,
    work: Pick<LongWork, 'request' | 'auth' | 'client' | 'requestInfo'>,
    options: { isResumable: boolean; base?: Context; live?: LiveTask },
  ) {
    const { isResumable, base, live } = options
    this.#runner = runner
    this.request = work.request
    this.auth = work.auth
    this.client = work.client
    this.requestInfo = work.requestInfo
    this.isResumable = isResumable
    this.#base = base
    this.caller = base && runner.host.callerOf(base)
    if (live !== undefined) {
      this.#creation = Promise.resolve(live)
      this.#follow(live)
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * The responses and step results that exist before the task is stored. They include the ones of middleware, which
   * runs again when the task is resumed.
   */
  get received(): Pick<TaskData, 'responses' | 'steps'> {
    if (this.#base === undefined) return { responses: {}, steps: {} }
    const { answers, steps } = this.#runner.host.stateOf(this.#base)
    // Leave out answers to roots requests, because they are stored as lists, not as `InputResponse` objects.
    const responses = Object.entries(answers).filter((entry): entry is [string, InputResponse] => isObject(entry[1]))
    return { responses: { ...Object.fromEntries(responses), ...this.#responses }, steps }
  }

  // The two ways to respond

  /** Creates the task, responds with it, and runs the handler. */
  async respondAsTask(next: Next): Promise<object> {
    const live = await this.#promote()
    if (live === undefined) {
      throw this.#failure === undefined
        ? taskError('limit', 'There are too many tasks; try again later')
        : this.#runner.nameFailure(this.#failure, this.#base)
    }
    // The request was cancelled while the task was being stored.
    if (this.#base?.signal.aborted) this.#onRequestCancelled()
    void this.#work(live, () => this.#callHandler(next))
    return createResult(live)
  }

  /** Runs the handler. Responds with its result if it ends in time, and otherwise with a task. */
  async respondInTime(next: Next, inlineTime: number): Promise<object> {
    const outcome = this.#callHandler(next)
    const promoted = new Promise<LiveTask>((resolve) => {
      this.#onPromoted = resolve
    })
    this.#promoteAfter(inlineTime)
    const first = await Promise.race([outcome.then(() => undefined), promoted])
    // Once the creation of the task has begun, it cannot be cancelled.
    const live = first ?? (await this.#creation)
    clearTimeout(this.#promoteTimer)
    if (live !== undefined) {
      void this.#work(live, () => outcome)
      return createResult(live)
    }
    const { host } = this.#runner
    if (this.#failure !== undefined) host.report(this.#failure, this.#base, this.request)
    const end = await outcome
    this.#hasFinished = true
    if ('error' in end) throw end.error
    return end.result
  }

  /** Continues the task of another process: runs the handler with the stored responses and step results. */
  async resume(next: Next): Promise<object> {
    const live = (await this.#creation) as LiveTask
    this.hasStarted = true
    void this.#work(live, () => this.#callHandler(next))
    return createResult(live)
  }

  /** Waits for the handler, and reports the work to `telemetry` of the server. */
  #work(live: LiveTask, handle: () => Promise<Outcome>): Promise<void> {
    const { method, params } = this.request
    return this.#runner.host.observe({ kind: 'task', method, params, taskId: live.id }, (report) =>
      this.finish(live, handle(), (end) => {
        if (end?.status === 'failed') report({ error: end.error })
        else report(end?.status === 'completed' ? { result: end.result } : {})
      }),
    )
  }

  /** Stores the outcome of the handler as the final state of the task, and passes it to `onEnd`. */
  async finish(
    live: LiveTask,
    outcome: Outcome | Promise<Outcome>,
    onEnd: (end: TaskEnd | undefined) => void = () => {},
  ): Promise<void> {
    const { host } = this.#runner
    const end = this.#toEnd(await outcome, live)
    onEnd(end)
    this.#hasFinished = true
    try {
      if (end !== undefined) await live.change((data) => ended(data, end))
    } catch (error) {
      if (!(error instanceof TaskEnded)) {
        const masked = host.toRpcError(error, undefined, this.request)
        let failure = masked
        if (error instanceof TaskTooLarge) failure = taskError('too-large', 'The result of the task is too large')
        else if (isFull(error)) failure = taskError('limit', 'There is no room for the result of the task')
        await live.change((data) => ended(data, failed(failure))).catch(() => {})
      }
    }
    live.end('completed')
  }

  // Becoming a task

  /** Turns the call into a task. Returns undefined if that is not possible now. */
  promote(): Promise<LiveTask | undefined> {
    const isPossible = this.#asking === 0 && !this.#hasFinished && !this.signal.aborted
    return isPossible ? this.#promote() : Promise.resolve(this.#creation)
  }

  /** Ends the handler but not the task. `tasks.handle(id)` then completes the task. */
  async handOff(live: LiveTask): Promise<never> {
    // The next change ends the lease. Set this first, so that the end of the lease does not abort the handler.
    this.#hasFinished = true
    await live.change((data) => changed(data, { isHandedOff: true, sealed: undefined, steps: {} }))
    throw new HandedOff()
  }

  #promote(): Promise<LiveTask | undefined> {
    this.#creation ??= this.#create()
    return this.#creation
  }

  async #create(): Promise<LiveTask | undefined> {
    try {
      const live = await this.#runner.create(this)
      if (live !== undefined) this.#follow(live)
      return live
    } catch (error) {
      // If a task is optional, the call continues as a plain call. Otherwise this error is the response.
      const isTooLarge = error instanceof TaskTooLarge
      this.#failure = isTooLarge ? taskError('too-large', 'The arguments are too large for a task') : error
      return undefined
    }
  }

  /** Turns the call into a task after a time. If an input request is open at this time, tries again later. */
  #promoteAfter(ms: number): void {
    this.#promoteTimer = setTimeout(() => {
      if (this.#asking > 0) this.#promoteAfter(RETRY_INTERVAL)
      else void this.promote()
    }, ms)
  }

  /** From now on, aborts the handler when the task ends, and not when the request is cancelled. */
  #follow(live: LiveTask): void {
    this.#onPromoted(live)
    this.#base?.signal.removeEventListener('abort', this.#onRequestCancelled)
    live.ended.addEventListener('abort', () => this.#onEnded(live), { once: true })
    const left = Math.min(live.loaded.ttl - keptAfter(live.data.ttl), LONGEST_TIMER)
    this.#ttlTimer = setTimeout(() => void this.#expire(live), Math.max(0, left))
  }

  async #expire(live: LiveTask): Promise<void> {
    live.end('expired')
    try {
      await this.#runner.expire(live.loaded)
    } catch (error) {
      // The next process that reads the task writes the end.
      this.#runner.host.report(error, undefined, this.request)
    }
  }

  #onEnded(live: LiveTask): void {
    clearTimeout(this.#ttlTimer)
    clearTimeout(this.#progressTimer)
    if (!this.#hasFinished) this.#controller.abort(live.ended.reason)
    this.#runner.release(live.id)
  }

  readonly #onRequestCancelled = (): void => {
    this.#controller.abort(this.#base?.signal.reason)
  }

  // The handler

  async #callHandler(next: Next): Promise<Outcome> {
    if (this.signal.aborted) return { error: this.signal.reason }
    const base = this.#base
    if (this.#creation === undefined) base?.signal.addEventListener('abort', this.#onRequestCancelled, { once: true })
    try {
      const result = await next(this.request, base && this.#runner.host.createContext(this, base))
      return { result }
    } catch (error) {
      return { error }
    } finally {
      base?.signal.removeEventListener('abort', this.#onRequestCancelled)
    }
  }

  /**
   * Returns the final state of the task. Returns undefined if the task has already ended, or if `tasks.handle(id)` ends
   * it.
   */
  #toEnd(outcome: Outcome, live: LiveTask): TaskEnd | undefined {
    const { host } = this.#runner
    if (live.ended.aborted) return undefined
    // The request was cancelled while the task was being stored.
    if (this.signal.aborted) return { status: 'cancelled' }
    try {
      if ('error' in outcome) throw outcome.error
      const result = host.toResult(this.request, outcome.result)
      const { resultType = 'complete' } = result as JsonObject
      if (resultType === 'complete') return { status: 'completed', result: toTaskResult(result) }
      const problem = `a task cannot return a result of the type ${String(resultType)}; await ctx.elicit(...) instead`
      throw new Error(`${this.request.params.name}: ${problem}`)
    } catch (error) {
      return error instanceof HandedOff ? undefined : failed(host.toRpcError(error, undefined, this.request))
    }
  }

  // The functions of the context

  async ask(key: string, request: InputRequest): Promise<InputResponse> {
    const live = await this.#creation
    if (live === undefined) return this.#askByRequest(key, request)
    const responseIn = ({ responses }: TaskData) => (Object.hasOwn(responses, key) ? responses[key] : undefined)
    const { questions, responses } = live.data
    if (!Object.hasOwn(questions, key) && !Object.hasOwn(responses, key)) {
      await live.change((data) => openQuestion(data, key, request, this.#runner.settings.limits.questions))
    }
    return live.until(responseIn)
  }

  async step(key: string, run: () => Promise<unknown>): Promise<unknown> {
    const before = await this.#creation
    if (before !== undefined) await this.#runner.confirmLease(before)
    const { steps } = before?.data ?? this.received
    if (Object.hasOwn(steps, key)) return steps[key]
    // As long as the call is not a task, store the result in the request state too, because an input request may
    // follow.
    const isOfRequest = before === undefined && this.#base !== undefined
    const result = isOfRequest ? await this.#base.step(key, run) : await run()
    const live = await this.#creation
    await live?.change((data) => changed(data, { steps: { ...data.steps, [key]: result } }))
    return result
  }

  async progress(done: number, total?: number, message?: string): Promise<void> {
    const live = await this.#creation
    if (live === undefined) return this.#base?.progress(done, total, message)
    if (!(done > this.#lastProgress)) return
    this.#lastProgress = done
    const wait = this.#message === undefined ? 0 : PROGRESS_INTERVAL
    // Convert the message, because only strings are valid in a task.
    this.#message = `${message ?? (total === undefined ? done : `${done} of ${total}`)}`
    this.#progressTimer ??= setTimeout(() => void this.#writeProgress(live), wait)
  }

  async #writeProgress(live: LiveTask): Promise<void> {
    this.#progressTimer = undefined
    const statusMessage = this.#message
    try {
      if (!this.#hasFinished) await live.change((data) => changed(data, { statusMessage }))
    } catch (error) {
      if (!(error instanceof TaskEnded)) this.#runner.host.report(error, undefined, this.request)
    }
  }

  async #askByRequest(key: string, request: InputRequest): Promise<InputResponse> {
    this.#asking += 1
    // If there is no response yet, `ask` rejects. The client then repeats the request, and the handler runs again.
    const answers = await (this.#base as Context).ask({ [key]: request })
    this.#asking -= 1
    const response = answers[key] as InputResponse
    this.#responses[key] = response
    return response
  }
}

/** If an input request is pending, the creation of the task is tried again after this time, in ms. */
const RETRY_INTERVAL = 20

/** Returns the data with an open input request. A key that was used before keeps its request or response. */
export function openQuestion(data: TaskData, key: string, request: InputRequest, limit: number): TaskData {
  if (Object.hasOwn(data.questions, key) || Object.hasOwn(data.responses, key)) return data
  const questions = { ...data.questions, [key]: request }
  if (Object.keys(questions).length > limit) {
    throw taskError('limit', `The task has more than ${limit} open input requests (limits.questions)`)
  }
  return changed(data, { questions })
}

function createResult(live: LiveTask): object {
  return { resultType: 'task', ...toTask(live.loaded) }
}

/** Returns the final state of a task that failed with a JSON-RPC error. */
export function failed({ code, message, data }: RpcError): TaskEnd {
  return { status: 'failed', error: data === undefined ? { code, message } : { code, message, data } }
}

/** A call that has become a task. */
export interface StartedTask {
  /** The id of the task, for `tasks.handle(id)`. */
  readonly id: string
  /**
   * Ends the handler but not the task. Another process completes the task with `tasks.handle(id)`. The promise always
   * rejects; return it from the handler.
   */
  handOff(): Promise<never>
}

/**
 * Turns the running call into a task. The client receives the task, and the handler continues even if the connection
 * ends. Later input requests belong to the task. Has no effect and returns undefined if the call cannot become a task:
 *
 * - the tool has no option `task`, or the client does not support tasks
 * - the call was cancelled, or one of its input requests is open
 * - there are too many tasks, or the task is too large or cannot be stored
 *
 * ```ts
 * const size = await ctx.elicit('size', { message: 'Which size?', schema })
 * await continueAsTask(ctx)
 * return render(size)      // may take an hour
 * ```
 */
export async function continueAsTask(ctx: Context): Promise<StartedTask | undefined> {
  const run = runOf(ctx)
  const live = await run?.promote()
  return run && live && { id: live.id, handOff: () => handOff(run, live) }
}

function handOff(run: TaskRun, live: LiveTask): Promise<never> {
  const ending = run.handOff(live)
  // If a handler does not return the promise, the rejection must not end the process.
  ending.catch(() => {})
  return ending
}
