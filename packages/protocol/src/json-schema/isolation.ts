/**
 * Keeps `unevaluatedProperties` and `unevaluatedItems` from seeing what was evaluated beside or around the schema
 * that they stand in. The evaluator lets them see it, except in the condition of an `if`.
 */

import { never } from './guards.ts'
import { LoweredSchema, type Subschema } from './lowered-schema.ts'
import type { Reading } from './reading.ts'

/** The schema, or, where it has such a keyword, one that applies it as a condition. */
export function isolated(schema: Subschema, reading: Reading): Subschema {
  if (schema === true || (schema.unevaluatedItems === undefined && schema.unevaluatedProperties === undefined)) {
    return schema
  }
  const known = reading.isolated.get(schema)
  if (known) return known
  const condition = new LoweredSchema(reading.meter, { if: schema, else: never(reading, schema) })
  reading.isolated.set(schema, condition)
  return condition
}

/** Isolates what the keywords of a schema apply to the same value as the schema itself. */
export function isolateWithin(schema: LoweredSchema, reading: Reading): void {
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const list = schema[keyword]
    if (list)
      schema.set(
        keyword,
        list.map((item) => isolated(item, reading)),
      )
  }
  for (const keyword of ['then', 'else'] as const) {
    const one = schema[keyword]
    if (one) schema.set(keyword, isolated(one, reading))
  }
  const { dependentSchemas } = schema
  for (const [key, one] of Object.entries(dependentSchemas ?? {})) {
    if (dependentSchemas) dependentSchemas[key] = isolated(one, reading)
  }
}
