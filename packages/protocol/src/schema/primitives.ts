/** The parts that the shapes of every feature share: ids, metadata, names, icons, annotations, pages, cache hints. */

import { isObject } from '../jsonrpc/check.ts'
import { array, custom, literal, number, object, optional, type Shape, string } from './define.ts'

/** A JSON object whose members are not known here. It is never copied. */
export interface JsonObject {
  [key: string]: unknown
}
export const JsonObject = /* @__PURE__ */ custom<JsonObject>(isObject, 'object')

/** A whole number that survives JSON, within ±(2^53−1). */
export const Integer = /* @__PURE__ */ custom<number>(Number.isSafeInteger, 'integer')

/** Names a request; `1` and `'1'` are two ids, and `0` and `''` are ids like any other. */
export type RequestId = string | number
export const RequestId = /* @__PURE__ */ custom<RequestId>(
  (value) => typeof value === 'string' || Number.isSafeInteger(value),
  'string or integer',
)

/** Ties progress notifications to the request that asked for them. */
export type ProgressToken = RequestId
export const ProgressToken = RequestId

/** Where a page of a list begins. Opaque: only who made it can read it. */
export type Cursor = string
export const Cursor = string

/** Who speaks in a conversation. */
export type Role = 'user' | 'assistant'
export const Role = /* @__PURE__ */ literal(['user', 'assistant'])

/** Extra facts for the peer under names with a reverse-domain prefix. */
export interface MetaObject extends JsonObject {}
export const MetaObject = JsonObject

const requestMetaObject = () => ({
  /** Asks for progress notifications that carry this token. */
  progressToken: optional(ProgressToken),
})
/** The metadata of a request. */
export interface RequestMetaObject extends MetaObject, Shape<typeof requestMetaObject> {}
export const RequestMetaObject = /* @__PURE__ */ object<RequestMetaObject>(requestMetaObject)

/** What every request may carry. */
export const requestParams = () => ({ _meta: optional(RequestMetaObject) })
/** Parameters of a request that needs none of its own. */
export interface RequestParams extends Shape<typeof requestParams> {}
export const RequestParams = /* @__PURE__ */ object<RequestParams>(requestParams)

const paginatedRequestParams = () => ({
  ...requestParams(),
  /** The `nextCursor` of the page before; absent for the first page. */
  cursor: optional(Cursor),
})
/** Parameters of a list request. */
export interface PaginatedRequestParams extends Shape<typeof paginatedRequestParams> {}
export const PaginatedRequestParams = /* @__PURE__ */ object<PaginatedRequestParams>(paginatedRequestParams)

/** What every notification may carry. */
export const notificationParams = () => ({ _meta: optional(MetaObject) })
/** Parameters of a notification that needs none of its own. */
export interface NotificationParams extends Shape<typeof notificationParams> {}
export const NotificationParams = /* @__PURE__ */ object<NotificationParams>(notificationParams)

/** What every result may carry. */
export const result = () => ({
  _meta: optional(MetaObject),
  /** `complete`, `input_required`, or a word of an extension; absent means `complete`. Set by the library. */
  resultType: optional(string),
})
/** A result that says no more than that it worked. */
export interface Result extends Shape<typeof result> {}
export const Result = /* @__PURE__ */ object<Result>(result)

/** How long, and for whom, an answer may be kept. */
export const cacheHints = () => ({
  /** For how many milliseconds the answer counts as fresh. Absent or negative means 0. */
  ttlMs: optional(number),
  /** `public`: the same for everybody. Absent means `private`. */
  cacheScope: optional(literal(['public', 'private'])),
})
const cacheableResult = () => ({ ...result(), ...cacheHints() })
/** A result with cache hints. */
export interface CacheableResult extends Shape<typeof cacheableResult> {}
export const CacheableResult = /* @__PURE__ */ object<CacheableResult>(cacheableResult)

/** What one page of a list carries besides its items. */
export const page = () => ({
  ...cacheableResult(),
  /** Asks for the page after this one; absent on the last page. */
  nextCursor: optional(Cursor),
})

/** What has a name for programs and one for people. */
export const named = () => ({
  name: string,
  /** The name to show; where it is absent, `name` is shown. */
  title: optional(string),
})

const icon = () => ({
  /** An `https:` or `data:` URI. */
  src: string,
  mimeType: optional(string),
  /** `48x48` and the like, or `any` for formats that scale. */
  sizes: optional(array(string)),
  /** The background that the icon is drawn for. */
  theme: optional(literal(['light', 'dark'])),
})
/** A picture to show beside a name. */
export interface Icon extends Shape<typeof icon> {}
export const Icon = /* @__PURE__ */ object<Icon>(icon)

/** A number from 0 to 1. */
export const Fraction = /* @__PURE__ */ custom<number>(
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
  'number from 0 to 1',
)

const annotations = () => ({
  /** Whom it is meant for. */
  audience: optional(array(Role)),
  /** From 0, entirely optional, to 1, effectively required. */
  priority: optional(Fraction),
  /** An ISO 8601 moment. */
  lastModified: optional(string),
})
/** Hints on how to use or show something. */
export interface Annotations extends Shape<typeof annotations> {}
export const Annotations = /* @__PURE__ */ object<Annotations>(annotations)
