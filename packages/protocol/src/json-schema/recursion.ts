/** Refuses schemas that apply themselves to the same value for ever, or too often in a row for the stack. */

import type { LoweredSchema, Subschema } from './lowered-schema.ts'
import { type Reading, refuse } from './reading.ts'

type Lookup = Readonly<Record<string, Subschema>>

/** What a schema applies to the same value that it is applied to itself. */
function applied(schema: LoweredSchema, lookup: Lookup): LoweredSchema[] {
  const { $ref, allOf = [], anyOf = [], oneOf = [], dependentSchemas = {}, dependencies = {} } = schema
  const target = $ref === undefined ? undefined : lookup[$ref]
  const several = [...allOf, ...anyOf, ...oneOf, ...Object.values(dependentSchemas), ...Object.values(dependencies)]
  return [target, schema.not, schema.if, schema.then, schema.else, ...several].filter(
    (one): one is LoweredSchema => typeof one === 'object' && !Array.isArray(one),
  )
}

export function refuseRecursion(lookup: Lookup, reading: Reading): void {
  const { limits, schemas } = reading
  /** How many schemas apply one another in a row, beginning with this one; 0 while that is being found out. */
  const heights = new Map<LoweredSchema, number>()
  const measure = (schema: LoweredSchema, place: string, depth: number): number => {
    const known = heights.get(schema)
    if (known === 0) {
      throw refuse('recursion', place, 'leads back to itself without going into the value, so checking would not end')
    }
    const height = (rest: number) => {
      if (depth + rest <= limits.maxDepth) return rest
      throw refuse('limit', place, `more than ${limits.maxDepth} schemas in a row apply to the same value (maxDepth)`)
    }
    if (known) return height(known)
    heights.set(schema, 0)
    height(1)
    const below = applied(schema, lookup).map((next) => measure(next, place, depth + 1))
    const total = height(1 + Math.max(0, ...below))
    heights.set(schema, total)
    return total
  }
  for (const [place, schema] of schemas) if (schema !== true) measure(schema, place, 0)
}
