/**
 * The schemas that all features share: ids, metadata, pages, icons, annotations, content, capabilities.
 *
 * Each schema of the protocol is a zod schema and a type with the same name. Unknown members of objects are valid; the
 * types list the known ones.
 */

import * as z from 'zod/mini'
import { MAX_CURSOR_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH, MAX_URI_LENGTH } from '../limits.ts'
import { isRequestId, type JsonObject } from '../messages.ts'
import { expected, extend, list, record } from '../validate.ts'

export const text = z.string()
export const optionalText = z.optional(text)

/* @__NO_SIDE_EFFECTS__ */
function textUpTo(limit: number): z.ZodMiniType<string> {
  return text.check(z.maxLength(limit, expected(`at most ${limit} characters`)))
}
/** A name that identifies something, of at most 1,024 characters. */
export const Name = textUpTo(MAX_NAME_LENGTH)
/** The URI of a resource, of at most 8,192 characters. */
export const Uri = textUpTo(MAX_URI_LENGTH)

export const optionalFlag = z.optional(z.boolean())

/** A JSON object with any members. */
export const AnyObject: z.ZodMiniType<JsonObject> = z.looseObject({})
/** Any JSON value, including `null`, but not undefined. */
export const AnyValue = z.custom<unknown>((value) => value !== undefined, expected('a value'))

/** A whole number within ±(2^53−1). */
export const Integer: z.ZodMiniType<number> = z.int(expected('integer'))

/** A number from 0 to 1. */
export const Fraction = z
  .number(expected('number from 0 to 1'))
  .check(z.gte(0, expected('number from 0 to 1')), z.lte(1, expected('number from 0 to 1')))

/** A string of at most 1,024 characters, or an integer within ±(2^53−1). */
export const RequestId = z.custom<string | number>(isRequestId, {
  error: ({ input }) =>
    expected(typeof input === 'string' ? `at most ${MAX_ID_LENGTH} characters` : 'string or integer').error,
})
export type RequestId = z.infer<typeof RequestId>

/** The token that connects progress notifications with their request. */
export type ProgressToken = RequestId
export const ProgressToken = RequestId

/** The start of a page of a list, at most 16,000 characters. Only the server that has created it can read it. */
export type Cursor = string
export const Cursor = textUpTo(MAX_CURSOR_LENGTH)

/** The author of a message in a conversation. */
export const Role = z.enum(['user', 'assistant'])
export type Role = z.infer<typeof Role>

/** Additional metadata for the peer. Names have a reverse-domain prefix. */
export interface MetaObject extends JsonObject {}
export const MetaObject = AnyObject
export const optionalMeta = z.optional(MetaObject)

export const RequestMetaObject = z.looseObject({
  /** If it is set, the server sends progress notifications with this token. */
  progressToken: z.optional(ProgressToken),
})
/** The metadata of a request. */
export interface RequestMetaObject extends z.infer<typeof RequestMetaObject> {}

export const RequestParams = z.object({ _meta: z.optional(RequestMetaObject) })
/** Parameters of a request without other members. */
export interface RequestParams extends z.infer<typeof RequestParams> {}

export const PaginatedRequestParams = extend(RequestParams, {
  /** The `nextCursor` of the previous page. Undefined for the first page. */
  cursor: z.optional(Cursor),
})
/** Parameters of a list request. */
export interface PaginatedRequestParams extends z.infer<typeof PaginatedRequestParams> {}

export const NotificationParams = z.object({ _meta: optionalMeta })
/** Parameters of a notification without other members. */
export interface NotificationParams extends z.infer<typeof NotificationParams> {}

export const Result = z.object({
  _meta: optionalMeta,
  /**
   * The result type: `complete`, `input_required`, or a value of an extension. The library sets it. Default:
   * `complete`.
   */
  resultType: optionalText,
})
/** A result without other members. */
export interface Result extends z.infer<typeof Result> {}

export const CacheableResult = extend(Result, {
  /** How long the result is fresh, in ms. Negative values count as 0. Default: 0. */
  ttlMs: z.optional(z.number()),
  /**
   * Whether a cache may use the result for all callers (`public`) or only for this caller (`private`). Default:
   * `private`.
   */
  cacheScope: z.optional(z.enum(['public', 'private'])),
})
/** A result with cache hints. */
export interface CacheableResult extends z.infer<typeof CacheableResult> {}

