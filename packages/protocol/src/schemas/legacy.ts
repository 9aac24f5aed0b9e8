/** The schemas of the legacy era only: the handshake, log levels, URL elicitations, and the tasks of 2025-11-25. */

import * as z from 'zod/mini'
import { expected, extend, list, merge } from '../validate.ts'
import { CreateMessageRequestParams, ElicitRequestFormParams, ElicitRequestURLParams } from './client-features.ts'
import { CallToolRequestParams, LoggingLevel, Tool } from './server-features.ts'
import {
  AnyObject,
  ClientCapabilities,
  Implementation,
  Integer,
  NotificationParams,
  optionalText,
  PaginatedResult,
  RequestParams,
  Result,
  ServerCapabilities,
  text,
} from './shared.ts'
import { TaskStatus } from './tasks.ts'

// Tasks: an experimental feature of one revision, which clients support. Servers remove `task` from requests.

const integerOrNull: z.ZodMiniType<number> = z.int(expected('integer or null'))

export const Task = z.object({
  taskId: text,
  status: TaskStatus,
  statusMessage: optionalText,
  /** The time of the creation, as an ISO 8601 timestamp. */
  createdAt: text,
  /** The time of the last change, as an ISO 8601 timestamp. */
  lastUpdatedAt: text,
  /** How long the task is kept after `createdAt`, in ms. Null means without limit. */
  ttl: z.nullable(integerOrNull),
  /** The time between two polls, in ms. */
  pollInterval: z.optional(Integer),
})
/** A request whose result is fetched later. */
export interface Task extends z.infer<typeof Task> {}

export const TaskMetadata = z.object({
  /** How long to keep the task, in ms. */
  ttl: z.optional(Integer),
})
/** Metadata of a request that should become a task. */
export interface TaskMetadata extends z.infer<typeof TaskMetadata> {}
const task = z.optional(TaskMetadata)

export const TaskAugmentedRequestParams = extend(RequestParams, { task })
export const CreateTaskResult = extend(Result, { task: Task })
export const TaskRequestParams = extend(RequestParams, { taskId: text })
export const TaskResult = merge(Result, Task)
export const ListTasksResult = extend(PaginatedResult, { tasks: list<Task>(Task) })
export const TaskStatusNotificationParams = merge(NotificationParams, Task)

export const ToolExecution = z.object({
  /** Whether calls of the tool may become tasks. Default: `forbidden`. */
  taskSupport: z.optional(z.enum(['forbidden', 'optional', 'required'])),
})
export const LegacyTool = extend(Tool, { execution: z.optional(ToolExecution) })
/** A tool that declares whether its calls may become tasks. */
export interface LegacyTool extends z.infer<typeof LegacyTool> {}
export const LegacyListToolsResult = extend(PaginatedResult, { tools: list<LegacyTool>(LegacyTool) })

const optionalObject = z.optional(AnyObject)
export const ClientTasksCapability = z.object({
  list: optionalObject,
  cancel: optionalObject,
  requests: z.optional(
    z.object({
      sampling: z.optional(z.object({ createMessage: optionalObject })),
      elicitation: z.optional(z.object({ create: optionalObject })),
    }),
  ),
})
export const ServerTasksCapability = z.object({
  list: optionalObject,
  cancel: optionalObject,
  requests: z.optional(z.object({ tools: z.optional(z.object({ call: optionalObject })) })),
})

// The handshake

export const LegacyClientCapabilities = extend(ClientCapabilities, {
  tasks: z.optional(ClientTasksCapability),
})
export const LegacyServerCapabilities = extend(ServerCapabilities, {
  tasks: z.optional(ServerTasksCapability),
})

export const InitializeRequestParams = extend(RequestParams, {
  /** The revision that the client prefers. */
  protocolVersion: text,
  capabilities: LegacyClientCapabilities,
  clientInfo: Implementation,
})
/** Parameters of `initialize`. */
export interface InitializeRequestParams extends z.infer<typeof InitializeRequestParams> {}

export const InitializeResult = extend(Result, {
  /** The revision of the session; a client that does not support it must disconnect. */
  protocolVersion: text,
  capabilities: LegacyServerCapabilities,
  serverInfo: Implementation,
  /** Instructions for the model on how to use the server. */
  instructions: optionalText,
})
/** The result of `initialize`. */
export interface InitializeResult extends z.infer<typeof InitializeResult> {}

// Requests and notifications

export const SetLevelRequestParams = extend(RequestParams, { level: LoggingLevel })
/** Parameters of `logging/setLevel`. */
export interface SetLevelRequestParams extends z.infer<typeof SetLevelRequestParams> {}

export const LegacyCallToolRequestParams = extend(CallToolRequestParams, { task })
export const LegacyCreateMessageRequestParams = extend(CreateMessageRequestParams, {
  task,
  tools: z.optional(list<LegacyTool>(LegacyTool)),
})

export const LegacyElicitRequestURLParams = extend(ElicitRequestURLParams, {
  task,
  /** The id of the elicitation, which the notification of its completion repeats. */
  elicitationId: text,
})
/** Asks the user to visit a URL. */
export interface LegacyElicitRequestURLParams extends z.infer<typeof LegacyElicitRequestURLParams> {}
export const LegacyElicitRequestFormParams = extend(ElicitRequestFormParams, { task })
export const LegacyElicitRequestParams = z.union([LegacyElicitRequestFormParams, LegacyElicitRequestURLParams])

export const ElicitationCompleteNotificationParams = extend(NotificationParams, { elicitationId: text })
/** Parameters of `notifications/elicitation/complete`. */
export interface ElicitationCompleteNotificationParams extends z.infer<typeof ElicitationCompleteNotificationParams> {}

export const URLElicitationRequired = z.object({
  elicitations: list<LegacyElicitRequestURLParams>(LegacyElicitRequestURLParams),
})
