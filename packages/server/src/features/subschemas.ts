/** Walks a JSON Schema: through the keywords that hold schemas, and through no data. */

import type { JsonObject } from '@mcpx/protocol'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Keywords that hold one schema. */
const SINGLE = /* @__PURE__ */ words(
  'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
    'not if then else contentSchema',
)
/** Those that hold a list of schemas. */
export const LISTS = /* @__PURE__ */ words('allOf anyOf oneOf prefixItems items')
/** Those that hold schemas under names. */
export const MAPS = /* @__PURE__ */ words(
  'properties patternProperties $defs definitions dependentSchemas dependencies',
)

/** A place where a schema belongs. */
export interface Place {
  readonly schema: unknown
  /** Of a value that the schema describes, as far as schemas tell it. */
  readonly path: string
  /** What holds it; nothing for the root. */
  readonly holder: Place | undefined
  /** Under which keyword it stands there, and after a slash under which name. */
  readonly key: string
  /** Whether `properties` alone lead to it. */
  readonly isProperty: boolean
}

/** The root, and all places below it, each before those that it holds. Keywords of which `ignores` says so are left out. */
export function* placesIn(
  schema: JsonObject,
  path: string,
  ignores: (keyword: string, schema: JsonObject) => boolean = () => false,
): Generator<Place> {
  const waiting: Place[] = [{ schema, path, holder: undefined, key: '', isProperty: false }]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place
    if (isObject(place.schema)) waiting.push(...heldBy(place, place.schema, ignores).reverse())
  }
}

function heldBy(holder: Place, schema: JsonObject, ignores: (keyword: string, schema: JsonObject) => boolean): Place[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (ignores(keyword, schema)) return []
    const isNamed = (LISTS.has(keyword) && Array.isArray(value)) || (MAPS.has(keyword) && isObject(value))
    if (!isNamed && !SINGLE.has(keyword)) return []
    const isProperty = keyword === 'properties' && (holder.isProperty || holder.holder === undefined)
    return Object.entries(isNamed ? (value as object) : { '': value }).map(([name, held]) => {
      const path = holder.path + stepOf(keyword, name)
      return { schema: held, path, holder, key: isNamed ? `${keyword}/${name}` : keyword, isProperty }
    })
  })
}

/** How a path goes on to what a schema under this keyword describes. */
function stepOf(keyword: string, name: string): string {
  if (keyword === 'properties') return `.${name}`
  if (keyword === 'items' || keyword === 'prefixItems') return '[]'
  return keyword === 'additionalProperties' || keyword === 'patternProperties' ? '.*' : ''
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
