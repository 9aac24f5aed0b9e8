/**
 * The schemas of the extension `io.modelcontextprotocol/tasks` of the modern era: calls whose results are fetched
 * later. The tasks of 2025-11-25 are in `legacy.ts`.
 */

import * as z from 'zod/mini'
import { expected, extend, list, merge } from '../validate.ts'
import { InputRequests } from './client-features.ts'
import { AnyObject, Integer, Name, optionalText, RequestParams, Result, text } from './shared.ts'

/** The id of the extension for tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

export const TaskStatus = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled'])
/** The status of a task. The last three are final. */
export type TaskStatus = z.infer<typeof TaskStatus>

const positive = expected('a positive integer or null')
// The type is written out, because older versions of zod do not export the type of `z.int()`.
const Ttl: z.ZodMiniType<number> = z.int(positive).check(z.gte(1, positive))

const TaskMembers = z.object({
  /** The id of the task, at most 1,024 characters. */
  taskId: Name,
  statusMessage: optionalText,
  /** The time of the creation, as an ISO 8601 timestamp. */
  createdAt: text,
  /** The time of the last change, as an ISO 8601 timestamp. */
  lastUpdatedAt: text,
  /** How long the task is kept after `createdAt`, in ms. Null means without limit. */
  ttlMs: z.nullable(Ttl),
  /** The time between two polls, in ms. */
  pollIntervalMs: z.optional(Integer),
})

export const Task = extend(TaskMembers, { status: TaskStatus })
/** The state of a task. */
export interface Task extends z.infer<typeof Task> {}

export const CreateTaskResult = merge(Result, Task)
/** The result of a call that became a task. Its `resultType` is `task`. */
export interface CreateTaskResult extends z.infer<typeof CreateTaskResult> {}

const TaskFailure = z.object({ code: Integer, message: text, data: z.optional(z.unknown()) })

const TaskResult = merge(Result, TaskMembers)
/**
 * The members of each status. `inputRequests` contains all input requests without a response. `result` is the result of
 * the call.
 */
const details = [
  extend(TaskResult, { status: z.literal('working') }),
  extend(TaskResult, { status: z.literal('input_required'), inputRequests: InputRequests }),
  extend(TaskResult, { status: z.literal('completed'), result: AnyObject }),
  extend(TaskResult, { status: z.literal('failed'), error: TaskFailure }),
  extend(TaskResult, { status: z.literal('cancelled') }),
] as const

export const DetailedTask = z.discriminatedUnion('status', details, { unionFallback: true })
/**
 * The state of a task with its input requests, its result or its JSON-RPC error: the result of `tasks/get`, and the
 * parameters of `notifications/tasks`.
 */
export type DetailedTask = z.infer<typeof DetailedTask>

export const TaskRequestParams = extend(RequestParams, { taskId: Name })
/** Parameters of `tasks/get` and `tasks/cancel`. */
export interface TaskRequestParams extends z.infer<typeof TaskRequestParams> {}

export const TaskSubscription: z.ZodMiniType<string[]> = list(Name)
/** The member `taskIds` of the filter of `subscriptions/listen`. */
export type TaskSubscription = string[]

export const UpdateTaskRequestParams = extend(TaskRequestParams, {
  /** Responses by the keys of the input requests. Unknown keys are ignored, so their values are not checked. */
  inputResponses: AnyObject,
})
/** Parameters of `tasks/update`. */
export interface UpdateTaskRequestParams extends z.infer<typeof UpdateTaskRequestParams> {}
