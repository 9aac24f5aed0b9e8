/** Checks the `x-mcp-header` annotations of a tool's input: which arguments travel as HTTP headers too. */

import type { JsonObject } from '@mcpx/protocol'
import { isObject, pathInto, subschemasOf } from './subschemas.ts'

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

/** What is wrong with an annotation, and where; nothing when all is well. */
export function headerProblem(schema: JsonObject, root: string): string | undefined {
  const seen = new Map<string, string>()

  function problemAt(node: JsonObject, path: string, reachable: boolean): string | undefined {
    if (Object.hasOwn(node, ANNOTATION)) {
      const problem = reachable
        ? problemOf(node, path)
        : `can only stand on a property reached through "properties" alone`
      if (problem !== undefined) return `${path}: ${ANNOTATION} ${problem}`
    }
    for (const sub of subschemasOf(node)) {
      const isProperty = sub.keyword === 'properties' && (reachable || node === schema)
      const problem = problemAt(sub.schema, pathInto(path, sub), isProperty)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  function problemOf(node: JsonObject, path: string): string | undefined {
    const header = node[ANNOTATION]
    if (typeof header !== 'string' || !TOKEN.test(header)) return 'must be the name of a header, such as "Region"'
    if (!TYPES.includes(node.type)) return 'needs a "type" of "string", "integer" or "boolean"'
    const other = seen.get(header.toLowerCase())
    if (other !== undefined) return `"${header}" is used by ${other} already`
    seen.set(header.toLowerCase(), path)
    return undefined
  }

  return problemAt(schema, root, false)
}
