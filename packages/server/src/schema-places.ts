/** Walks a JSON Schema through the keywords that hold schemas, and checks its `x-mcp-header` annotations. */

import type { JsonObject } from '@mcpx/protocol'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Keywords that hold one schema. */
const SINGLE = words(
  'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
    'not if then else contentSchema',
)
/** Keywords that hold a list of schemas. */
const LISTS = words('allOf anyOf oneOf prefixItems items')
/** Keywords that hold schemas under names. */
const MAPS = words('properties patternProperties $defs definitions dependentSchemas dependencies')

/** A place where a schema belongs. */
export interface SchemaPlace {
  readonly schema: unknown
  /** Of the value that the schema describes, as far as schemas tell it. */
  readonly path: string
  /** The keyword that holds it; empty for the root. */
  readonly keyword: string
  /** Whether only `properties` lead to it. */
  readonly isProperty: boolean
}

/** The root, and all places below it, each before those that it holds. */
export function* schemaPlaces(root: JsonObject, path: string): Generator<SchemaPlace> {
  const waiting: SchemaPlace[] = [{ schema: root, path, keyword: '', isProperty: false }]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place
    if (isObject(place.schema)) waiting.push(...placesIn(place, place.schema).reverse())
  }
}

function placesIn(holder: SchemaPlace, schema: JsonObject): SchemaPlace[] {
  const isBelowProperties = holder.isProperty || holder.keyword === ''
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const hasMany = (LISTS.has(keyword) && Array.isArray(value)) || (MAPS.has(keyword) && isObject(value))
    if (!hasMany && !SINGLE.has(keyword)) return []
    const isProperty = keyword === 'properties' && isBelowProperties
    return Object.entries(hasMany ? (value as object) : { '': value }).map(([name, held]) => {
      return { schema: held, path: holder.path + pathSegment(keyword, name), keyword, isProperty }
    })
  })
}

function pathSegment(keyword: string, name: string): string {
  if (keyword === 'properties') return `.${name}`
  if (keyword === 'items' || keyword === 'prefixItems') return '[]'
  return keyword === 'additionalProperties' || keyword === 'patternProperties' ? '.*' : ''
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const HEADER_ANNOTATION = 'x-mcp-header'
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** How deep annotations are looked for: schemas of handlers may be cyclic. */
const MAX_DEPTH = 32

/** Whether an argument is mirrored in an HTTP header: one that is reached through `properties` alone. */
export function mirrorsArguments({ properties }: JsonObject, depth = 0): boolean {
  if (!isObject(properties) || depth >= MAX_DEPTH) return false
  return Object.values(properties).some((property) => {
    return isObject(property) && (Object.hasOwn(property, HEADER_ANNOTATION) || mirrorsArguments(property, depth + 1))
  })
}

/** What is wrong with an `x-mcp-header` annotation, and where; undefined when all are well. */
export function headerProblem(root: JsonObject, where: string): string | undefined {
  if (!JSON.stringify(root).includes(HEADER_ANNOTATION)) return undefined
  const seen = new Map<string, string>()
  for (const { schema, path, isProperty } of schemaPlaces(root, where)) {
    if (!isObject(schema) || !Object.hasOwn(schema, HEADER_ANNOTATION)) continue
    const header = schema[HEADER_ANNOTATION]
    const key = String(header).toLowerCase()
    const problem = isProperty
      ? (annotationProblem(header, schema) ??
        (seen.has(key) ? `"${header}" is used by ${seen.get(key)} already` : undefined))
      : 'can only stand on a property reached through "properties" alone'
    if (problem !== undefined) return `${path}: ${HEADER_ANNOTATION} ${problem}`
    seen.set(key, path)
  }
  return undefined
}

function annotationProblem(header: unknown, { type }: JsonObject): string | undefined {
  if (typeof header !== 'string' || !HEADER_NAME.test(header)) return 'must be the name of a header, such as "Region"'
  return HEADER_TYPES.includes(type) ? undefined : 'needs a "type" of "string", "integer" or "boolean"'
}
