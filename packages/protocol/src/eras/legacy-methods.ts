/** Typed requests and notifications that only the legacy wire has. */

import type { ProgressNotificationParams } from '../schema/notifications.ts'
import type { NotificationParams, PaginatedRequestParams, RequestParams, Result } from '../schema/primitives.ts'
import type { ResourceRequestParams } from '../schema/resources.ts'
import type {
  ElicitationCompleteNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  SetLevelRequestParams,
} from './legacy-shapes.ts'
import type { ListTasksResult, TaskRequestParams, TaskResult, TaskStatusNotificationParams } from './legacy-tasks.ts'

interface TaskRequests {
  'tasks/get': { params: TaskRequestParams; result: TaskResult }
  'tasks/result': { params: TaskRequestParams; result: Result }
  'tasks/list': { params: PaginatedRequestParams; result: ListTasksResult }
  'tasks/cancel': { params: TaskRequestParams; result: TaskResult }
}

export interface ClientRequests extends TaskRequests {
  initialize: { params: InitializeRequestParams; result: InitializeResult }
  ping: { params: RequestParams; result: Result }
  'resources/subscribe': { params: ResourceRequestParams; result: Result }
  'resources/unsubscribe': { params: ResourceRequestParams; result: Result }
  'logging/setLevel': { params: SetLevelRequestParams; result: Result }
}

export interface ServerRequests extends TaskRequests {
  ping: { params: RequestParams; result: Result }
}

export interface ClientNotifications {
  'notifications/initialized': NotificationParams
  'notifications/progress': ProgressNotificationParams
  'notifications/roots/list_changed': NotificationParams
  'notifications/tasks/status': TaskStatusNotificationParams
}

export interface ServerNotifications {
  'notifications/elicitation/complete': ElicitationCompleteNotificationParams
  'notifications/tasks/status': TaskStatusNotificationParams
}
