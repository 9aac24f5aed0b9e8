/**
 * Tasks of 2025-11-25, an experimental feature of this revision. Their states are converted to the states of the tasks
 * extension.
 */

import {
  ConnectionError,
  type DetailedTask,
  isObject,
  type JsonObject,
  RpcError,
  type Task,
  type Tool,
} from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'
import { DEFAULT_MAX_TIMEOUT, type EraConnection } from './era.ts'
import type { ExtensionCall } from './extensions.ts'
import type { ClientOptions, RequestCallOptions } from './options.ts'
import { isUnknown, type TaskFollower, type TaskPeer } from './task-follower.ts'

/** The maximum number of tools in `#support`. Above it, the oldest tool is removed. */
const MAX_TOOLS = 10_000

/** Calls the tools of legacy servers that run as tasks. */
export class LegacyTaskTools {
  readonly #options: ClientOptions
  readonly #list: () => Promise<unknown>
  /** Whether each tool allows or requires a task, by the name of the tool. */
  readonly #support = new BoundedMap<unknown>(MAX_TOOLS)
  readonly #listed = new WeakMap<EraConnection, Promise<unknown>>()

  /** @param list lists the tools of the server, which are passed to `learn` */
  constructor(options: ClientOptions, list: () => Promise<unknown>) {
    this.#options = options
    this.#list = list
  }

  /** Remembers listed tools. */
  learn(tools: readonly Tool[]): void {
    for (const { name, execution } of tools as readonly (Tool & { readonly execution?: JsonObject })[]) {
      this.#support.delete(name)
      const { taskSupport } = execution ?? {}
      if (taskSupport !== undefined) this.#support.set(name, taskSupport)
    }
  }

  /**
   * Sends a request. Adds the member `task` to the params of `tools/call` if the tool requires a task, or if the tool
   * allows one and the caller accepts the result type `task`. Converts a result with a task to this result type. If the
   * server supports tasks, lists its tools before the first tool call of a connection.
   */
  async send(
    connection: EraConnection,
    method: string,
    params: JsonObject,
    { resultTypes = [], maxTimeout }: RequestCallOptions,
    send: (params: JsonObject) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { tasks } = connection.server.capabilities as { tasks?: { requests?: { tools?: { call?: object } } } }
    const isAble =
      connection.era === 'legacy' && this.#options.tasks !== false && tasks?.requests?.tools?.call !== undefined
    if (!isAble || method !== 'tools/call' || params.task !== undefined) return send(params)
    const listed = this.#listed.get(connection) ?? this.#list().catch(() => {})
    this.#listed.set(connection, listed)
    const name = params.name as string
    if (this.#support.get(name) === undefined) await listed
    const support = this.#support.get(name)
    const wantsTask = resultTypes.includes('task')
    if (support !== 'required' && !(wantsTask && support === 'optional')) return send(params)
    const ttl = maxTimeout ?? this.#options.maxTimeout ?? DEFAULT_MAX_TIMEOUT
    const result = await send({ ...params, task: wantsTask || ttl === Number.POSITIVE_INFINITY ? {} : { ttl } })
    return isObject(result.task) ? { ...fromLegacyTask(result.task), resultType: 'task' } : result
  }
}

/** Converts the state of a legacy task. */
function fromLegacyTask({ ttl = null, pollInterval, ...task }: JsonObject): Task {
  return { ...task, ttlMs: ttl, ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }) } as Task
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** Adds the id of the task to the response to a request of the server. */
export function withRelatedTask({ _meta }: JsonObject, response: { readonly _meta?: object }): object {
  const task = isObject(_meta) ? _meta[RELATED_TASK] : undefined
  return task === undefined ? response : { ...response, _meta: { ...response._meta, [RELATED_TASK]: task } }
}

/** One task of a legacy server. */
export class LegacyTask implements TaskPeer {
  readonly id: string
  /** The `tasks/result` request that waits for the end of the task. The input requests of the server arrive on its stream. */
  #outcome: Promise<Outcome> | undefined

  constructor(id: string) {
    this.id = id
  }

  async get(call: ExtensionCall, timeout: number): Promise<DetailedTask> {
    const task = fromLegacyTask(await call.request('tasks/get', { taskId: this.id }, { timeout }))
    if (task.status !== 'completed' && task.status !== 'failed') return { ...task, inputRequests: {} } as DetailedTask
    const outcome = await (this.#outcome ?? this.#fetch(call, { timeout }))
    return { ...task, ...outcome }
  }

  async cancel(call: ExtensionCall): Promise<void> {
    try {
      await call.request('tasks/cancel', { taskId: this.id })
    } catch (error) {
      // The server also refuses to cancel a task that has ended.
      if (!isUnknown(error)) throw error
      await call.request('tasks/get', { taskId: this.id })
    }
  }

  handleInput(task: DetailedTask, follower: TaskFollower): void {
    if (task.status !== 'input_required' || this.#outcome !== undefined) return
    const { call } = follower
    const { onStatus: _, ...options } = call.options
    const limits = { timeout: Number.POSITIVE_INFINITY, maxTimeout: follower.timeLeft }
    const outcome = this.#fetch(call, { ...options, ...limits, signal: call.signal })
    this.#outcome = outcome
    follower.run(async () => {
      const release = follower.hold()
      try {
        follower.push({ ...task, ...(await outcome) })
      } catch (error) {
        // The next poll sends the request again over another connection.
        this.#outcome = undefined
        if (!(error instanceof ConnectionError) || error.reason === 'timeout') throw error
      } finally {
        release()
      }
    })
  }

  async #fetch(call: ExtensionCall, options: object): Promise<Outcome> {
    try {
      return { status: 'completed', result: await call.request('tasks/result', { taskId: this.id }, options) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const { code, message, data } = error
      return { status: 'failed', error: { code, message, data } }
    }
  }
}

type Outcome =
  | { readonly status: 'completed'; readonly result: JsonObject }
  | { readonly status: 'failed'; readonly error: { code: number; message: string; data?: unknown } }
