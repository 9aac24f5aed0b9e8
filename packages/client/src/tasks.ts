/** Tasks: calls whose results are fetched later. A client supports them unless the option `tasks` is false. */

import {
  type CallToolResult,
  CreateTaskResult,
  DetailedTask,
  type Era,
  guarded,
  type JsonObject,
  TASKS_EXTENSION,
  type Task,
  TaskRequestParams,
  TaskSubscription,
  UpdateTaskRequestParams,
} from '@mcpx/protocol'
import { checkResult } from './era.ts'
import type { ClientExtension, ExtensionCall } from './extensions.ts'
import { LegacyTask } from './legacy-tasks.ts'
import { ModernTask } from './modern-tasks.ts'
import type { CallOptions } from './options.ts'
import {
  createStatusListener,
  DEFAULT_TIMEOUT,
  explainUnknown,
  followCall,
  hasOutcome,
  TaskFollower,
  type TaskPeer,
} from './task-follower.ts'

/** The options of `client.task`. */
export interface TaskOptions<Tool extends string = string> {
  /**
   * The tool that was called. With this option, the result has the type of the tool, and is validated against the output
   * schema of the tool. Without it, the result is not validated against an output schema.
   */
  readonly tool?: Tool | undefined
}

/** The extension `io.modelcontextprotocol/tasks`, which uses the same interface as other extensions. */
export const TASKS: ClientExtension = {
  id: TASKS_EXTENSION,
  eras: ['modern'],
  methods: {
    'tasks/get': { params: TaskRequestParams, result: DetailedTask },
    'tasks/update': { params: UpdateTaskRequestParams },
    'tasks/cancel': { params: TaskRequestParams },
  },
  notifications: { 'notifications/tasks': DetailedTask },
  subscriptions: { taskIds: TaskSubscription },
  resultTypes: {
    task: {
      'tools/call': async (result, call) => {
        const task = readTask(result, call.label)
        return followCall(createPeer(call.era, task.taskId), task, call)
      },
    },
  },
}

/** Returns the task in a result. Throws if the task is invalid. */
export function readTask(result: JsonObject, label: string): Task {
  return checkResult(CreateTaskResult, label, result) as unknown as Task
}

function createPeer(era: Era, id: string): TaskPeer {
  return era === 'modern' ? new ModernTask(id) : new LegacyTask(id)
}

/**
 * A task that runs on a server. It continues when the client is closed. `client.task(id)` returns a new handle of it.
 */
export interface TaskHandle<Result = CallToolResult> {
  /** The id of the task, for `client.task(id)`. Empty if the server responded with a result instead of a task. */
  readonly id: string
  /** Requests the state of the task from the server. If the task has ended, returns its last state without a request. */
  status(): Promise<Task>
  /**
   * Polls until the task has ended, answers its input requests with the callbacks of the client, and resolves to the
   * result. If `signal` is aborted, the task continues. Default of `maxTimeout`: none.
   *
   * @throws TaskError when the task was cancelled, has expired or is unknown
   * @throws RpcError when the task failed
   */
  result(options?: CallOptions): Promise<Result>
  /** Asks the server to cancel the task. It may still end in another way. */
  cancel(): Promise<void>
  /**
   * Calls a function with each new state that `status()` or `result()` receives. Returns a function that removes the
   * listener.
   */
  onStatus(listener: (task: Task) => void): () => void
}

export interface HandleOptions<Result> {
  /** Creates an `ExtensionCall` with the signal and the timeouts of `options`, and passes it to `run`. */
  readonly use: <T>(options: CallOptions, run: (call: ExtensionCall) => Promise<T>) => Promise<T>
  /** Checks the result of the task, and returns it. */
  readonly complete: (result: JsonObject) => Result
  readonly onWarning: (warning: Error) => void
  readonly onStatus?: ((task: Task) => void) | undefined
}

/** Creates the handle of a call to which the server responded with a result instead of a task. */
export function createDoneHandle<Result>(result: JsonObject, options: HandleOptions<Result>): TaskHandle<Result> {
  const now = new Date().toISOString()
  const times = { createdAt: now, lastUpdatedAt: now, ttlMs: null }
  const task: DetailedTask = { taskId: '', status: 'completed', ...times, result }
  return createHandle('', options, task)
}

/** Creates the handle of a task. `last` is its last known state. */
export function createHandle<Result>(
  id: string,
  { use, complete, onWarning, onStatus }: HandleOptions<Result>,
  last?: Task,
): TaskHandle<Result> {
  const listeners = new Set([guarded(onStatus, onWarning)])
  let created: TaskPeer | undefined
  const report = createStatusListener((task) => {
    for (const listener of listeners) listener(task)
  })

  function peerFor(call: ExtensionCall): TaskPeer {
    created ??= createPeer(call.era, id)
    return created
  }

  if (last !== undefined) report(last)

  /** Stores a state, unless the stored state is final. */
  function note(task: Task): Task {
    if (last === undefined || !hasOutcome(last)) last = task
    report(last)
    return last
  }

  return {
    id,
    async status() {
      if (last !== undefined && hasOutcome(last)) return last
      const get = (call: ExtensionCall) => peerFor(call).get(call, call.client.timeout ?? DEFAULT_TIMEOUT)
      return note(await use({}, (call) => get(call).catch(explainUnknown(call.label, id))))
    },
    async result({ maxTimeout = Number.POSITIVE_INFINITY, ...options } = {}) {
      const follow = { cancels: false, maxTimeout, onStatus: note }
      return complete(await use(options, (call) => new TaskFollower(peerFor(call), call, follow).follow(last)))
    },
    async cancel() {
      if (last !== undefined && hasOutcome(last)) return
      await use({}, (call) => peerFor(call).cancel(call).catch(explainUnknown(call.label, id)))
    },
    onStatus(listener) {
      const added = guarded(listener, onWarning)
      listeners.add(added)
      return () => void listeners.delete(added)
    },
  }
}
