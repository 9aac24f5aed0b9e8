/** Checks the `x-mcp-header` annotations of a tool's input: which arguments travel as HTTP headers too. */

import type { JsonObject } from '@mcpx/protocol'
import { pathInto, subschemasOf } from './subschemas.ts'

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']

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
