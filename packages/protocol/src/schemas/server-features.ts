/** The features of servers: resources, content, tools, prompts, completion, logging, subscriptions. */

import * as z from 'zod/mini'
import { extend, list, record } from '../validate.ts'
import {
  Annotations,
  AnyObject,
  AnyValue,
  BaseMetadata,
  CacheableResult,
  Integer,
  Name,
  NotificationParams,
  optionalFlag,
  optionalIcons,
  optionalMeta,
  optionalText,
  PaginatedResult,
  RequestParams,
  Result,
  Role,
  text,
  Uri,
} from './shared.ts'

// Resources

const Described = extend(BaseMetadata, {
  description: optionalText,
  mimeType: optionalText,
  icons: optionalIcons,
  annotations: z.optional(Annotations),
  _meta: optionalMeta,
})

export const Resource = extend(Described, {
  uri: Uri,
  /** The size in bytes, before any encoding. */
  size: z.optional(Integer),
})
/** A resource that a server lists. */
export interface Resource extends z.infer<typeof Resource> {}

export const ResourceTemplate = extend(Described, {
  /** The URI template (RFC 6570). */
  uriTemplate: Uri,
})
/** A set of resources, described by a URI template. */
export interface ResourceTemplate extends z.infer<typeof ResourceTemplate> {}

const Contents = z.object({ uri: text, mimeType: optionalText, _meta: optionalMeta })

export const TextResourceContents = extend(Contents, { text })
/** The contents of a resource, as text. */
export interface TextResourceContents extends z.infer<typeof TextResourceContents> {}

export const BlobResourceContents = extend(Contents, {
  /** Base64. */
  blob: text,
})
/** The contents of a resource, as bytes. */
export interface BlobResourceContents extends z.infer<typeof BlobResourceContents> {}

/** The contents of a resource. Use `'text' in contents` to distinguish them. */
export type ResourceContents = TextResourceContents | BlobResourceContents
export const ResourceContents: z.ZodMiniType<ResourceContents> = z.union([TextResourceContents, BlobResourceContents])

export const ResourceRequestParams = extend(RequestParams, { uri: Uri })
/** Parameters of a request about one resource. */
export interface ResourceRequestParams extends z.infer<typeof ResourceRequestParams> {}

export const ReadResourceRequestParams = ResourceRequestParams
/** Parameters of `resources/read`. */
export interface ReadResourceRequestParams extends ResourceRequestParams {}

export const ListResourcesResult = extend(PaginatedResult, { resources: list<Resource>(Resource) })
/** One page of `resources/list`. */
export interface ListResourcesResult extends z.infer<typeof ListResourcesResult> {}

export const ListResourceTemplatesResult = extend(PaginatedResult, {
  resourceTemplates: list<ResourceTemplate>(ResourceTemplate),
})
/** One page of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends z.infer<typeof ListResourceTemplatesResult> {}

export const ReadResourceResult = extend(CacheableResult, { contents: list(ResourceContents) })
/** The result of `resources/read`. It usually has one item; a directory may have several. */
export interface ReadResourceResult extends z.infer<typeof ReadResourceResult> {}

export const ResourceUpdatedNotificationParams = extend(NotificationParams, {
  /** The URI of the resource that changed. It may be below the subscribed resource. */
  uri: Uri,
})
/** Parameters of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends z.infer<typeof ResourceUpdatedNotificationParams> {}

// Content

const Block = z.object({ annotations: z.optional(Annotations), _meta: optionalMeta })
const Media = extend(Block, {
  /** Base64. */
  data: text,
  mimeType: text,
})

export const TextContent = extend(Block, { type: z.literal('text'), text })
/** Text content. */
export interface TextContent extends z.infer<typeof TextContent> {}

export const ImageContent = extend(Media, { type: z.literal('image') })
/** Image content. */
export interface ImageContent extends z.infer<typeof ImageContent> {}

export const AudioContent = extend(Media, { type: z.literal('audio') })
/** Audio content. */
export interface AudioContent extends z.infer<typeof AudioContent> {}

