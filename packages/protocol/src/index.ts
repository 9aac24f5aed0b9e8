/** The protocol as types, schemas and a JSON-RPC engine; it knows no carrier. */

export { checkMessage, isRequestId, kindOf } from './jsonrpc/check.ts'
export { CODEC_LIMITS, type CodecLimits, type Decoded, decode, encode, keepText } from './jsonrpc/codec.ts'
export { ConnectionError, type ConnectionErrorOptions, type ConnectionErrorReason } from './jsonrpc/connection-error.ts'
export {
  ErrorCode,
  headerMismatch,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  missingClientCapability,
  parseError,
  quoted,
  RpcError,
  type RpcErrorOptions,
  resourceNotFound,
  toRpcError,
  unsupportedVersion,
  urlElicitationRequired,
  userRejected,
} from './jsonrpc/errors.ts'
export {
  type ErrorMessage,
  type ErrorObject,
  errorMessage,
  isNotification,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type ResultMessage,
  resultMessage,
} from './jsonrpc/message.ts'
export { Refusal, type RefusedKind } from './jsonrpc/refusal.ts'
export type { ValueLimits } from './jsonrpc/tame.ts'
export type { AuthInfo } from './ports/auth-info.ts'
export { type Awaitable, isPromise } from './ports/awaitable.ts'
export type { Catalogue, Catalogued, ToolTypes } from './ports/catalogue.ts'
export type { Channel } from './ports/channel.ts'
export type { Connection, ConnectOptions, Connector } from './ports/connector.ts'
export type {
  ClientFacts,
  Context,
  ElicitOptions,
  ElicitOutcome,
  FormSchema,
  Logger,
  OpenUrlOptions,
  SampleParams,
} from './ports/context.ts'
export type { Exchange, RequestInfo, Responder } from './ports/exchange.ts'
export type {
  Change,
  Handler,
  OtherHandler,
  PageRequest,
  PromptHandler,
  ResourceHandler,
  SubscriptionHandler,
  ToolHandler,
  WholeHandler,
} from './ports/handler.ts'
export type { Requester, RequestOptions } from './ports/requester.ts'
export type { Session, SessionState } from './ports/session.ts'
export type {
  AnySchema,
  JsonSchemaTarget,
  RawJsonSchema,
  SchemaInput,
  SchemaIssue,
  SchemaOutput,
  SchemaResult,
  StandardSchema,
} from './ports/standard-schema.ts'
export type { EventBus, EventReplay, EventStore, SessionStore, StoredEvent } from './ports/stores.ts'
export { createDuplex, DUPLEX_LIMITS, type Duplex, type DuplexLimits, type DuplexOptions } from './rpc/duplex.ts'
export {
  CompleteRequestParams,
  CompleteResult,
  PromptReference,
  ResourceTemplateReference,
} from './schema/completion.ts'
export {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './schema/content.ts'
export {
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  RequestedSchema,
} from './schema/elicitation.ts'
export {
  BooleanSchema,
  EnumSchema,
  LegacyTitledEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  StringSchema,
  TitledMultiSelectEnumSchema,
  TitledOption,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './schema/elicitation-fields.ts'
export {
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  type InputResponseParams,
  InputResponses,
} from './schema/input-required.ts'
export { ClientCapabilities, DiscoverResult, Implementation, ServerCapabilities } from './schema/lifecycle.ts'
export { LOGGING_LEVELS, LoggingLevel, LoggingMessageNotificationParams } from './schema/logging.ts'
export {
  CancelledNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
} from './schema/notifications.ts'
export {
  Annotations,
  CacheableResult,
  Cursor,
  Fraction,
  Icon,
  Integer,
  MetaObject,
  NotificationParams,
  PaginatedRequestParams,
  ProgressToken,
  RequestMetaObject,
  RequestParams,
  Result,
  Role,
} from './schema/primitives.ts'
export {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from './schema/prompts.ts'
export {
  BlobResourceContents,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceRequestParams,
  ResourceTemplate,
  TextResourceContents,
} from './schema/resources.ts'
export { ListRootsRequest, ListRootsResult, Root } from './schema/roots.ts'
export {
  CreateMessageRequest,
  CreateMessageRequestParams,
  CreateMessageResult,
  ModelHint,
  ModelPreferences,
  SamplingMessage,
  SamplingMessageContentBlock,
  ToolChoice,
  ToolResultContent,
  ToolUseContent,
} from './schema/sampling.ts'
export {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from './schema/subscriptions.ts'
export {
  CallToolRequestParams,
  CallToolResult,
  ListToolsResult,
  Tool,
  ToolAnnotations,
  ToolInputSchema,
  ToolOutputSchema,
} from './schema/tools.ts'
export {
  ASSUMED_REVISION,
  BATCH_REVISION,
  type Era,
  eraOf,
  isRevision,
  LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION,
  REVISIONS,
  type Revision,
  revisionsOf,
} from './versions.ts'
