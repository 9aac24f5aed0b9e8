/** Walks a JSON Schema: through the keywords that hold schemas, and through no data. */

import type { JsonObject } from '@mcpx/protocol'

/** Keywords that hold one schema. */
export const SINGLE: ReadonlySet<string> = new Set(
  (
    'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
    'not if then else contentSchema'
  ).split(' '),
)
/** Those that hold a list of schemas. */
export const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
/** Those that hold schemas under names. */
export const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** A schema within a schema. */
export interface Subschema {
  readonly schema: JsonObject
  /** Under which keyword it stands. */
  readonly keyword: string
  /** Its name under that keyword, where it has one. */
  readonly name: string | undefined
}

/** The schemas that stand directly in this one. Boolean schemas are left out. */
export function subschemasOf(schema: JsonObject): Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (LISTS.has(keyword) && Array.isArray(value))
      return pick(
        keyword,
        value.map((item) => [undefined, item]),
      )
    if (MAPS.has(keyword) && isObject(value)) return pick(keyword, Object.entries(value))
    return SINGLE.has(keyword) ? pick(keyword, [[undefined, value]]) : []
  })
}

function pick(keyword: string, named: (readonly [string | undefined, unknown])[]): Subschema[] {
  return named.flatMap(([name, schema]) => (isObject(schema) ? [{ keyword, name, schema }] : []))
}

/** The path of a value that the subschema describes, given that of the value around it. */
export function pathInto(path: string, { keyword, name }: Subschema): string {
  if (keyword === 'properties') return `${path}.${name}`
  if (keyword === 'items' || keyword === 'prefixItems') return `${path}[]`
  return keyword === 'additionalProperties' || keyword === 'patternProperties' ? `${path}.*` : path
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