export const ResourceLink = extend(Resource, { type: z.literal('resource_link') })
/** A link to a resource. The resource can be read, but does not have to be in a list. */
export interface ResourceLink extends z.infer<typeof ResourceLink> {}

export const EmbeddedResource = extend(Block, { type: z.literal('resource'), resource: ResourceContents })
/** A resource with its contents. */
export interface EmbeddedResource extends z.infer<typeof EmbeddedResource> {}

/** One content block, distinguished by `type`. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
export const ContentBlock: z.ZodMiniType<ContentBlock> = z.discriminatedUnion(
  'type',
  [TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource],
  { unionFallback: true },
)

// Tools

export const ToolAnnotations = z.object({
  title: optionalText,
  /** Whether the tool only reads. Default: false. */
  readOnlyHint: optionalFlag,
  /** Whether the tool may delete or overwrite data. Default: true. */
  destructiveHint: optionalFlag,
  /** Whether repeated calls with the same arguments have no further effect. Default: false. */
  idempotentHint: optionalFlag,
  /** Whether the tool interacts with systems outside of the server. Default: true. */
  openWorldHint: optionalFlag,
})
/** Hints about the behaviour of a tool. They are not guaranteed. */
export interface ToolAnnotations extends z.infer<typeof ToolAnnotations> {}

export const ToolOutputSchema = z.looseObject({ $schema: optionalText })
/** A JSON Schema. Default dialect: 2020-12; `$schema` may name another. */
export interface ToolOutputSchema extends z.infer<typeof ToolOutputSchema> {}

export const ToolInputSchema = z.looseObject({ $schema: optionalText, type: z.literal('object') })
/** A JSON Schema that describes an object. */
export interface ToolInputSchema extends z.infer<typeof ToolInputSchema> {}

export const Tool = extend(BaseMetadata, {
  description: optionalText,
  inputSchema: ToolInputSchema,
  /** The schema of `structuredContent` in results. */
  outputSchema: z.optional(ToolOutputSchema),
  annotations: z.optional(ToolAnnotations),
  icons: optionalIcons,
  _meta: optionalMeta,
})
/** A tool that a server lists. */
export interface Tool extends z.infer<typeof Tool> {}

export const ListToolsResult = extend(PaginatedResult, { tools: list<Tool>(Tool) })
/** One page of `tools/list`. */
export interface ListToolsResult extends z.infer<typeof ListToolsResult> {}

export const CallToolRequestParams = extend(RequestParams, {
  name: Name,
  arguments: z.optional(AnyObject),
})
/** Parameters of `tools/call`. */
export interface CallToolRequestParams extends z.infer<typeof CallToolRequestParams> {}

export const CallToolResult = extend(Result, {
  /** The content for the model. */
  content: list(ContentBlock),
  /** The result for programs: any JSON value, including `null` and `0`. */
  structuredContent: z.optional(z.unknown()),
  /** Whether the tool failed. `content` then describes the error. Default: false. */
  isError: optionalFlag,
})
/** The result of a tool call, successful or failed. */
export interface CallToolResult extends z.infer<typeof CallToolResult> {}

// Prompts

export const PromptArgument = extend(BaseMetadata, {
  description: optionalText,
  /** Whether the argument is required. Default: false. */
  required: optionalFlag,
})
/** An argument of a prompt. */
export interface PromptArgument extends z.infer<typeof PromptArgument> {}

export const Prompt = extend(BaseMetadata, {
  description: optionalText,
  arguments: z.optional(list<PromptArgument>(PromptArgument)),
  icons: optionalIcons,
  _meta: optionalMeta,
})
/** A prompt that a server lists. */
export interface Prompt extends z.infer<typeof Prompt> {}

export const PromptMessage = z.object({ role: Role, content: ContentBlock })
/** One message of a prompt. */
export interface PromptMessage extends z.infer<typeof PromptMessage> {}

