/**
 * The schemas of the methods, in one table for each direction: a server needs the parameters that clients send and the
 * results of its own requests, a client needs the opposite. A bundle contains only the tables that it uses.
 */

import * as z from 'zod/mini'
import { eraOf, type MethodEntry, methodEntry, type Revision, requestEntry } from './methods.ts'
import {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  InputResponses,
  ListRootsResult,
} from './schemas/client-features.ts'
import {
  ElicitationCompleteNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  LegacyCallToolRequestParams,
  LegacyCreateMessageRequestParams,
  LegacyElicitRequestParams,
  LegacyListToolsResult,
  ListTasksResult,
  SetLevelRequestParams,
  TaskRequestParams,
  TaskResult,
  TaskStatusNotificationParams,
} from './schemas/legacy.ts'
import {
  CallToolRequestParams,
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingMessageNotificationParams,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceRequestParams,
  ResourceUpdatedNotificationParams,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from './schemas/server-features.ts'
import {
  CancelledNotificationParams,
  DiscoverResult,
  NotificationParams,
  optionalText,
  PaginatedRequestParams,
  ProgressNotificationParams,
  RequestParams,
  Result,
} from './schemas/shared.ts'
import { extend, type Schema } from './validate.ts'

type Schemas = Readonly<Record<string, Schema>>

/** The schemas of methods by name: those of both eras, and those of one era, which take precedence. */
interface SchemaTable {
  readonly both: Schemas
  readonly modern: Schemas
  readonly legacy: Schemas
}

// After an `input_required` result, the request is sent again with the input responses.
const retry = { inputResponses: z.optional(InputResponses), requestState: optionalText }
const callToolParams: Schema<CallToolRequestParams> = extend(CallToolRequestParams, retry)
const readResourceParams: Schema<ReadResourceRequestParams> = extend(ReadResourceRequestParams, retry)
const getPromptParams: Schema<GetPromptRequestParams> = extend(GetPromptRequestParams, retry)

/** The parameters of the requests of clients. */
const clientParams = {
  both: {
    'tools/list': PaginatedRequestParams,
    'resources/list': PaginatedRequestParams,
    'resources/templates/list': PaginatedRequestParams,
    'prompts/list': PaginatedRequestParams,
    'completion/complete': CompleteRequestParams,
  },
  modern: {
    'server/discover': RequestParams,
    'tools/call': callToolParams,
    'resources/read': readResourceParams,
    'prompts/get': getPromptParams,
    'subscriptions/listen': SubscriptionsListenRequestParams,
  },
  legacy: {
    initialize: InitializeRequestParams,
    ping: RequestParams,
    'tools/call': LegacyCallToolRequestParams,
    'resources/read': ReadResourceRequestParams,
    'resources/subscribe': ResourceRequestParams,
    'resources/unsubscribe': ResourceRequestParams,
    'prompts/get': GetPromptRequestParams,
    'logging/setLevel': SetLevelRequestParams,
    'tasks/get': TaskRequestParams,
    'tasks/result': TaskRequestParams,
    'tasks/list': PaginatedRequestParams,
    'tasks/cancel': TaskRequestParams,
  },
} as const satisfies SchemaTable

/** The results of the requests of clients. */
const clientResults = {
  both: {
    'tools/call': CallToolResult,
    'resources/list': ListResourcesResult,
    'resources/templates/list': ListResourceTemplatesResult,
    'resources/read': ReadResourceResult,
    'prompts/list': ListPromptsResult,
    'prompts/get': GetPromptResult,
    'completion/complete': CompleteResult,
  },
  modern: {
    'server/discover': DiscoverResult,
    'tools/list': ListToolsResult,
    'subscriptions/listen': SubscriptionsListenResult,
  },
  legacy: {
    initialize: InitializeResult,
    ping: Result,
    'tools/list': LegacyListToolsResult,
    'resources/subscribe': Result,
    'resources/unsubscribe': Result,
    'logging/setLevel': Result,
    'tasks/get': TaskResult,
    'tasks/result': Result,
    'tasks/list': ListTasksResult,
    'tasks/cancel': TaskResult,
  },
} as const satisfies SchemaTable

/** The parameters of the requests of servers. In the modern era, they are input requests. */
const serverParams = {
  both: { 'roots/list': RequestParams },
  modern: {
    'sampling/createMessage': CreateMessageRequestParams,
    'elicitation/create': ElicitRequestParams,
  },
  legacy: {
    ping: RequestParams,
    'sampling/createMessage': LegacyCreateMessageRequestParams,
    'elicitation/create': LegacyElicitRequestParams,
    'tasks/get': TaskRequestParams,
    'tasks/result': TaskRequestParams,
    'tasks/list': PaginatedRequestParams,
    'tasks/cancel': TaskRequestParams,
  },
} as const satisfies SchemaTable

/** The results of the requests of servers. In the modern era, they are input responses. */
const serverResults = {
  both: {
    'sampling/createMessage': CreateMessageResult,
    'elicitation/create': ElicitResult,
    'roots/list': ListRootsResult,
  },
  modern: {},
  legacy: {
    ping: Result,
    'tasks/get': TaskResult,
    'tasks/result': Result,
    'tasks/list': ListTasksResult,
    'tasks/cancel': TaskResult,
  },
} as const satisfies SchemaTable

/** The parameters of the notifications of both sides. */
const notifications = {
  both: {
    'notifications/cancelled': CancelledNotificationParams,
    'notifications/progress': ProgressNotificationParams,
    'notifications/message': LoggingMessageNotificationParams,
    'notifications/tools/list_changed': NotificationParams,
    'notifications/prompts/list_changed': NotificationParams,
    'notifications/resources/list_changed': NotificationParams,
    'notifications/resources/updated': ResourceUpdatedNotificationParams,
  },
  modern: { 'notifications/subscriptions/acknowledged': SubscriptionsAcknowledgedNotificationParams },
  legacy: {
    'notifications/initialized': NotificationParams,
    'notifications/roots/list_changed': NotificationParams,
    'notifications/elicitation/complete': ElicitationCompleteNotificationParams,
    'notifications/tasks/status': TaskStatusNotificationParams,
  },
} as const satisfies SchemaTable

/** Returns the schema of a method, if the revision has the method and the sender may send it. Default: any sender. */
function findSchema(
  table: SchemaTable,
  revision: Revision,
  method: string,
  entry: MethodEntry | undefined,
  sender?: 'client' | 'server',
): Schema | undefined {
  const mayBeSent = entry !== undefined && (sender === undefined || entry.from === sender || entry.from === 'both')
  return mayBeSent ? (table[eraOf(revision)][method] ?? table.both[method]) : undefined
}

/** Returns the schema for the parameters of a client request. */
export function clientRequestParams(revision: Revision, method: string): Schema | undefined {
  return findSchema(clientParams, revision, method, requestEntry(revision, method), 'client')
}

/** Returns the schema for the complete result of a client request. */
export function clientRequestResult(revision: Revision, method: string): Schema | undefined {
  return findSchema(clientResults, revision, method, requestEntry(revision, method), 'client')
}

/** Returns the schema for the parameters of a server request. */
export function serverRequestParams(revision: Revision, method: string): Schema | undefined {
  return findSchema(serverParams, revision, method, requestEntry(revision, method), 'server')
}

/** Returns the schema for the result of a server request. */
export function serverRequestResult(revision: Revision, method: string): Schema | undefined {
  return findSchema(serverResults, revision, method, requestEntry(revision, method), 'server')
}

/** Returns the schema for the response to an input request. */
export function inputResponse(revision: Revision, method: string): Schema | undefined {
  return findSchema(serverResults, revision, method, methodEntry(revision, method, 'inputRequest'))
}

/** Returns the schema for the parameters of a notification. */
export function notificationParams(revision: Revision, method: string): Schema | undefined {
  return findSchema(notifications, revision, method, methodEntry(revision, method, 'notification'))
}

// Types from the tables

/** The schemas of a table, those of the modern era if the eras differ. */
type SchemasOf<Table extends SchemaTable> = Table['both'] &
  Table['modern'] &
  Omit<Table['legacy'], keyof Table['both'] | keyof Table['modern']>
type TypesOf<Table extends SchemaTable> = {
  [Method in keyof SchemasOf<Table>]: SchemasOf<Table>[Method] extends Schema
    ? z.infer<SchemasOf<Table>[Method]>
    : never
}
type Requests<Params, Results> = {
  [Method in keyof Params & keyof Results]: { params: Params[Method]; result: Results[Method] }
}
type NotificationTypes = TypesOf<typeof notifications>

/** Parameters and result of each request of a client, in any revision. */
export interface ClientRequests extends Requests<TypesOf<typeof clientParams>, TypesOf<typeof clientResults>> {}

/** Parameters and result of each request of a server, in any revision. */
export interface ServerRequests extends Requests<TypesOf<typeof serverParams>, TypesOf<typeof serverResults>> {}

/** Parameters of each notification of a client, in any revision. */
export interface ClientNotifications
  extends Pick<
    NotificationTypes,
    | 'notifications/cancelled'
    | 'notifications/initialized'
    | 'notifications/progress'
    | 'notifications/roots/list_changed'
    | 'notifications/tasks/status'
  > {}

/** Parameters of each notification of a server, in any revision. */
export interface ServerNotifications
  extends Omit<NotificationTypes, 'notifications/initialized' | 'notifications/roots/list_changed'> {}
