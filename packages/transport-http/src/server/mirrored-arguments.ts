/** Finds in the input schema of a tool which arguments travel as headers: those annotated with `x-mcp-header`. */

import type { JsonSchema } from '@mcpx/protocol'

export interface MirroredArgument {
  /** The header's name after `Mcp-Param-`, as the schema writes it. */
  readonly header: string
  /** The way from the arguments to the value, by member names. */
  readonly path: readonly string[]
}

const ANNOTATION = 'x-mcp-header'
/** Deeper annotations are not looked for: a schema may be cyclic. */
const DEEPEST = 32

/** What was found in each schema. */
const known = new WeakMap<object, readonly MirroredArgument[]>()

/** The annotated arguments; reachable through `properties` alone. */
export function mirroredArguments(schema: JsonSchema | undefined): readonly MirroredArgument[] {
  if (typeof schema !== 'object') return []
  let found = known.get(schema)
  if (found === undefined) {
    found = find(schema, [])
    known.set(schema, found)
  }
  return found
}

function find(schema: Readonly<Record<string, unknown>>, path: readonly string[]): MirroredArgument[] {
  const { properties } = schema
  if (!isObject(properties) || path.length >= DEEPEST) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return []
    const below = [...path, name]
    const header = property[ANNOTATION]
    return [...(typeof header === 'string' ? [{ header, path: below }] : []), ...find(property, below)]
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
