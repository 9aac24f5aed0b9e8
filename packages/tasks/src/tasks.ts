/** The extension `io.modelcontextprotocol/tasks`: its methods, its subscription, and the option `task` of tools. */

import {
  type CallToolRequestParams,
  type Context,
  check,
  type InputResponse,
  inputResponse,
  invalidParams,
  isObject,
  kindOf,
  LATEST_MODERN_REVISION,
  missingClientCapability,
  quoted,
  type Store,
  TASKS_EXTENSION,
  TaskRequestParams,
  UpdateTaskRequestParams,
} from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import {
  defineMethod,
  type ExtensionHost,
  type ExtensionMembers,
  type Middleware,
  type ServerExtension,
} from '@mcpx/server'
import { createHandle, type TaskHandle } from './handle.ts'
import { createTaskSubscription } from './listen.ts'
import { readOptions, type TaskSettings, type TasksOptions } from './options.ts'
import { changed, ended, hasEnded, hasExpired, isOf, type LoadedTask, type TaskData, toDetailedTask } from './record.ts'
import { TaskRecords, type TaskStores, TaskTooLarge } from './records.ts'
import { runOf, TaskRun } from './run.ts'
import { TaskRunner } from './runner.ts'

/** The extension that `tasks()` creates. */
export interface TasksExtension extends ServerExtension {
  /**
   * Returns access to a task by its id. The task may run in another process with the same store. A process without a
   * server must pass a store: `tasks({ store }).handle(id)`.
   */
  handle(id: string): TaskHandle
}

/** The values of the tool option `task`. */
const MODES = ['auto', 'required', 'never'] as const

/**
 * Creates the extension for tasks. Calls of tools with the option `task` can then continue after their connection has
 * ended. With `resumable`, they can also continue after their process has ended.
 *
 * ```ts
 * const server = createServer(info, { store, secrets, extensions: [tasks()] })
 *   .tool('ship', { input: Order, task: 'auto', resumable: true }, async (order, ctx) => {
 *     const charge = await ctx.step('charge', () => payments.charge(order))
 *     const answer = await ctx.elicit('approve', { message: 'Ship it?', schema: Approval })
 *     return answer.content?.yes ? ctx.step('ship', () => carrier.ship(order, charge)) : 'Not shipped.'
 *   })
 * ```
 */
export function tasks(options: TasksOptions = {}): TasksExtension {
  return new Tasks(options)
}

class Tasks implements TasksExtension {
  readonly id = TASKS_EXTENSION
  readonly eras = ['modern'] as const
  readonly resultTypes = { task: ['tools/call'] }
  readonly notifications = ['notifications/tasks']
  readonly toolOptions = { task: { check: checkMode }, resumable: { check: checkResumable } }
  readonly #settings: TaskSettings
  readonly #ownStores: TaskStores | undefined
  /** The stores that `handle` uses: from the options, otherwise from the first server. */
  #shared: TaskStores | undefined
  /** A store in memory, which all servers without a store share. */
  #memory: Store | undefined

  constructor(options: TasksOptions) {
    this.#settings = readOptions(options)
    this.#ownStores = options.store && readStore(options.store)
    this.#shared = this.#ownStores
  }

