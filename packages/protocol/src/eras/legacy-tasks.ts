/** Tasks as the last legacy revision has them: requests that are answered later. An experiment; no other revision has it. */

import { array, custom, literal, object, optional, type Shape, string } from '../schema/define.ts'
import { Integer, JsonObject, notificationParams, page, requestParams, result } from '../schema/primitives.ts'
import { tool } from '../schema/tools.ts'

/** Where a task stands. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
export const TaskStatus = /* @__PURE__ */ literal(['working', 'input_required', 'completed', 'failed', 'cancelled'])

const task = () => ({
  taskId: string,
  status: TaskStatus,
  statusMessage: optional(string),
  /** An ISO 8601 moment. */
  createdAt: string,
  /** An ISO 8601 moment. */
  lastUpdatedAt: string,
  /** For how many milliseconds it is kept after `createdAt`; null means without end. */
  ttl: custom<number | null>((value) => value === null || Number.isSafeInteger(value), 'integer or null'),
  /** How many milliseconds to wait between two looks. */
  pollInterval: optional(Integer),
})
/** A request that is answered later. */
export interface Task extends Shape<typeof task> {}
export const Task = /* @__PURE__ */ object<Task>(task)

const taskMetadata = () => ({
  /** For how many milliseconds to keep it. */
  ttl: optional(Integer),
})
/** Asks for a request to become a task. */
export interface TaskMetadata extends Shape<typeof taskMetadata> {}
export const TaskMetadata = /* @__PURE__ */ object<TaskMetadata>(taskMetadata)

/** What a request that may become a task can carry. */
export const taskAugmented = () => ({ task: optional(TaskMetadata) })

const createTaskResult = () => ({ ...result(), task: Task })
/** Answers a request that has become a task. */
export interface CreateTaskResult extends Shape<typeof createTaskResult> {}
export const CreateTaskResult = /* @__PURE__ */ object<CreateTaskResult>(createTaskResult)

const taskRequestParams = () => ({ ...requestParams(), taskId: string })
/** Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`. */
export interface TaskRequestParams extends Shape<typeof taskRequestParams> {}
export const TaskRequestParams = /* @__PURE__ */ object<TaskRequestParams>(taskRequestParams)

const taskResult = () => ({ ...result(), ...task() })
/** What `tasks/get` and `tasks/cancel` give. */
export interface TaskResult extends Shape<typeof taskResult> {}
export const TaskResult = /* @__PURE__ */ object<TaskResult>(taskResult)

const listTasksResult = () => ({ ...page(), tasks: array(Task) })
/** One page of `tasks/list`. */
export interface ListTasksResult extends Shape<typeof listTasksResult> {}
export const ListTasksResult = /* @__PURE__ */ object<ListTasksResult>(listTasksResult)

const taskStatusNotificationParams = () => ({ ...notificationParams(), ...task() })
/** Parameters of `notifications/tasks/status`. */
export interface TaskStatusNotificationParams extends Shape<typeof taskStatusNotificationParams> {}
export const TaskStatusNotificationParams =
  /* @__PURE__ */ object<TaskStatusNotificationParams>(taskStatusNotificationParams)

/** Ties a message to the task it belongs to; a `_meta` name. */
export const RELATED_TASK_KEY = 'io.modelcontextprotocol/related-task'

const toolExecution = () => ({
  /** Default: `forbidden`. */
  taskSupport: optional(literal(['forbidden', 'optional', 'required'])),
})
/** How a tool may be called. */
export interface ToolExecution extends Shape<typeof toolExecution> {}
export const ToolExecution = /* @__PURE__ */ object<ToolExecution>(toolExecution)

const legacyTool = () => ({ ...tool(), execution: optional(ToolExecution) })
/** A tool that says whether its calls may become tasks. */
export interface LegacyTool extends Shape<typeof legacyTool> {}
export const LegacyTool = /* @__PURE__ */ object<LegacyTool>(legacyTool)

const legacyListToolsResult = () => ({ ...page(), tools: array(LegacyTool) })
/** One page of `tools/list`. */
export interface LegacyListToolsResult extends Shape<typeof legacyListToolsResult> {}
export const LegacyListToolsResult = /* @__PURE__ */ object<LegacyListToolsResult>(legacyListToolsResult)

const create = () => ({ create: optional(JsonObject) })
const createMessage = () => ({ createMessage: optional(JsonObject) })
const call = () => ({ call: optional(JsonObject) })
const clientRequests = () => ({
  sampling: optional(object<Shape<typeof createMessage>>(createMessage)),
  elicitation: optional(object<Shape<typeof create>>(create)),
})
const serverRequests = () => ({ tools: optional(object<Shape<typeof call>>(call)) })
const administration = () => ({ list: optional(JsonObject), cancel: optional(JsonObject) })

const clientTasksCapability = () => ({
  ...administration(),
  requests: optional(object<Shape<typeof clientRequests>>(clientRequests)),
})
/** Which requests a client answers as tasks. */
export interface ClientTasksCapability extends Shape<typeof clientTasksCapability> {}
export const ClientTasksCapability = /* @__PURE__ */ object<ClientTasksCapability>(clientTasksCapability)

const serverTasksCapability = () => ({
  ...administration(),
  requests: optional(object<Shape<typeof serverRequests>>(serverRequests)),
})
/** Which requests a server answers as tasks. */
export interface ServerTasksCapability extends Shape<typeof serverTasksCapability> {}
export const ServerTasksCapability = /* @__PURE__ */ object<ServerTasksCapability>(serverTasksCapability)
