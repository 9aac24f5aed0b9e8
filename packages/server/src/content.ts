/** Content blocks for tools and prompts. */

import {
  type Annotations,
  type AudioContent,
  type BlobResourceContents,
  type ContentBlock,
  type EmbeddedResource,
  type ImageContent,
  isObject,
  kindOf,
  type MetaObject,
  quoted,
  type ResourceLink,
  type TextContent,
  type TextResourceContents,
} from '@mcpx/protocol'
import { toBase64 } from './base64.ts'
import { toJson } from './json-value.ts'

/** Options of a content block. */
export interface BlockOptions {
  /** The audience, priority and date of the content. */
  annotations?: Annotations
  /** Metadata for clients that support it. */
  _meta?: MetaObject
}

/** Creates text content. */
export function text(value: string, options?: BlockOptions): TextContent {
  return { type: 'text', text: value, ...options }
}

/** Creates image content from bytes or Base64. */
export function image(data: Uint8Array | string, mimeType: string, options?: BlockOptions): ImageContent {
  return { type: 'image', data: encodeData(data), mimeType: checkMimeType(mimeType), ...options }
}

/** Creates audio content from bytes or Base64. */
export function audio(data: Uint8Array | string, mimeType: string, options?: BlockOptions): AudioContent {
  return { type: 'audio', data: encodeData(data), mimeType: checkMimeType(mimeType), ...options }
}

/** Options of an embedded resource. */
export interface ResourceBlockOptions extends BlockOptions {
  /** Default: `text/plain` for strings, `application/octet-stream` for bytes, `application/json` for all other values. */
  mimeType?: string
}

/** Creates an embedded resource with its contents: a string, bytes, or a value that is written as JSON. */
export function resource(uri: string, value: unknown, options: ResourceBlockOptions = {}): EmbeddedResource {
  const { mimeType, ...block } = options
  return { type: 'resource', resource: toContents(uri, value, mimeType), ...block }
}

/** Creates a link to a resource. Clients must be able to read the resource, but it does not have to be in a list. */
export function link(uri: string, name: string, options?: Omit<ResourceLink, 'type' | 'uri' | 'name'>): ResourceLink {
  return { type: 'resource_link', uri, name, ...options }
}

/** Converts a value to the contents of a resource. Throws a `ResultError` for a value that cannot be written as JSON. */
export function toContents(
  uri: string,
  value: unknown,
  mimeType?: string,
): TextResourceContents | BlobResourceContents {
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value }
  if (value instanceof Uint8Array) {
    return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: toBase64(value) }
  }
  return { uri, mimeType: mimeType ?? 'application/json', text: toJson(value, `contents of ${quoted(uri)}`) }
}

/** The required string members of each block type, except embedded resources. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
}

const TYPES = [...Object.keys(BLOCKS), 'resource'].join(', ')

export function isBlock(value: unknown): value is ContentBlock {
  return blockProblem(value) === undefined
}

/** Describes why a value is not a content block. Returns undefined for a block. */
export function blockProblem(value: unknown): string | undefined {
  if (!isObject(value)) return `expected a content block, got ${kindOf(value)}; write text("…") for a string`
  const { type, resource } = value
  if (type === 'resource') return isObject(resource) ? undefined : `resource: expected object, got ${kindOf(resource)}`
  if (typeof type !== 'string' || !Object.hasOwn(BLOCKS, type)) {
    const found = typeof type === 'string' ? quoted(type) : kindOf(type)
    return `type: expected one of ${TYPES}, got ${found}`
  }
  const member = BLOCKS[type]?.find((name) => typeof value[name] !== 'string')
  return member && `${member}: expected string, got ${kindOf(value[member])}`
}

function encodeData(data: Uint8Array | string): string {
  if (typeof data !== 'string') return toBase64(data)
  if (data.startsWith('data:'))
    throw new TypeError('data: expected Base64, got a data: URL; pass the part after the comma')
  return data
}

function checkMimeType(mimeType: string): string {
  if (/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/.test(mimeType)) return mimeType
  throw new TypeError(`mimeType: expected a MIME type such as "image/png", got ${JSON.stringify(mimeType)}`)
}