  install(host: ExtensionHost): ExtensionMembers {
    const { limits } = this.#settings
    const stores = this.#ownStores ?? readStore(host.store ?? this.#useMemory())
    this.#shared ??= stores
    const records = new TaskRecords(stores, limits.data, (problem) => void host.report(problem))
    const runner = new TaskRunner(host, records, this.#settings)
    const isInMemory = this.#ownStores === undefined && host.store === undefined
    try {
      runner.start()
    } catch {
      // Workers allow no timers while modules are loaded. The first call starts the timers.
    }
    return {
      methods: createMethods(host, runner),
      subscriptions: { taskIds: createTaskSubscription(host, records, limits.subscriptions) },
      middleware: createMiddleware(host, runner, isInMemory),
    }
  }

  handle(id: string): TaskHandle {
    if (typeof id !== 'string') throw new TypeError(`handle: expected the id of a task, got ${kindOf(id)}`)
    if (this.#shared === undefined) {
      throw new Error(
        'handle: expected a store; pass { store } to tasks(), or pass the extension to createServer first',
      )
    }
    const { data, questions } = this.#settings.limits
    // Ignore failures of the bus, because clients poll. If the store fails, the methods of a handle reject.
    return createHandle(id, new TaskRecords(this.#shared, data, () => {}), questions)
  }

  #useMemory(): Store {
    this.#memory ??= memoryStore()
    return this.#memory
  }
}

function readStore({ tasks: stored, bus }: Pick<Store, 'tasks' | 'bus'>): TaskStores {
  if (stored !== undefined) return { tasks: stored, bus }
  throw new TypeError('tasks: expected a store with the member `tasks`, got one without it; use a newer store')
}

function checkMode(value: unknown): string | undefined {
  if (MODES.includes(value as never)) return undefined
  return `expected "auto", "required" or "never", got ${typeof value === 'string' ? quoted(value) : kindOf(value)}`
}

function checkResumable(value: unknown, { task }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof value !== 'boolean') return `expected a boolean, got ${kindOf(value)}`
  if (!value || (task !== undefined && task !== 'never')) return undefined
  return 'only a task can be resumed; add task: "auto" or task: "required"'
}

/** Returns the warning about a resumable tool of a server without a store. */
function memoryWarning(tool: string): Error {
  const problem = `tasks: the tool ${quoted(tool)} is resumable, but its tasks are in the memory of this process and end with it`
  const local =
    '...openLocalState(name) of @mcpx/store-sqlite/node for the processes of one host, as those of a stdio server'
  return new Error(
    `${problem}. Pass a store to createServer: ${local}, or redisStore(client) of @mcpx/store-redis for several`,
  )
}

function createMiddleware(host: ExtensionHost, runner: TaskRunner, isInMemory: boolean): Middleware {
  let hasWarned = false
  return async (request, ctx, next) => {
    if (request.method.startsWith('tasks/')) {
      try {
        return await next()
      } catch (error) {
        throw runner.nameFailure(error, ctx)
      }
    }
    if (request.method !== 'tools/call') return next()
    const resumed = runOf(ctx)
    if (resumed !== undefined) return resumed.resume(next)
    const { name } = request.params as unknown as CallToolRequestParams
    const { task: mode = 'never', resumable = false } = host.toolOptions(name, ctx) ?? {}
    if (mode === 'never') return next()
    if (!ctx.client.supports(TASKS_EXTENSION)) {
      if (mode === 'auto') return next()
      const problem = `The tool ${quoted(name)} runs only as a task: the client must declare the extension ${TASKS_EXTENSION}`
      throw missingClientCapability({ extensions: { [TASKS_EXTENSION]: {} } }, problem)
    }
    if (resumable && isInMemory && !hasWarned) {
      hasWarned = true
      host.warn(memoryWarning(name))
    }
    runner.start()
    const { auth, client, requestInfo } = ctx
    const work = { request, auth, client, requestInfo }
    const run = new TaskRun(runner, work, { isResumable: resumable, base: ctx })
    return mode === 'required' ? run.respondAsTask(next) : run.respondInTime(next, runner.settings.inlineTime)
  }
}

function createMethods(host: ExtensionHost, runner: TaskRunner) {
  const { records } = runner

  /** Returns a task of the caller. Throws the same error for a task of another caller as for an unknown one. */
  async function read(id: string, { auth }: Context): Promise<LoadedTask> {
    const task = await records.get(id)
    if (task !== undefined && isOf(task, auth)) return task
    throw invalidParams('params.taskId: there is no such task, or it is no longer kept')
  }

  const requiresDeclaration = true
  return {
    'tasks/get': defineMethod({ params: TaskRequestParams, requiresDeclaration }, async ({ taskId }, ctx) => {
      let task = await read(taskId, ctx)
      // Some runtimes run no timers between requests, so look for tasks of other processes here.
      if (!hasEnded(task.data)) void runner.sweep()
      if (!hasEnded(task.data) && hasExpired(task)) task = await runner.expire(task)
      return toDetailedTask(task, (request) => host.canAnswer(request, ctx.client))
    }),
    'tasks/update': defineMethod({ params: UpdateTaskRequestParams, requiresDeclaration }, async (params, ctx) => {
      const { taskId, inputResponses } = params
      try {
        await records.change(taskId, ({ data }) => withResponses(data, inputResponses), await read(taskId, ctx))
      } catch (error) {
        if (error instanceof TaskTooLarge) throw invalidParams(`params.inputResponses: ${error.message}`)
        throw error
      }
      return {}
    }),
    'tasks/cancel': defineMethod({ params: TaskRequestParams, requiresDeclaration }, async ({ taskId }, ctx) => {
      const cancel = ({ data }: LoadedTask) => (hasEnded(data) ? undefined : ended(data, { status: 'cancelled' }))
      await records.change(taskId, cancel, await read(taskId, ctx))
      return {}
    }),
  }
}

/** Adds the responses to open input requests and ignores all others. Returns undefined if nothing changes. */
function withResponses(data: TaskData, responses: Readonly<Record<string, unknown>>): TaskData | undefined {
  const answered = Object.entries(responses).filter(([key]) => Object.hasOwn(data.questions, key))
  if (answered.length === 0) return undefined
  const questions = { ...data.questions }
  for (const [key, response] of answered) {
    const method = questions[key]?.method ?? ''
    const schema = inputResponse(LATEST_MODERN_REVISION, method)
    const place = `params.inputResponses[${JSON.stringify(key)}]`
    const problem = schema && isObject(response) ? check(schema, response, place).problem : `${place}: expected object`
    if (problem !== undefined) throw invalidParams(problem)
    delete questions[key]
  }
  return changed(data, {
    questions,
    responses: { ...data.responses, ...(Object.fromEntries(answered) as Record<string, InputResponse>) },
  })
}
