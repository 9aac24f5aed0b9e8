/** Which shape belongs to which method on the modern wire; a map for each side, so that neither carries the other's. */

import { CompleteRequestParams, CompleteResult } from '../schema/completion.ts'
import { object, type Schema, type Shape } from '../schema/define.ts'
import { ElicitResult } from '../schema/elicitation.ts'
import { inputResponseParams } from '../schema/input-required.ts'
import { DiscoverResult } from '../schema/lifecycle.ts'
import { LoggingMessageNotificationParams } from '../schema/logging.ts'
import {
  CancelledNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
} from '../schema/notifications.ts'
import { NotificationParams, PaginatedRequestParams, RequestParams } from '../schema/primitives.ts'
import { GetPromptResult, getPromptRequestParams, ListPromptsResult } from '../schema/prompts.ts'
import {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  resourceRequestParams,
} from '../schema/resources.ts'
import { ListRootsResult } from '../schema/roots.ts'
import { CreateMessageResult } from '../schema/sampling.ts'
import {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from '../schema/subscriptions.ts'
import { CallToolRequestParams, CallToolResult, callToolRequestParams, ListToolsResult } from '../schema/tools.ts'

type Schemas = Readonly<Record<string, Schema<unknown>>>

const toolCall = () => ({ ...callToolRequestParams(), ...inputResponseParams() })
const ToolCall = /* @__PURE__ */ object<Shape<typeof toolCall>>(toolCall)

const promptGet = () => ({ ...getPromptRequestParams(), ...inputResponseParams() })
const PromptGet = /* @__PURE__ */ object<Shape<typeof promptGet>>(promptGet)

const resourceRead = () => ({ ...resourceRequestParams(), ...inputResponseParams() })
const ResourceRead = /* @__PURE__ */ object<Shape<typeof resourceRead>>(resourceRead)

/** Parameters of what a client asks, without the envelope, which is read by hand. */
export const clientParams: Schemas = {
  'server/discover': RequestParams,
  'tools/list': PaginatedRequestParams,
  'tools/call': ToolCall,
  'resources/list': PaginatedRequestParams,
  'resources/templates/list': PaginatedRequestParams,
  'resources/read': ResourceRead,
  'prompts/list': PaginatedRequestParams,
  'prompts/get': PromptGet,
  'completion/complete': CompleteRequestParams,
  'subscriptions/listen': SubscriptionsListenRequestParams,
}

/** Those of what a server is asked that offers tools alone, and asks nothing itself. */
export const toolParams: Schemas = {
  'server/discover': RequestParams,
  'tools/list': PaginatedRequestParams,
  'tools/call': CallToolRequestParams,
  'subscriptions/listen': SubscriptionsListenRequestParams,
}

/** Complete results of what a client asks. */
export const clientResults: Schemas = {
  'server/discover': DiscoverResult,
  'tools/list': ListToolsResult,
  'tools/call': CallToolResult,
  'resources/list': ListResourcesResult,
  'resources/templates/list': ListResourceTemplatesResult,
  'resources/read': ReadResourceResult,
  'prompts/list': ListPromptsResult,
  'prompts/get': GetPromptResult,
  'completion/complete': CompleteResult,
  'subscriptions/listen': SubscriptionsListenResult,
}

/** Answers to what an unfinished result asks for. */
export const inputResponses: Schemas = {
  'sampling/createMessage': CreateMessageResult,
  'elicitation/create': ElicitResult,
  'roots/list': ListRootsResult,
}

/** Parameters of what either side tells. */
export const notifications: Schemas = {
  'notifications/cancelled': CancelledNotificationParams,
  'notifications/progress': ProgressNotificationParams,
  'notifications/message': LoggingMessageNotificationParams,
  'notifications/subscriptions/acknowledged': SubscriptionsAcknowledgedNotificationParams,
  'notifications/tools/list_changed': NotificationParams,
  'notifications/prompts/list_changed': NotificationParams,
  'notifications/resources/list_changed': NotificationParams,
  'notifications/resources/updated': ResourceUpdatedNotificationParams,
}
