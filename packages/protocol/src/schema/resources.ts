/** Resources: what a server lists, what a URI template stands for, and what reading one gives. */

import { array, object, optional, type Shape, string, union } from './define.ts'
import { Annotations, cacheHints, Icon, Integer, MetaObject, named, page, requestParams, result } from './primitives.ts'

const described = () => ({
  ...named(),
  description: optional(string),
  mimeType: optional(string),
  icons: optional(array(Icon)),
  annotations: optional(Annotations),
  _meta: optional(MetaObject),
})

export const resource = () => ({
  ...described(),
  uri: string,
  /** In bytes, before any encoding. */
  size: optional(Integer),
})
/** Something a server can be asked to read. */
export interface Resource extends Shape<typeof resource> {}
export const Resource = /* @__PURE__ */ object<Resource>(resource)

const resourceTemplate = () => ({
  ...described(),
  /** RFC 6570. */
  uriTemplate: string,
})
/** A family of resources, named by a URI template. */
export interface ResourceTemplate extends Shape<typeof resourceTemplate> {}
export const ResourceTemplate = /* @__PURE__ */ object<ResourceTemplate>(resourceTemplate)

const resourceContents = () => ({
  uri: string,
  mimeType: optional(string),
  _meta: optional(MetaObject),
})

const textResourceContents = () => ({ ...resourceContents(), text: string })
/** The contents of a resource, as text. */
export interface TextResourceContents extends Shape<typeof textResourceContents> {}
export const TextResourceContents = /* @__PURE__ */ object<TextResourceContents>(textResourceContents)

const blobResourceContents = () => ({
  ...resourceContents(),
  /** Base64. */
  blob: string,
})
/** The contents of a resource, as bytes. */
export interface BlobResourceContents extends Shape<typeof blobResourceContents> {}
export const BlobResourceContents = /* @__PURE__ */ object<BlobResourceContents>(blobResourceContents)

/** The contents of a resource; `'text' in contents` tells which. */
export type ResourceContents = TextResourceContents | BlobResourceContents
export const ResourceContents = /* @__PURE__ */ union([TextResourceContents, BlobResourceContents])

const listResourcesResult = () => ({ ...page(), resources: array(Resource) })
/** One page of `resources/list`. */
export interface ListResourcesResult extends Shape<typeof listResourcesResult> {}
export const ListResourcesResult = /* @__PURE__ */ object<ListResourcesResult>(listResourcesResult)

const listResourceTemplatesResult = () => ({ ...page(), resourceTemplates: array(ResourceTemplate) })
/** One page of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends Shape<typeof listResourceTemplatesResult> {}
export const ListResourceTemplatesResult =
  /* @__PURE__ */ object<ListResourceTemplatesResult>(listResourceTemplatesResult)

export const resourceRequestParams = () => ({ ...requestParams(), uri: string })
/** Parameters of a request about one resource. */
export interface ResourceRequestParams extends Shape<typeof resourceRequestParams> {}
export const ResourceRequestParams = /* @__PURE__ */ object<ResourceRequestParams>(resourceRequestParams)

/** Parameters of `resources/read`. */
export interface ReadResourceRequestParams extends ResourceRequestParams {}
export const ReadResourceRequestParams: typeof ResourceRequestParams = ResourceRequestParams

const readResourceResult = () => ({ ...result(), ...cacheHints(), contents: array(ResourceContents) })
/** What reading a resource gives: often one item, several for a directory. */
export interface ReadResourceResult extends Shape<typeof readResourceResult> {}
export const ReadResourceResult = /* @__PURE__ */ object<ReadResourceResult>(readResourceResult)
