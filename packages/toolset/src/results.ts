/** Results of tools as text and media, for models. */
import type { JsonObject } from './schemas/json.ts'

/** A piece of the content of a tool result. */
export type ResultContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly description?: string | undefined
      readonly mimeType?: string | undefined
    }
  | { readonly type: 'resource'; readonly resource: EmbeddedResource }

/** The content of a resource inside a result. */
export type EmbeddedResource =
  | { readonly uri: string; readonly mimeType?: string | undefined; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string | undefined; readonly blob: string }

/** The result of a tool. */
export interface ToolResult {
  /** The content for the model. */
  readonly content: readonly ResultContent[]
  /** The structured content. Servers usually repeat it as text in `content`. */
  readonly structuredContent?: unknown
  /** Whether the tool failed. */
  readonly isError?: boolean | undefined
}

/** One part of a result, in a form that model APIs can represent. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly mimeType: string; readonly data: string; readonly name: string }

export function errorResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/**
 * Returns a result as text and media. Replaces media with a description, unless `accepted` matches their type. Returns
 * the structured content if there is no other content.
 */
export function toParts({ content, structuredContent }: ToolResult, accepted?: RegExp): readonly ResultPart[] {
  if (content.length === 0 && structuredContent !== undefined) {
    return [{ type: 'text', text: JSON.stringify(structuredContent) }]
  }
  return content.map(toPart).map((part) => {
    if (part.type === 'text' || accepted?.test(part.mimeType) === true) return part
    const size = Math.floor((part.data.length * 3) / 4).toLocaleString('en')
    return { type: 'text', text: `[${part.name}: ${part.mimeType}, ${size} bytes, not shown]` }
  })
}

/** Returns a result as one string. Media are replaced by descriptions. */
export function toText(result: ToolResult): string {
  return joinText(toParts(result))
}

export function joinText(parts: readonly ResultPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function toPart(block: ResultContent): ResultPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: 'media', mimeType: toMediaType(block.mimeType), data: block.data, name: block.type }
    case 'resource_link': {
      const details = [block.mimeType, block.description].filter((each) => each !== undefined)
      return { type: 'text', text: `[resource ${block.name}: ${[block.uri, ...details].join(', ')}]` }
    }
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource
      if ('text' in block.resource) return { type: 'text', text: `[resource ${uri}]\n${block.resource.text}` }
      return {
        type: 'media',
        mimeType: toMediaType(mimeType),
        data: block.resource.blob,
        name: uri.split('/').at(-1) || uri,
      }
    }
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

/**
 * Returns a media type in the form that APIs accept: in lower case, and `image/jpeg` instead of the wrong `image/jpg`,
 * which servers often send.
 */
function toMediaType(mimeType: string): string {
  const lower = mimeType.toLowerCase()
  return lower === 'image/jpg' ? 'image/jpeg' : lower
}

/**
 * Shortens the texts of a result to `maxText` characters in total. Appends a note to each shortened text that says how
 * many characters are missing. The notes are not counted in `maxText`.
 */
export function limitText(result: ToolResult, maxText: number): ToolResult {
  let room = maxText
  const shorten = (text: string) => {
    // APIs refuse strings with an unpaired surrogate.
    const kept = text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')
    room -= kept.length
    if (kept.length === text.length) return text
    return `${kept}\n[${(text.length - kept.length).toLocaleString('en')} more characters left out]`
  }
  const content = result.content.map((block) => {
    if (block.type === 'text') return { ...block, text: shorten(block.text) }
    if (block.type !== 'resource' || !('text' in block.resource)) return block
    return { ...block, resource: { ...block.resource, text: shorten(block.resource.text) } }
  })
  if (content.length > 0 || result.structuredContent === undefined) return { ...result, content }
  return { ...result, content: [{ type: 'text', text: shorten(JSON.stringify(result.structuredContent)) }] }
}

/**
 * Returns the arguments of a tool call. Parses them if they are a JSON string, as some model APIs send them. Missing
 * arguments are an empty object. Returns undefined if the arguments are not an object.
 */
export function parseArguments(args: unknown): JsonObject | undefined {
  try {
    const value: unknown = typeof args === 'string' ? JSON.parse(args === '' ? '{}' : args) : (args ?? {})
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
