/** Makes blocks of content for tools and prompts, and knows one when it sees one. */

import type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  MetaObject,
  ResourceLink,
  TextContent,
  TextResourceContents,
} from '@mcpx/protocol'

export interface BlockOptions {
  annotations?: Annotations
  _meta?: MetaObject
}

/** Words. */
export function text(words: string, options?: BlockOptions): TextContent {
  return { type: 'text', text: words, ...options }
}

/** A picture, as bytes or as Base64. */
export function image(data: Uint8Array | string, mimeType: string, options?: BlockOptions): ImageContent {
  return { type: 'image', data: encoded(data), mimeType: checkedType(mimeType), ...options }
}

/** A sound, as bytes or as Base64. */
export function audio(data: Uint8Array | string, mimeType: string, options?: BlockOptions): AudioContent {
  return { type: 'audio', data: encoded(data), mimeType: checkedType(mimeType), ...options }
}

export interface ResourceBlockOptions extends BlockOptions {
  /** Default: `text/plain`, `application/octet-stream` for bytes, `application/json` for everything else. */
  mimeType?: string
}

/** A resource with its contents: a text, bytes, or a value that is written as JSON. */
export function resource(uri: string, value: unknown, options: ResourceBlockOptions = {}): EmbeddedResource {
  const { mimeType, ...block } = options
  return { type: 'resource', resource: toContents(uri, value, mimeType), ...block }
}

/** Points at a resource that can be read; it need not be listed. */
export function link(uri: string, name: string, options?: Omit<ResourceLink, 'type' | 'uri' | 'name'>): ResourceLink {
  return { type: 'resource_link', uri, name, ...options }
}

/** The contents of a resource, as what the value is. Throws a `TypeError` for what JSON cannot hold. */
export function toContents(
  uri: string,
  value: unknown,
  mimeType?: string,
): TextResourceContents | BlobResourceContents {
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value }
  if (value instanceof Uint8Array) {
    return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: toBase64(value) }
  }
  return { uri, mimeType: mimeType ?? 'application/json', text: toJson(value) }
}

/** Throws a `TypeError` for what JSON cannot hold. */
export function toJson(value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`A ${typeof value} cannot be written as JSON`)
  return json
}

/** The texts that each kind of block needs, but for that which holds a resource. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
}

/** Whether a value is a block of content, whoever made it. */
export function isBlock(value: unknown): value is ContentBlock {
  if (typeof value !== 'object' || value === null) return false
  const { type, resource } = value as Readonly<Record<string, unknown>>
  if (type === 'resource') return typeof resource === 'object' && resource !== null
  if (typeof type !== 'string' || !Object.hasOwn(BLOCKS, type)) return false
  return BLOCKS[type]?.every((name) => typeof (value as Record<string, unknown>)[name] === 'string') === true
}

/** `String.fromCharCode` takes its bytes as arguments, of which there may not be too many. */
const CHUNK = 0x8000

export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as { toBase64?: () => string }).toBase64
  if (native !== undefined) return native.call(bytes)
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

function encoded(data: Uint8Array | string): string {
  if (typeof data !== 'string') return toBase64(data)
  if (data.startsWith('data:'))
    throw new TypeError('Expected Base64, got a data: URL; pass what stands behind its comma')
  return data
}

function checkedType(mimeType: string): string {
  if (/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/.test(mimeType)) return mimeType
  throw new TypeError(`${JSON.stringify(mimeType)} is no MIME type such as "image/png"`)
}
