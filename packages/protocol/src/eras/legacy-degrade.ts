/** What newer content turns into for a revision that has no place for it. */

import { isObject } from '../jsonrpc/check.ts'
import type { JsonObject } from '../schema/primitives.ts'
import type { Revision } from '../versions.ts'

/** With which revision a kind of block came; the others have always been there. */
const cameWith: Readonly<Record<string, Revision>> = {
  audio: '2025-03-26',
  resource_link: '2025-06-18',
  tool_use: '2025-11-25',
  tool_result: '2025-11-25',
}

/** Blocks that a revision does not have become words. */
export function oldBlock(block: JsonObject, revision: Revision): JsonObject {
  const type = `${block.type}`
  if (Object.hasOwn(cameWith, type) && revision < (cameWith[type] as Revision)) return asText(block)
  return type === 'tool_result' ? oldToolResult(block) : block
}

function asText(block: JsonObject): JsonObject {
  const { annotations } = block
  const text = { type: 'text', text: wordsFor(block) }
  return annotations === undefined ? text : { ...text, annotations }
}

function wordsFor(block: JsonObject): string {
  switch (block.type) {
    case 'text':
      return `${block.text}`
    case 'image':
    case 'audio':
      return `[${block.type} left out: ${block.mimeType}]`
    case 'resource_link':
      return `${block.title ?? block.name}: ${block.uri}`
    default:
      return JSON.stringify(block)
  }
}

/** Structured content was an object before it could be anything. */
export function oldToolResult(result: JsonObject): JsonObject {
  return 'structuredContent' in result && !isObject(written(result.structuredContent))
    ? without(result, 'structuredContent')
    : result
}

/** What JSON writes of a value that has a say in it, such as a date. */
function written(value: unknown): unknown {
  const write = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON
  return typeof write === 'function' ? write.call(value, 'structuredContent') : value
}

/**
 * Output schemas used to describe objects only, and a schema for a property was always an object. Peers of that time
 * refuse a whole list for one tool that does otherwise.
 */
export function oldToolSchemas(tool: JsonObject): JsonObject {
  const { inputSchema, outputSchema } = tool
  const input = oldSchema(inputSchema)
  const output = isObject(outputSchema) && outputSchema.type === 'object' ? oldSchema(outputSchema) : undefined
  if (input === inputSchema && output === outputSchema) return tool
  const changed = { ...tool, inputSchema: input }
  return output === undefined ? without(changed, 'outputSchema') : { ...changed, outputSchema: output }
}

/** `true` and `false` as schemas of properties become objects that mean the same. */
function oldSchema(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties)
  if (!properties.some(([, property]) => typeof property === 'boolean')) return schema
  const changed = properties.map(([name, property]) => {
    if (typeof property !== 'boolean') return [name, property]
    return [name, property ? {} : { not: {} }]
  })
  return { ...schema, properties: Object.fromEntries(changed) }
}

/** A message had one block: one with several becomes several messages. */
export function oldMessages(message: JsonObject): JsonObject | JsonObject[] {
  const { content } = message
  return Array.isArray(content) ? content.map((block: unknown) => ({ ...message, content: block })) : message
}

/** What a model wrote was one block: several become one of words. */
export function oldSampled(result: JsonObject): JsonObject {
  const { content } = result
  if (!Array.isArray(content)) return result
  const text = { type: 'text', text: content.map((block) => wordsFor(block as JsonObject)).join('\n') }
  return { ...result, content: content.length === 1 ? content[0] : text }
}

/** Forms had no fields for several values, titles in a list of their own, and defaults for switches only. */
export function oldForm(form: JsonObject): JsonObject {
  if (!isObject(form.properties)) return form
  const fields = Object.entries(form.properties)
  const kept = fields.flatMap(([name, field]) => {
    const old = isObject(field) ? oldField(field) : field
    return old === undefined ? [] : ([[name, old]] as [string, unknown][])
  })
  if (kept.length === fields.length && kept.every(([, old], index) => old === fields[index]?.[1])) return form
  const properties = Object.fromEntries(kept)
  if (!Array.isArray(form.required)) return { ...form, properties }
  return { ...form, properties, required: form.required.filter((name) => Object.hasOwn(properties, name)) }
}

function oldField(field: JsonObject): JsonObject | undefined {
  if (field.type === 'array') return undefined
  const plain = 'default' in field && field.type !== 'boolean' ? without(field, 'default') : field
  if (!Array.isArray(plain.oneOf)) return plain
  const options = plain.oneOf as JsonObject[]
  return {
    ...without(plain, 'oneOf'),
    enum: options.map((option) => option.const),
    enumNames: options.map((option) => option.title),
  }
}

function without(value: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = value
  return rest
}
