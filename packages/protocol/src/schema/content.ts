/** Content: what tools and prompts hand to a model, block by block. */

import { literal, object, optional, type Shape, string, union } from './define.ts'
import { Annotations, MetaObject } from './primitives.ts'
import { ResourceContents, resource } from './resources.ts'

const block = () => ({ annotations: optional(Annotations), _meta: optional(MetaObject) })

const textContent = () => ({ type: literal('text'), text: string, ...block() })
/** Words. */
export interface TextContent extends Shape<typeof textContent> {}
export const TextContent = /* @__PURE__ */ object<TextContent>(textContent)

const media = () => ({
  /** Base64. */
  data: string,
  mimeType: string,
  ...block(),
})

const imageContent = () => ({ type: literal('image'), ...media() })
/** A picture. */
export interface ImageContent extends Shape<typeof imageContent> {}
export const ImageContent = /* @__PURE__ */ object<ImageContent>(imageContent)

const audioContent = () => ({ type: literal('audio'), ...media() })
/** A sound. */
export interface AudioContent extends Shape<typeof audioContent> {}
export const AudioContent = /* @__PURE__ */ object<AudioContent>(audioContent)

const resourceLink = () => ({ type: literal('resource_link'), ...resource() })
/** Points at a resource that can be read; it need not be listed. */
export interface ResourceLink extends Shape<typeof resourceLink> {}
export const ResourceLink = /* @__PURE__ */ object<ResourceLink>(resourceLink)

const embeddedResource = () => ({ type: literal('resource'), resource: ResourceContents, ...block() })
/** A resource with its contents. */
export interface EmbeddedResource extends Shape<typeof embeddedResource> {}
export const EmbeddedResource = /* @__PURE__ */ object<EmbeddedResource>(embeddedResource)

/** One block of content; `type` tells which. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
export const ContentBlock = /* @__PURE__ */ union([
  TextContent,
  ImageContent,
  AudioContent,
  ResourceLink,
  EmbeddedResource,
])