export const ListPromptsResult = extend(PaginatedResult, { prompts: list<Prompt>(Prompt) })
/** One page of `prompts/list`. */
export interface ListPromptsResult extends z.infer<typeof ListPromptsResult> {}

export const GetPromptRequestParams = extend(RequestParams, {
  name: Name,
  arguments: z.optional(record(text)),
})
/** Parameters of `prompts/get`. */
export interface GetPromptRequestParams extends z.infer<typeof GetPromptRequestParams> {}

export const GetPromptResult = extend(Result, {
  description: optionalText,
  messages: list<PromptMessage>(PromptMessage),
})
/** A rendered prompt. */
export interface GetPromptResult extends z.infer<typeof GetPromptResult> {}

// Completion

export const PromptReference = extend(BaseMetadata, { type: z.literal('ref/prompt') })
/** A reference to a prompt. */
export interface PromptReference extends z.infer<typeof PromptReference> {}

export const ResourceTemplateReference = z.object({
  type: z.literal('ref/resource'),
  /** A URI or a URI template. */
  uri: Uri,
})
/** A reference to a resource or a resource template. */
export interface ResourceTemplateReference extends z.infer<typeof ResourceTemplateReference> {}

export const CompleteRequestParams = extend(RequestParams, {
  ref: z.discriminatedUnion('type', [PromptReference, ResourceTemplateReference], { unionFallback: true }),
  /** The argument to complete, with its partial value. */
  argument: z.object({ name: Name, value: text }),
  /** The other arguments that already have values. */
  context: z.optional(z.object({ arguments: z.optional(record(text)) })),
})
/** Parameters of `completion/complete`. */
export interface CompleteRequestParams extends z.infer<typeof CompleteRequestParams> {}

export const CompleteResult = extend(Result, {
  completion: z.object({
    /** The proposed values, the best first. At most 100. */
    values: list(text),
    /** The total number of proposals. */
    total: z.optional(Integer),
    hasMore: optionalFlag,
  }),
})
/** Proposals for the value of an argument. */
export interface CompleteResult extends z.infer<typeof CompleteResult> {}

// Logging

/** The levels of RFC 5424, least severe first. */
export const LOGGING_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** The severity of a log message. */
export const LoggingLevel = z.enum(LOGGING_LEVELS)
export type LoggingLevel = z.infer<typeof LoggingLevel>

export const LoggingMessageNotificationParams = extend(NotificationParams, {
  level: LoggingLevel,
  /** The part of the server that logs. */
  logger: optionalText,
  /** Any JSON value. */
  data: AnyValue,
})
/** Parameters of `notifications/message`. */
export interface LoggingMessageNotificationParams extends z.infer<typeof LoggingMessageNotificationParams> {}

// Subscriptions

export const SubscriptionFilter = z.object({
  toolsListChanged: optionalFlag,
  promptsListChanged: optionalFlag,
  resourcesListChanged: optionalFlag,
  /** URIs of resources to watch. */
  resourceSubscriptions: z.optional(list(Uri)),
})
/** The changes of which a subscription is notified. */
export interface SubscriptionFilter extends z.infer<typeof SubscriptionFilter> {}

export const SubscriptionsListenRequestParams = extend(RequestParams, {
  notifications: SubscriptionFilter,
})
/** Parameters of `subscriptions/listen`. */
export interface SubscriptionsListenRequestParams extends z.infer<typeof SubscriptionsListenRequestParams> {}

export const SubscriptionsAcknowledgedNotificationParams = extend(NotificationParams, {
  /** The part of the filter that the server supports. */
  notifications: SubscriptionFilter,
})
/** Parameters of `notifications/subscriptions/acknowledged`, the first message of every subscription. */
export interface SubscriptionsAcknowledgedNotificationParams
  extends z.infer<typeof SubscriptionsAcknowledgedNotificationParams> {}

export const SubscriptionsListenResult = Result
/** The result of `subscriptions/listen`, sent when the server ends the subscription. */
export interface SubscriptionsListenResult extends Result {}
