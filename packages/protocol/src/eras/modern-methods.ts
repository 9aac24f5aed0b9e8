/** Typed requests and notifications of the modern wire, and all that the legacy wire shares with it. */

import type { CompleteRequestParams, CompleteResult } from '../schema/completion.ts'
import type { ElicitRequestParams, ElicitResult } from '../schema/elicitation.ts'
import type { DiscoverResult } from '../schema/lifecycle.ts'
import type { LoggingMessageNotificationParams } from '../schema/logging.ts'
import type {
  CancelledNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
} from '../schema/notifications.ts'
import type { NotificationParams, PaginatedRequestParams, RequestParams } from '../schema/primitives.ts'
import type { GetPromptRequestParams, GetPromptResult, ListPromptsResult } from '../schema/prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
} from '../schema/resources.ts'
import type { ListRootsResult } from '../schema/roots.ts'
import type { CreateMessageRequestParams, CreateMessageResult } from '../schema/sampling.ts'
import type {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from '../schema/subscriptions.ts'
import type { CallToolRequestParams, CallToolResult, ListToolsResult } from '../schema/tools.ts'

/** What a client may ask; an unfinished request is sent again until it has the result named here. */
export interface ClientRequests {
  'server/discover': { params: RequestParams; result: DiscoverResult }
  'tools/list': { params: PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: CallToolRequestParams; result: CallToolResult }
  'resources/list': { params: PaginatedRequestParams; result: ListResourcesResult }
  'resources/templates/list': { params: PaginatedRequestParams; result: ListResourceTemplatesResult }
  'resources/read': { params: ReadResourceRequestParams; result: ReadResourceResult }
  'prompts/list': { params: PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptRequestParams; result: GetPromptResult }
  'completion/complete': { params: CompleteRequestParams; result: CompleteResult }
  'subscriptions/listen': { params: SubscriptionsListenRequestParams; result: SubscriptionsListenResult }
}

/** What a server may ask: in an unfinished result, or as a request of its own. */
export interface ServerRequests {
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult }
  'elicitation/create': { params: ElicitRequestParams; result: ElicitResult }
  'roots/list': { params: RequestParams; result: ListRootsResult }
}

/** What a client may tell. */
export interface ClientNotifications {
  'notifications/cancelled': CancelledNotificationParams
}

/** What a server may tell. */
export interface ServerNotifications {
  'notifications/cancelled': CancelledNotificationParams
  'notifications/progress': ProgressNotificationParams
  'notifications/message': LoggingMessageNotificationParams
  'notifications/subscriptions/acknowledged': SubscriptionsAcknowledgedNotificationParams
  'notifications/tools/list_changed': NotificationParams
  'notifications/prompts/list_changed': NotificationParams
  'notifications/resources/list_changed': NotificationParams
  'notifications/resources/updated': ResourceUpdatedNotificationParams
}
