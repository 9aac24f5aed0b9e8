/** Which shape belongs to which method on the legacy wire; a map for each side, so that neither carries the other's. */

import { CompleteRequestParams, CompleteResult } from '../schema/completion.ts'
import type { Schema } from '../schema/define.ts'
import { ElicitResult } from '../schema/elicitation.ts'
import { LoggingMessageNotificationParams } from '../schema/logging.ts'
import {
  CancelledNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
} from '../schema/notifications.ts'
import { NotificationParams, PaginatedRequestParams, RequestParams, Result } from '../schema/primitives.ts'
import { GetPromptRequestParams, GetPromptResult, ListPromptsResult } from '../schema/prompts.ts'
import {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceRequestParams,
} from '../schema/resources.ts'
import { ListRootsResult } from '../schema/roots.ts'
import { CreateMessageResult } from '../schema/sampling.ts'
import { CallToolResult } from '../schema/tools.ts'
import {
  ElicitationCompleteNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  LegacyCallToolRequestParams,
  LegacyCreateMessageRequestParams,
  LegacyElicitRequestParams,
  SetLevelRequestParams,
} from './legacy-shapes.ts'
import {
  LegacyListToolsResult,
  ListTasksResult,
  TaskRequestParams,
  TaskResult,
  TaskStatusNotificationParams,
} from './legacy-tasks.ts'

type Schemas = Readonly<Record<string, Schema<unknown>>>

/** Parameters of what a client asks. */
export const clientParams: Schemas = {
  initialize: InitializeRequestParams,
  ping: RequestParams,
  'tools/list': PaginatedRequestParams,
  'tools/call': LegacyCallToolRequestParams,
  'resources/list': PaginatedRequestParams,
  'resources/templates/list': PaginatedRequestParams,
  'resources/read': ReadResourceRequestParams,
  'resources/subscribe': ResourceRequestParams,
  'resources/unsubscribe': ResourceRequestParams,
  'prompts/list': PaginatedRequestParams,
  'prompts/get': GetPromptRequestParams,
  'completion/complete': CompleteRequestParams,
  'logging/setLevel': SetLevelRequestParams,
  'tasks/get': TaskRequestParams,
  'tasks/result': TaskRequestParams,
  'tasks/list': PaginatedRequestParams,
  'tasks/cancel': TaskRequestParams,
}

/** Those of what a server is asked that offers tools alone. */
export const toolParams: Schemas = {
  initialize: InitializeRequestParams,
  'tools/list': PaginatedRequestParams,
  'tools/call': LegacyCallToolRequestParams,
  'logging/setLevel': SetLevelRequestParams,
}

/** Results of what a client asks. */
export const clientResults: Schemas = {
  initialize: InitializeResult,
  ping: Result,
  'tools/list': LegacyListToolsResult,
  'tools/call': CallToolResult,
  'resources/list': ListResourcesResult,
  'resources/templates/list': ListResourceTemplatesResult,
  'resources/read': ReadResourceResult,
  'resources/subscribe': Result,
  'resources/unsubscribe': Result,
  'prompts/list': ListPromptsResult,
  'prompts/get': GetPromptResult,
  'completion/complete': CompleteResult,
  'logging/setLevel': Result,
  'tasks/get': TaskResult,
  'tasks/result': Result,
  'tasks/list': ListTasksResult,
  'tasks/cancel': TaskResult,
}

/** Parameters of what a server asks. */
export const serverParams: Schemas = {
  ping: RequestParams,
  'sampling/createMessage': LegacyCreateMessageRequestParams,
  'elicitation/create': LegacyElicitRequestParams,
  'roots/list': RequestParams,
  'tasks/get': TaskRequestParams,
  'tasks/result': TaskRequestParams,
  'tasks/list': PaginatedRequestParams,
  'tasks/cancel': TaskRequestParams,
}

/** Results of what a server asks. */
export const serverResults: Schemas = {
  ping: Result,
  'sampling/createMessage': CreateMessageResult,
  'elicitation/create': ElicitResult,
  'roots/list': ListRootsResult,
  'tasks/get': TaskResult,
  'tasks/result': Result,
  'tasks/list': ListTasksResult,
  'tasks/cancel': TaskResult,
}

/** Parameters of what either side tells. */
export const notifications: Schemas = {
  'notifications/initialized': NotificationParams,
  'notifications/cancelled': CancelledNotificationParams,
  'notifications/progress': ProgressNotificationParams,
  'notifications/message': LoggingMessageNotificationParams,
  'notifications/tools/list_changed': NotificationParams,
  'notifications/prompts/list_changed': NotificationParams,
  'notifications/resources/list_changed': NotificationParams,
  'notifications/resources/updated': ResourceUpdatedNotificationParams,
  'notifications/roots/list_changed': NotificationParams,
  'notifications/elicitation/complete': ElicitationCompleteNotificationParams,
  'notifications/tasks/status': TaskStatusNotificationParams,
}
