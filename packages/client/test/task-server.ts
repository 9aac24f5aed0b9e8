/** A modern server whose tool calls become tasks. The test sets their states. */

import { type InputRequest, invalidParams, type JsonObject, type RequestId } from '@mcpx/protocol'
import { type Answers, type Asked, META, scriptedServer } from './scripted-server.ts'

export const TASKS_ID = `${META}tasks`
const SUBSCRIPTION_ID = `${META}subscriptionId`

/** One task of the server. */
export class ServerTask {
  readonly id: string
  /** The members that `tasks/get` returns. */
  state: JsonObject
  /** The responses that arrived, in order. */
  readonly responses: [string, unknown][] = []
  /** Called with each state that `set` has set. */
  onChange: (() => void) | undefined

  constructor(id: string, state: JsonObject) {
    this.id = id
    const now = new Date().toISOString()
    this.state = { taskId: id, status: 'working', createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, ...state }
  }

  set(members: JsonObject): void {
    const { inputRequests, ...state } = this.state
    this.state = { ...state, lastUpdatedAt: new Date().toISOString(), ...members }
    this.onChange?.()
  }

  ask(inputRequests: Record<string, InputRequest>): void {
    this.set({ status: 'input_required', inputRequests })
  }

  complete(text = 'done', more: JsonObject = {}): void {
    this.set({ status: 'completed', result: { content: [{ type: 'text', text }], ...more } })
  }

  /** Removes answered input requests. Continues when all are answered. */
  answer(responses: JsonObject): void {
    this.responses.push(...Object.entries(responses))
    const left = Object.entries((this.state.inputRequests ?? {}) as JsonObject).filter(([key]) => !(key in responses))
    if (left.length > 0) this.set({ status: 'input_required', inputRequests: Object.fromEntries(left) })
    else if (this.state.status === 'input_required') this.set({ status: 'working' })
  }
}

export interface TaskServerOptions {
  /** Further members of created tasks. */
  readonly state?: JsonObject
  /** Whether the server sends `notifications/tasks`. */
  readonly announces?: boolean
  /** Responses that replace the responses of the server. */
  readonly answers?: Answers
  /** Called with each created task. */
  readonly run?: (task: ServerTask) => void
}

export function taskServer({ state = {}, announces = false, answers = {}, run }: TaskServerOptions = {}) {
  const tasks = new Map<string, ServerTask>()
  const streams = new Map<RequestId, string[]>()

  function find({ params }: Asked): ServerTask {
    const task = tasks.get(params.taskId as string)
    if (task === undefined) throw invalidParams('No such task')
    return task
  }

  function listen({ params, exchange, message }: Asked): Promise<object> {
    const { taskIds = [] } = params.notifications as { taskIds?: string[] }
    const _meta = { [SUBSCRIPTION_ID]: message.id }
    const notifications = announces ? { taskIds } : {}
    void exchange.notify('notifications/subscriptions/acknowledged', { notifications, _meta })
    streams.set(message.id, taskIds)
    for (const id of announces ? taskIds : []) {
      const task = tasks.get(id)
      if (task !== undefined) {
        task.onChange = () => void exchange.notify('notifications/tasks', { ...task.state, _meta })
      }
    }
    return new Promise((_, reject) => {
      exchange.signal.addEventListener('abort', () => {
        streams.delete(message.id)
        reject(exchange.signal.reason)
      })
    })
  }

  const server = scriptedServer('2026-07-28', {
    capabilities: { tools: {}, extensions: { [TASKS_ID]: {} } },
    answers: {
      'tools/call': () => {
        const task = new ServerTask(`task-${tasks.size + 1}`, state)
        tasks.set(task.id, task)
        const { inputRequests, result, error, ...created } = task.state
        run?.(task)
        return { resultType: 'task', ...created }
      },
      'tasks/get': (asked) => find(asked).state,
      'tasks/update': (asked) => {
        find(asked).answer(asked.params.inputResponses as JsonObject)
        return {}
      },
      'tasks/cancel': (asked) => {
        const task = find(asked)
        if (task.state.status === 'working' || task.state.status === 'input_required') task.set({ status: 'cancelled' })
        return {}
      },
      'subscriptions/listen': listen,
      ...answers,
    },
  })

  return {
    server,
    tasks,
    streams,
    /** The newest task. */
    get task(): ServerTask {
      return [...tasks.values()].at(-1) as ServerTask
    },
    /** The methods of the requests about tasks, in order. */
    get methods(): string[] {
      return server.heard.map(({ method }) => method).filter((method) => /tasks\/|cancelled/.test(method))
    },
  }
}

export const form = (message = 'Sure?'): InputRequest => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
})