export const PaginatedResult = extend(CacheableResult, {
  /** The cursor of the next page. Undefined on the last page. */
  nextCursor: z.optional(Cursor),
})
/** The members of a page of a list, except its items. */
export interface PaginatedResult extends z.infer<typeof PaginatedResult> {}

/** A name for programs, and a display name. */
export const BaseMetadata = z.object({
  name: Name,
  /** The display name. Default: `name`. */
  title: optionalText,
})

export const Icon = z.object({
  /** The image as an `https:` or `data:` URI. */
  src: text,
  mimeType: optionalText,
  /** Sizes such as `48x48`, or `any` for scalable formats. */
  sizes: z.optional(list(text)),
  /** The theme of the background for which the icon was designed. */
  theme: z.optional(z.enum(['light', 'dark'])),
})
/** An image that is displayed next to a name. */
export interface Icon extends z.infer<typeof Icon> {}
export const optionalIcons = z.optional(list<Icon>(Icon))

export const Annotations = z.object({
  /** The intended audience. */
  audience: z.optional(list(Role)),
  /** The importance, from 0 (optional) to 1 (required). */
  priority: z.optional(Fraction),
  /** An ISO 8601 timestamp. */
  lastModified: optionalText,
})
/** Hints on how to use or display content. */
export interface Annotations extends z.infer<typeof Annotations> {}

// Implementations and capabilities

export const Implementation = extend(BaseMetadata, {
  version: Name,
  description: optionalText,
  websiteUrl: optionalText,
  icons: optionalIcons,
})
/** The name and version of a program. */
export interface Implementation extends z.infer<typeof Implementation> {}

const settings = z.optional(record(AnyObject))
const ListCapability = z.object({ listChanged: optionalFlag })
const optionalObject = z.optional(AnyObject)

export const ClientCapabilities = z.object({
  experimental: settings,
  /** The settings of extensions, by extension id such as `io.modelcontextprotocol/ui`. */
  extensions: settings,
  roots: z.optional(ListCapability),
  sampling: z.optional(z.object({ context: optionalObject, tools: optionalObject })),
  /** The supported kinds of elicitation. An empty object means forms only. */
  elicitation: z.optional(z.object({ form: optionalObject, url: optionalObject })),
})
/** The features that a client supports. */
export interface ClientCapabilities extends z.infer<typeof ClientCapabilities> {}

export const ServerCapabilities = z.object({
  experimental: settings,
  /** The settings of extensions, by extension id such as `io.modelcontextprotocol/ui`. */
  extensions: settings,
  logging: optionalObject,
  completions: optionalObject,
  prompts: z.optional(ListCapability),
  resources: z.optional(z.object({ listChanged: optionalFlag, subscribe: optionalFlag })),
  tools: z.optional(ListCapability),
})
/** The features that a server supports. */
export interface ServerCapabilities extends z.infer<typeof ServerCapabilities> {}

export const DiscoverResult = extend(CacheableResult, {
  supportedVersions: list(text),
  capabilities: ServerCapabilities,
  /** Instructions for the model on how to use the server. */
  instructions: optionalText,
})
/** The result of `server/discover`. */
export interface DiscoverResult extends z.infer<typeof DiscoverResult> {}

// Notifications of both sides

export const CancelledNotificationParams = extend(NotificationParams, {
  /** The request to cancel. A notification without it has no effect. */
  requestId: z.optional(RequestId),
  reason: optionalText,
})
/** Parameters of `notifications/cancelled`. */
export interface CancelledNotificationParams extends z.infer<typeof CancelledNotificationParams> {}

export const ProgressNotificationParams = extend(NotificationParams, {
  progressToken: ProgressToken,
  /** The progress so far. It increases with each notification. */
  progress: z.number(),
  total: z.optional(z.number()),
  message: optionalText,
})
/** Parameters of `notifications/progress`. */
export interface ProgressNotificationParams extends z.infer<typeof ProgressNotificationParams> {}
