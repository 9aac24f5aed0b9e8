/**
 * Removes `null` values that a model sends instead of missing properties, because a strict mode requires all
 * properties.
 */
import { isObject, type JsonObject, listOf, objectOf } from './json.ts'
import { typesOf } from './merge.ts'
import { resolveReference } from './references.ts'

/**
 * Returns the value without properties that are `null`, optional, and do not accept `null`. A `null` that one of
 * several alternatives accepts is kept.
 */
export function removeNulls(value: unknown, document: JsonObject): unknown {
  return removeFrom(value, [document], document)
}

/** Removes such properties from a value to which at least one of the schemas applies. */
function removeFrom(value: unknown, schemas: readonly unknown[], document: JsonObject): unknown {
  const facets = schemas.flatMap((schema) => facetsOf(schema, document))
  if (Array.isArray(value)) {
    return value.map((each, index) => {
      const inner = facets.map(({ items, prefixItems }) => {
        const tuple = Array.isArray(items) ? items : listOf(prefixItems)
        return tuple[index] ?? items
      })
      return removeFrom(each, inner, document)
    })
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const isRequired = facets.some(({ required }) => listOf(required).includes(name))
    if (each === null && !isRequired && !schemas.some((schema) => allowsNullAs(name, schema, document))) return []
    const inner = facets.map(({ properties }) => objectOf(properties)[name]).filter((schema) => schema !== undefined)
    return [[name, removeFrom(each, inner, document)] as const]
  })
  return Object.fromEntries(entries)
}

/** Returns whether a property of an object may be `null`. Returns false for `patternProperties`, whose patterns are not run. */
function allowsNullAs(name: string, schema: unknown, document: JsonObject, refs: readonly string[] = []): boolean {
  if (!isObject(schema)) return schema !== false
  const resolved = resolveReference(schema, refs, document)
  const { properties, patternProperties, additionalProperties = true, allOf, anyOf, oneOf } = resolved.schema
  if (patternProperties !== undefined || !acceptsObjects(resolved.schema)) return false
  const declared = objectOf(properties)
  const own = Object.hasOwn(declared, name) ? declared[name] : additionalProperties
  const allows = (each: unknown) => allowsNullAs(name, each, document, resolved.refs)
  return acceptsNull(own, document) && isPossible({ allOf, anyOf, oneOf }, allows)
}

/** Returns whether an object may be valid for a schema, according to its type and its values. */
function acceptsObjects({ type, enum: values, const: value }: JsonObject): boolean {
  if (type !== undefined && !typesOf(type).includes('object')) return false
  if (values !== undefined && !listOf(values).some(isObject)) return false
  return value === undefined || isObject(value)
}

/** Returns a schema and the schemas in its `allOf`, `anyOf` and `oneOf`, with references replaced. */
function facetsOf(schema: unknown, document: JsonObject, refs: readonly string[] = []): readonly JsonObject[] {
  if (!isObject(schema)) return []
  const resolved = resolveReference(schema, refs, document)
  const { allOf, anyOf, oneOf } = resolved.schema
  const parts = [allOf, anyOf, oneOf].flatMap(listOf).flatMap((each) => facetsOf(each, document, resolved.refs))
  return [resolved.schema, ...parts]
}

/**
 * Returns whether `null` is valid for a schema. Returns false for a schema with conditions; then `null` is removed from
 * an optional property.
 */
export function acceptsNull(schema: unknown, document: JsonObject, refs: readonly string[] = []): boolean {
  if (!isObject(schema)) return schema !== false
  const resolved = resolveReference(schema, refs, document)
  const { type, enum: values, const: value, allOf, anyOf, oneOf, not, if: condition } = resolved.schema
  if ((not ?? condition) !== undefined) return false
  if (type !== undefined && !typesOf(type).includes('null')) return false
  if (values !== undefined && !listOf(values).includes(null)) return false
  if (value !== undefined && value !== null) return false
  const accepts = (each: unknown) => acceptsNull(each, document, resolved.refs)
  const isOne = oneOf === undefined || listOf(oneOf).filter(accepts).length === 1
  return isOne && isPossible({ allOf, anyOf }, accepts)
}

function isPossible({ allOf, anyOf, oneOf }: JsonObject, accepts: (schema: unknown) => boolean): boolean {
  return listOf(allOf).every(accepts) && [anyOf, oneOf].every((any) => any === undefined || listOf(any).some(accepts))
}
