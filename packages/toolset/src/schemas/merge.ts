/** Merges the schemas of `allOf` into one schema, and the alternatives at the root into one object. */
import { isObject, isSame, isString, type JsonObject, listOf, objectOf, omit } from './json.ts'

/** Called for each keyword that cannot be merged. The merged schema then accepts more values. */
type OnLoss = (keyword: string, message: string) => void

/** Groups of keywords whose meaning depends on each other. */
const GROUPS: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['items', 'prefixItems', 'additionalItems'],
  ['contains', 'minContains', 'maxContains'],
]
const LARGEST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const SMALLEST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
const CLOSING = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']

/** Returns a schema for the values that are valid for both schemas. Neither schema may have `$ref` or `allOf`. */
export function mergeSchemas(one: JsonObject, other: JsonObject, onLoss: OnLoss): JsonObject {
  const merged = { ...one }
  const skipped = new Set<string>()
  for (const keyword of CLOSING) {
    // Each of these keywords applies only to the properties of its own schema.
    if ((one[keyword] ?? other[keyword]) === undefined || isSame(one, other)) continue
    delete merged[keyword]
    skipped.add(keyword)
    onLoss(keyword, 'removed, because it concerned a part of allOf')
  }
  for (const group of GROUPS) {
    const isInBoth = [one, other].every((schema) => group.some((keyword) => schema[keyword] !== undefined))
    if (!isInBoth || group.every((keyword) => isSame(one[keyword], other[keyword]))) continue
    for (const keyword of group) skipped.add(keyword)
    onLoss(group[0] as string, 'used of the first part of allOf only')
  }
  for (const [keyword, value] of Object.entries(other)) {
    if (!skipped.has(keyword)) mergeKeyword(merged, keyword, value, onLoss)
  }
  return merged
}

function mergeKeyword(merged: JsonObject, keyword: string, value: unknown, onLoss: OnLoss): void {
  const own = merged[keyword]
  if (own === undefined) merged[keyword] = value
  else if (keyword === 'properties') merged.properties = mergeProperties(objectOf(own), objectOf(value))
  else if (isSame(own, value)) return
  else if (keyword === 'type' && commonTypes(own, value) !== undefined) merged.type = commonTypes(own, value)
  else if (keyword === 'required') merged.required = [...new Set([...listOf(own), ...listOf(value)])]
  else if (keyword === 'enum') merged.enum = commonValues(listOf(own), listOf(value))
  else if (LARGEST.includes(keyword)) merged[keyword] = Math.max(Number(own), Number(value))
  else if (SMALLEST.includes(keyword)) merged[keyword] = Math.min(Number(own), Number(value))
  else if (!['title', 'description', 'default', 'examples'].includes(keyword)) {
    onLoss(keyword, 'used of the first part of allOf only')
  }
}

function commonValues(one: readonly unknown[], other: readonly unknown[]): unknown[] {
  const values = new Set(other.map((each) => JSON.stringify(each)))
  return one.filter((each) => values.has(JSON.stringify(each)))
}

function commonTypes(one: unknown, other: unknown): unknown {
  const own = typesOf(one)
  const common = typesOf(other).flatMap((type) => {
    if (own.includes(type)) return [type]
    if (type === 'number' && own.includes('integer')) return ['integer']
    return type === 'integer' && own.includes('number') ? [type] : []
  })
  const types = [...new Set(common)]
  return types.length === 1 ? types[0] : types.length === 0 ? undefined : types
}

export function typesOf(type: unknown): readonly unknown[] {
  return Array.isArray(type) ? type : [type]
}

function mergeProperties(one: JsonObject, other: JsonObject): JsonObject {
  const merged = new Map(Object.entries(one))
  for (const [name, schema] of Object.entries(other)) merged.set(name, mergeProperty(merged.get(name), schema))
  return Object.fromEntries(merged)
}

function mergeProperty(own: unknown, schema: unknown): unknown {
  if (own === undefined) return schema
  // Add to an existing list, so that a property of many parts has one list and not nested lists.
  if (isObject(own) && Array.isArray(own.allOf) && Object.keys(own).length === 1)
    return { allOf: [...own.allOf, schema] }
  return isSame(own, schema) ? schema : { allOf: [own, schema] }
}

/**
 * Merges the alternatives at the root into one object. It has the properties of all alternatives, and requires the
 * properties that all alternatives require.
 */
export function mergeAlternatives(base: JsonObject, alternatives: readonly JsonObject[]): JsonObject {
  const properties = new Map(Object.entries(objectOf(base.properties)))
  const isClosed = base.additionalProperties === false
  const names = new Set(alternatives.flatMap((each) => Object.keys(objectOf(each.properties))))
  for (const name of names) {
    if (properties.has(name) || isClosed) continue
    const variants = alternatives.flatMap((each) => ownValue(objectOf(each.properties), name))
    const distinct = [...new Map(variants.map((each) => [JSON.stringify(each), each])).values()]
    properties.set(name, distinct.length === 1 ? distinct[0] : { anyOf: distinct })
  }
  const [first = new Set<string>(), ...others] = alternatives.map(
    ({ required }) => new Set(listOf(required).filter(isString)),
  )
  const shared = [...first].filter((name) => others.every((required) => required.has(name)))
  const required = new Set([...listOf(base.required), ...shared])
  return { ...base, properties: Object.fromEntries(properties), ...(required.size > 0 && { required: [...required] }) }
}

/**
 * Returns a list with the value of an own member, or an empty list. Checks own members only, because a property may be
 * named `constructor`.
 */
function ownValue(value: JsonObject, name: string): readonly unknown[] {
  return Object.hasOwn(value, name) ? [value[name]] : []
}

/** Converts a list in `items`, as in draft-07, to `prefixItems`. */
export function withoutOldTuple(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.items)) return omit(schema, ['additionalItems'])
  const { items: prefixItems, additionalItems, ...rest } = schema
  return {
    ...rest,
    prefixItems,
    ...(isObject(additionalItems) || additionalItems === false ? { items: additionalItems } : {}),
  }
}
