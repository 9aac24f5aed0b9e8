/** Sees to it that the JSON Schema of a tool's input, or of a prompt's arguments, says that it is an object. */

import type { JsonObject } from '@mcpx/protocol'
import { isObject } from './subschemas.ts'

/**
 * The schema with `type: "object"` at its root, or nothing when it may describe something else. Unions of objects
 * come from libraries without it; adding it changes nothing then.
 */
export function withObjectRoot(schema: JsonObject): JsonObject | undefined {
  if (schema.type === 'object') return schema
  return describesObjects(schema, schema, new Map()) ? { type: 'object', ...schema } : undefined
}

/** `known` holds what references were found to be; one that leads back to itself is none of an object. */
function describesObjects(schema: unknown, root: JsonObject, known: Map<string, boolean>): boolean {
  if (!isObject(schema)) return false
  const { type, anyOf, oneOf, allOf, $ref } = schema
  if (type !== undefined) return type === 'object'
  const one = (option: unknown): boolean => describesObjects(option, root, known)
  const all = (options: unknown) => Array.isArray(options) && options.length > 0 && options.every(one)
  if (all(anyOf) || all(oneOf) || (Array.isArray(allOf) && allOf.some(one)) || isObject(schema.properties)) return true
  if (typeof $ref !== 'string') return false
  if (!known.has($ref)) {
    known.set($ref, false)
    known.set($ref, one(resolveWithin($ref, root)))
  }
  return known.get($ref) === true
}

/** What a reference within the schema leads to. */
export function resolveWithin(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const escaped of ref.slice(2).split('/')) {
    const key = unescaped(escaped)
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as JsonObject)[key]
  }
  return node
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return key
  }
}
