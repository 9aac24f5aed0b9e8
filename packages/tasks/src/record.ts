/** The stored state of a task, its changes, and its form in messages. */

import {
  type AuthInfo,
  type DetailedTask,
  type ErrorObject,
  type InputRequest,
  type InputResponse,
  type JsonObject,
  principalOf,
  type StoredTask,
  type Task,
  type TaskStatus,
} from '@mcpx/protocol'

/** The stored state of a task, as JSON. After the end of the task, only the members that clients read are kept. */
export interface TaskData {
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  /** The times of creation and of the last change, in ms since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly ttl: number
  readonly pollInterval: number
  /** The principal of the caller. Null for anonymous callers. */
  readonly principal: string | null
  /** The name of the tool. */
  readonly tool: string
  /** The request with its caller and its client, encrypted. Undefined if the task cannot be resumed. */
  readonly sealed?: string | undefined
  /** How often another process has continued the task. */
  readonly resumptions: number
  /** Whether the handler has ended and `tasks.handle(id)` completes the task. */
  readonly isHandedOff?: boolean | undefined
  /** The open input requests. */
  readonly questions: Readonly<Record<string, InputRequest>>
  /** The responses of the client. */
  readonly responses: Readonly<Record<string, InputResponse>>
  /** The results of finished steps. */
  readonly steps: Readonly<Record<string, unknown>>
  /** The result of the call. */
  readonly result?: JsonObject | undefined
  /** The error of the call. */
  readonly error?: ErrorObject | undefined
}

/** A task as it was last read from the store. */
export interface LoadedTask extends Omit<StoredTask, 'data'> {
  readonly data: TaskData
}

/**
 * Returns how long a task can still be read after its time to live, in ms: for the same time again, but at most a
 * minute.
 */
export function keptAfter(ttl: number): number {
  return Math.min(ttl, 60_000)
}

export function hasEnded({ status }: TaskData): boolean {
  return status !== 'working' && status !== 'input_required'
}

/** Returns whether the time to live of a task has passed. */
export function hasExpired({ ttl, data }: LoadedTask): boolean {
  return ttl <= keptAfter(data.ttl)
}

/** Returns whether a task belongs to a caller. */
export function isOf({ data }: LoadedTask, auth: AuthInfo | undefined): boolean {
  return data.principal === (principalOf(auth) ?? null)
}

/**
 * Returns changed data. Sets the status of a task that has not ended: `input_required` if it has open input requests,
 * otherwise `working`.
 */
export function changed(data: TaskData, changes: Partial<TaskData>): TaskData {
  const next = { ...data, ...changes, updatedAt: Date.now() }
  if (hasEnded(next)) return next
  return { ...next, status: Object.keys(next.questions).length > 0 ? 'input_required' : 'working' }
}

/** The final state of a task. */
export type TaskEnd =
  | { readonly status: 'completed'; readonly result: JsonObject }
  | { readonly status: 'failed'; readonly error: ErrorObject }
  | { readonly status: 'cancelled' }

/** The member of `_meta` that connected messages with a task in the legacy era. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** Returns the data of a task that has ended, without its questions and steps. */
export function ended(data: TaskData, end: TaskEnd): TaskData {
  const { createdAt, ttl, pollInterval, principal, tool, resumptions } = data
  const kept = { createdAt, ttl, pollInterval, principal, tool, resumptions, questions: {}, responses: {}, steps: {} }
  if (end.status === 'failed') return { ...kept, ...end, statusMessage: end.error.message, updatedAt: Date.now() }
  return { ...kept, ...end, updatedAt: Date.now() }
}

/** Returns the result of a call in the form that a task contains. */
export function toTaskResult(result: object): JsonObject {
  const { resultType, ...members } = result as JsonObject
  const { [RELATED_TASK]: _, ...meta } = (members._meta ?? {}) as JsonObject
  return members._meta === undefined ? members : { ...members, _meta: meta }
}

/** Returns the state of a task as clients see it. */
export function toTask({ id, data }: LoadedTask): Task {
  const { status, statusMessage, createdAt, updatedAt, ttl, pollInterval } = data
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
  }
}

/** Returns the state of a task with its questions, result or error. Leaves out questions that this client cannot answer. */
export function toDetailedTask(task: LoadedTask, canAnswer: (request: InputRequest) => boolean): DetailedTask {
  const { status, questions, result = {}, error } = task.data
  const common = toTask(task)
  if (status === 'completed') return { ...common, status, result }
  if (status === 'failed') return { ...common, status, error: error ?? { code: -32603, message: 'The task failed' } }
  if (status !== 'input_required') return { ...common, status }
  const inputRequests = Object.fromEntries(Object.entries(questions).filter(([, request]) => canAnswer(request)))
  if (Object.keys(inputRequests).length > 0) return { ...common, status, inputRequests }
  const statusMessage = 'Waiting for input that this client does not support'
  return { ...common, status: 'working', statusMessage }
}
