/** The protocol as types, schemas and a JSON-RPC engine; it knows no carrier. */

export type { EraTable, MethodEntry, MethodKind, MethodTable } from './eras/era.ts'
export { isExtensionId, isMetaKey, isReservedMetaKey } from './eras/meta-keys.ts'
export {
  type ClientNotifications,
  type ClientRequests,
  capabilityFor,
  claimsModern,
  clientRequestParams,
  clientRequestResult,
  type Envelope,
  hasCapability,
  inputResponse,
  LOG_LEVEL_KEY,
  methodEntry,
  modernInputResponse,
  modernRequest,
  modernRequestParams,
  modernRequestResult,
  modernToolParams,
  notificationParams,
  PROTOCOL_VERSION_KEY,
  readEnvelope,
  requestEntry,
  SERVER_INFO_KEY,
  type ServerNotifications,
  type ServerRequests,
  SUBSCRIPTION_ID_KEY,
  serverInfoOf,
  serverRequestParams,
  serverRequestResult,
  stripFor,
  stripParamsFor,
  subscriptionIdOf,
  tableOf,
  toolRequestParams,
  withEnvelope,
  withServerInfo,
  withSubscriptionId,
} from './eras/select.ts'
export { checkMessage, isRequestId, kindOf } from './jsonrpc/check.ts'
export { CODEC_LIMITS, type CodecLimits, type Decoded, decode, encode, isTextKept, keepText } from './jsonrpc/codec.ts'
export { ConnectionError, type ConnectionErrorOptions, type ConnectionErrorReason } from './jsonrpc/connection-error.ts'
export {
  ErrorCode,
  headerMismatch,
  insufficientScope,
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
export { withDefaultLimits } from './limits.ts'
export { type AuthInfo, principalOf } from './ports/auth-info.ts'
export { type Awaitable, isPromise } from './ports/awaitable.ts'
export type { Catalogue, Catalogued, ToolTypes } from './ports/catalogue.ts'
export type { Channel } from './ports/channel.ts'
export type { Connection, ConnectOptions, Connector } from './ports/connector.ts'
export type {
  Answered,
  Ask,
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
export type { Guard, ScopeRefusal } from './ports/guard.ts'
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
export type {
  CompiledSchema,
  JsonSchema,
  JsonSchemaProblem,
  JsonSchemaValidator,
  JsonSchemaVerdict,
} from './ports/json-schema.ts'
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
export { type Answering, createAnswering } from './rpc/answering.ts'
export { createDuplex, type Duplex, type DuplexOptions } from './rpc/duplex.ts'
export { DUPLEX_LIMITS, type DuplexLimits } from './rpc/duplex-limits.ts'
export { pause } from './rpc/pause.ts'
export { cancelledError, createPendingRequests, type PendingRequests } from './rpc/pending-requests.ts'
export { relatedRequest, withProgressToken } from './rpc/progress.ts'
export { guarded } from './rpc/repairs.ts'
export { createRunningRequests, type ExchangeHost, type RunningRequests } from './rpc/running-requests.ts'
export { type Checked, check } from './schema/check.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CompleteRequestParams, CompleteResult, PromptReference, ResourceTemplateReference,
} from './schema/completion.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
} from './schema/content.ts'
export type { Infer, Schema } from './schema/define.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  ElicitRequest, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult, RequestedSchema,
} from './schema/elicitation.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  BooleanSchema, EnumSchema, LegacyTitledEnumSchema, NumberSchema, PrimitiveSchemaDefinition, StringSchema,
  TitledMultiSelectEnumSchema, TitledOption, TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './schema/elicitation-fields.ts'
export { formProblem, withFormDefaults } from './schema/form.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  InputRequest, InputRequests, InputRequiredResult, InputResponse, type InputResponseParams, InputResponses,
} from './schema/input-required.ts'
export { ClientCapabilities, DiscoverResult, Implementation, ServerCapabilities } from './schema/lifecycle.ts'
export { LOGGING_LEVELS, LoggingLevel, LoggingMessageNotificationParams } from './schema/logging.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CancelledNotificationParams, ProgressNotificationParams, ResourceUpdatedNotificationParams,
} from './schema/notifications.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  Annotations, CacheableResult, Cursor, Icon, MetaObject, NotificationParams,
  PaginatedRequestParams, ProgressToken, RequestMetaObject, RequestParams, Result, Role,
} from './schema/primitives.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
} from './schema/prompts.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  BlobResourceContents, ListResourcesResult, ListResourceTemplatesResult, ReadResourceRequestParams,
  ReadResourceResult, Resource, ResourceContents, ResourceRequestParams, ResourceTemplate, TextResourceContents,
} from './schema/resources.ts'
export { ListRootsRequest, ListRootsResult, Root } from './schema/roots.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ModelHint, ModelPreferences, SamplingMessage,
  SamplingMessageContentBlock, ToolChoice, ToolResultContent, ToolUseContent,
} from './schema/sampling.ts'
export { samplingProblem } from './schema/sampling-rules.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from './schema/subscriptions.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolInputSchema, ToolOutputSchema,
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
