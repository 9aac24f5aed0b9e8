/** Sees to it that the JSON Schema of a tool's input, or of a prompt's arguments, says that it is an object. */

import type { JsonObject } from '@mcpx/protocol'
import { isObject } from './subschemas.ts'

/**
 * The schema with `type: "object"` at its root, or nothing when it may describe something else. Unions of objects
 * come from libraries without it; adding it changes nothing then.
 */
export function withObjectRoot(schema: JsonObject): JsonObject | undefined {
  if (schema.type === 'object') return schema
  return describesObjects(schema, schema, 0) ? { type: 'object', ...schema } : undefined
}

/** References may go round in circles. */
const MAX_DEPTH = 20

function describesObjects(schema: unknown, root: JsonObject, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_DEPTH) return false
  const { type, anyOf, oneOf, allOf, $ref } = schema
  if (type !== undefined) return type === 'object'
  const one = (option: unknown): boolean => describesObjects(option, root, depth + 1)
  if (Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(one)) return true
  if (Array.isArray(oneOf) && oneOf.length > 0 && oneOf.every(one)) return true
  if (Array.isArray(allOf) && allOf.some(one)) return true
  if (typeof $ref === 'string' && one(resolve($ref, root))) return true
  return isObject(schema.properties)
}

/** What a reference within the schema leads to. */
function resolve(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith('#/')) return undefined
  const keys = ref
    .slice(2)
    .split('/')
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce<unknown>((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), root)
}
