/** Checks the `x-mcp-header` annotations of a tool's input: which arguments travel as HTTP headers too. */

import type { JsonObject } from '@mcpx/protocol'
import { isObject, placesIn } from './subschemas.ts'

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Deeper annotations are not looked for: what a handler lists may be cyclic. */
const DEEPEST = 32
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']

/** Whether an argument of this input travels as a header: one that is reached through `properties` alone. */
export function mirrorsArguments({ properties }: JsonObject, depth = 0): boolean {
  if (!isObject(properties) || depth >= DEEPEST) return false
  return Object.values(properties).some(
    (property) => isObject(property) && (Object.hasOwn(property, ANNOTATION) || mirrorsArguments(property, depth + 1)),
  )
}

/** What is wrong with an annotation of a schema that is JSON, and where; nothing when all is well. */
export function headerProblem(root: JsonObject, where: string): string | undefined {
  if (!JSON.stringify(root).includes(ANNOTATION)) return undefined
  const seen = new Map<string, string>()
  for (const { schema, path, isProperty } of placesIn(root, where)) {
    if (!isObject(schema) || !Object.hasOwn(schema, ANNOTATION)) continue
    const header = schema[ANNOTATION]
    const key = String(header).toLowerCase()
    const problem = isProperty
      ? (faultOf(header, schema) ?? (seen.has(key) ? `"${header}" is used by ${seen.get(key)} already` : undefined))
      : 'can only stand on a property reached through "properties" alone'
    if (problem !== undefined) return `${path}: ${ANNOTATION} ${problem}`
    seen.set(key, path)
  }
  return undefined
}

function faultOf(header: unknown, { type }: JsonObject): string | undefined {
  if (typeof header !== 'string' || !TOKEN.test(header)) return 'must be the name of a header, such as "Region"'
  return TYPES.includes(type) ? undefined : 'needs a "type" of "string", "integer" or "boolean"'
}
