/** The Model Context Protocol as types, zod schemas and a JSON-RPC engine, without a transport. */

export { type Awaitable, abortable, guarded, isPromise, LONGEST_TIMER, pause } from './async.ts'
export { type Decoded, decode, encode } from './codec.ts'
export { createDuplex, type Duplex, type DuplexOptions } from './connection.ts'
// biome-ignore format: a list of names reads best as a paragraph
export type {
  Answered, Ask, ClientFacts, Context, ElicitOptions, ElicitOutcome, FormSchema, Logger, OpenUrlOptions, SampleParams,
} from './context.ts'
export { createDebugObserver, type DebugOption, type MessageObserver } from './debug.ts'
export { stripFor, stripParamsFor } from './downgrade.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  claimsModern, type Envelope, isExtensionId, isMetaKey, isReservedMetaKey, LOG_LEVEL_KEY, PROTOCOL_VERSION_KEY,
  readEnvelope, relatedRequest, SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY, serverInfoOf, subscriptionIdOf, withEnvelope,
  withProgressToken, withServerInfo, withSubscriptionId,
} from './envelope.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  ConnectionError, type ConnectionErrorOptions, type ConnectionErrorReason, ErrorCode, type ErrorObject,
  headerMismatch, insufficientScope, internalError, invalidParams, invalidRequest, methodNotFound,
  missingClientCapability, parseError, RpcError, type RpcErrorOptions, resourceNotFound, unsupportedVersion,
  urlElicitationRequired, userRejected,
} from './errors.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  type AuthInfo, type Exchange, type Guard, principalOf, type RequestInfo, type RequestOptions, type Responder, type
  ScopeRefusal, type Session, type SessionState,
} from './exchange.ts'
export { formProblem, withFormDefaults } from './form.ts'
// biome-ignore format: a list of names reads best as a paragraph
export type {
  Catalogue, Catalogued, Change, Handler, OtherHandler, PageRequest, PromptHandler, ResourceHandler,
  SubscriptionHandler, ToolHandler, ToolTypes, WholeHandler,
} from './handler.ts'
export { isObject, kindOf, placeOf, quoted, tooLong } from './json.ts'
export type { FromJsonSchema } from './json-schema-type.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CODEC_LIMITS, type CodecLimits, DUPLEX_LIMITS, type DuplexLimits, estimateBytes, MAX_CURSOR_LENGTH, MAX_ID_LENGTH,
  MAX_NAME_LENGTH, MAX_URI_LENGTH, type ValueLimits, withDefaultLimits,
} from './limits.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  createMessageProcessor, createRunningRequests, type ExchangeHost, type MessageProcessor, type RunningRequests,
} from './message-processor.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  checkMessage, type ErrorMessage, errorMessage, idProblem, isIdOf, isNotification, isRequest, isRequestId, isResponse, type JsonObject,
  type Message, type NotificationMessage, Refusal, type RefusedKind, type RequestId, type RequestMessage, type
  ResponseMessage, type ResultMessage, resultMessage,
} from './messages.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  type ClientNotifications, type ClientRequests, clientRequestParams, clientRequestResult, inputResponse,
  notificationParams, type ServerNotifications, type ServerRequests, serverRequestParams, serverRequestResult,
} from './method-schemas.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  ASSUMED_REVISION, BATCH_REVISION, capabilityFor, type Era, eraOf, hasCapability, isRevision, LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION, type MethodEntry, type MethodKind, methodEntry, REVISIONS, type Revision, requestEntry,
  revisionsOf,
} from './methods.ts'
export { checkNumbers, nearestName, refuseUnknownOption, unknownOption } from './options.ts'
export { looksSecret, type RedactOptions, redact, redactSecrets, redactUri } from './redact.ts'
export { cancelledError, createPendingRequests, type PendingRequests } from './requests.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  BooleanSchema, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
  ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult, EnumSchema, InputRequest,
  InputRequests, InputRequiredResult, InputResponse, InputResponseParams, InputResponses, LegacyTitledEnumSchema,
  ListRootsRequest, ListRootsResult, ModelHint, ModelPreferences, NumberSchema, PrimitiveSchemaDefinition,
  RequestedSchema, Root, SamplingMessage, SamplingMessageContentBlock, StringSchema, samplingProblem,
  TitledMultiSelectEnumSchema, TitledOption, TitledSingleSelectEnumSchema, ToolChoice, ToolResultContent,
  ToolUseContent, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
} from './schemas/client-features.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  AudioContent, BlobResourceContents, CallToolRequestParams, CallToolResult, CompleteRequestParams, CompleteResult,
  ContentBlock, EmbeddedResource, GetPromptRequestParams, GetPromptResult, ImageContent, ListPromptsResult,
  ListResourcesResult, ListResourceTemplatesResult, ListToolsResult, LOGGING_LEVELS, LoggingLevel,
  LoggingMessageNotificationParams, Prompt, PromptArgument, PromptMessage, PromptReference, ReadResourceRequestParams,
  ReadResourceResult, Resource, ResourceContents, ResourceLink, ResourceRequestParams, ResourceTemplate,
  ResourceTemplateReference, ResourceUpdatedNotificationParams, SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams, SubscriptionsListenResult,
  TextContent, TextResourceContents, Tool, ToolAnnotations, ToolInputSchema, ToolOutputSchema,
} from './schemas/server-features.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  Annotations, CacheableResult, CancelledNotificationParams, ClientCapabilities, Cursor, DiscoverResult, Icon,
  Implementation, MetaObject, NotificationParams, PaginatedRequestParams, ProgressNotificationParams, ProgressToken,
  RequestMetaObject, RequestParams, Result, Role, ServerCapabilities,
} from './schemas/shared.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  CreateTaskResult, DetailedTask, TASKS_EXTENSION, Task, TaskRequestParams, TaskStatus, TaskSubscription,
  UpdateTaskRequestParams,
} from './schemas/tasks.ts'
export { SHARE_PER_CALLER, SharedLimit } from './shared-limit.ts'
export { ShortLivedMap } from './short-lived-map.ts'
// biome-ignore format: a list of names reads best as a paragraph
export type {
  AnySchema, CheckingSchema, CompiledSchema, JsonSchema, JsonSchemaProblem, JsonSchemaTarget, JsonSchemaValidator, JsonSchemaVerdict,
  RawJsonSchema, SchemaInput, SchemaIssue, SchemaOutput, SchemaResult, StandardSchema,
} from './standard-schema.ts'
export { checkStoreOptions, type FollowSource, followByReplay } from './store-helpers.ts'
// biome-ignore format: a list of names reads best as a paragraph
export type {
  Count, CounterStore, EventBus, EventReplay, EventStore, RecordStore, ReplayStore, SessionStore, Store, StoredEvent, StoredTask, TaskLease, TaskStore,
} from './stores.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  type EndedSession, type NetworkInfo, type Observation, type ObservedMessage, type ObservedWork,
  type Outcome, type RefusedRequest, type RunningObservation, type ServerLoad, type Telemetry, TelemetryReporter, withMembers,
} from './telemetry.ts'
export type { Channel, Connection, ConnectOptions, Connector, Requester } from './transport.ts'
export type { FlatSchema, ObjectSchema, StringsSchema, ValueSchema } from './usable-schema.ts'
export { type Checked, check, type Infer, problemOf, type Schema } from './validate.ts'
