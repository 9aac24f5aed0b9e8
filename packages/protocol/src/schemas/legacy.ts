/** The schemas of the legacy era only: the handshake, log levels, URL elicitations, and the tasks of 2025-11-25. */

import * as z from 'zod/mini'
import { expected, list } from '../validate.ts'
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
const augmented = { task: z.optional(TaskMetadata) }

export const TaskAugmentedRequestParams = z.object({ ...RequestParams.shape, ...augmented })
export const CreateTaskResult = z.object({ ...Result.shape, task: Task })
export const TaskRequestParams = z.object({ ...RequestParams.shape, taskId: text })
export const TaskResult = z.object({ ...Result.shape, ...Task.shape })
export const ListTasksResult = z.object({ ...PaginatedResult.shape, tasks: list<Task>(Task) })
export const TaskStatusNotificationParams = z.object({ ...NotificationParams.shape, ...Task.shape })

export const ToolExecution = z.object({
  /** Whether calls of the tool may become tasks. Default: `forbidden`. */
  taskSupport: z.optional(z.enum(['forbidden', 'optional', 'required'])),
})
export const LegacyTool = z.object({ ...Tool.shape, execution: z.optional(ToolExecution) })
/** A tool that declares whether its calls may become tasks. */
export interface LegacyTool extends z.infer<typeof LegacyTool> {}
export const LegacyListToolsResult = z.object({ ...PaginatedResult.shape, tools: list<LegacyTool>(LegacyTool) })

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

export const LegacyClientCapabilities = z.object({
  ...ClientCapabilities.shape,
  tasks: z.optional(ClientTasksCapability),
})
export const LegacyServerCapabilities = z.object({
  ...ServerCapabilities.shape,
  tasks: z.optional(ServerTasksCapability),
})

export const InitializeRequestParams = z.object({
  ...RequestParams.shape,
  /** The revision that the client prefers. */
  protocolVersion: text,
  capabilities: LegacyClientCapabilities,
  clientInfo: Implementation,
})
/** Parameters of `initialize`. */
export interface InitializeRequestParams extends z.infer<typeof InitializeRequestParams> {}

export const InitializeResult = z.object({
  ...Result.shape,
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

export const SetLevelRequestParams = z.object({ ...RequestParams.shape, level: LoggingLevel })
/** Parameters of `logging/setLevel`. */
export interface SetLevelRequestParams extends z.infer<typeof SetLevelRequestParams> {}

export const LegacyCallToolRequestParams = z.object({ ...CallToolRequestParams.shape, ...augmented })
export const LegacyCreateMessageRequestParams = z.object({
  ...CreateMessageRequestParams.shape,
  ...augmented,
  tools: z.optional(list<LegacyTool>(LegacyTool)),
})

export const LegacyElicitRequestURLParams = z.object({
  ...ElicitRequestURLParams.shape,
  ...augmented,
  /** The id of the elicitation, which the notification of its completion repeats. */
  elicitationId: text,
})
/** Asks the user to visit a URL. */
export interface LegacyElicitRequestURLParams extends z.infer<typeof LegacyElicitRequestURLParams> {}
export const LegacyElicitRequestFormParams = z.object({ ...ElicitRequestFormParams.shape, ...augmented })
export const LegacyElicitRequestParams = z.union([LegacyElicitRequestFormParams, LegacyElicitRequestURLParams])

export const ElicitationCompleteNotificationParams = z.object({ ...NotificationParams.shape, elicitationId: text })
/** Parameters of `notifications/elicitation/complete`. */
export interface ElicitationCompleteNotificationParams extends z.infer<typeof ElicitationCompleteNotificationParams> {}

export const URLElicitationRequired = z.object({
  elicitations: list<LegacyElicitRequestURLParams>(LegacyElicitRequestURLParams),
})
