/** A simple view of a JSON Schema for the command line: the names of the properties, the types and the choices. */

import { isObject } from '@mcpx/protocol'

/** The facts about a schema, with its references and alternatives merged. */
export interface SchemaView {
  /** The names of the properties. */
  readonly names: readonly string[]
  /** The accepted types, such as `string`; empty if any value is accepted. */
  readonly types: ReadonlySet<string>
  /** The values of `enum` and `const`. */
  readonly choices: readonly unknown[]
  /** Whether further properties are accepted: the schema says so, or says nothing about properties. */
  readonly isOpen: boolean
  /** The first description. */
  readonly description: string | undefined
  /** The merged schemas, and the whole schema, in which references are resolved. */
  readonly parts: readonly Record<string, unknown>[]
  readonly root: unknown
}

/** Deeper alternatives and references are ignored. */
const MAX_DEPTH = 8
/** Further parts are ignored, because a hostile schema may have very many. */
const MAX_PARTS = 200

/** Returns the view of a schema. */
export function viewOf(schema: unknown, root: unknown): SchemaView {
  const parts: Record<string, unknown>[] = []
  collectParts(schema, root, parts, 0)
  const names = new Set(parts.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
  const choices = parts.flatMap(({ enum: values, const: constant }) => [
    ...(Array.isArray(values) ? values : []),
    ...(constant === undefined ? [] : [constant]),
  ])
  const types = new Set([
    ...parts.flatMap(({ type }) => type).filter((type) => typeof type === 'string'),
    ...choices.map(typeOf),
  ])
  const accepts = parts.some(
    ({ additionalProperties: more, patternProperties }) =>
      more === true || isObject(more) || isObject(patternProperties),
  )
  const descriptions = parts.map(({ description }) => description).filter((each) => typeof each === 'string')
  return {
    names: [...names],
    types,
    choices,
    isOpen: accepts || (names.size === 0 && !isClosed(parts)),
    description: descriptions[0],
    parts,
    root,
  }
}

/**
 * Returns the schema of a property. For the name `items`, returns the schema of the array items if there is no such
 * property.
 */
export function propertySchema({ parts, root, names }: SchemaView, name: string): SchemaView {
  const schemas = parts.flatMap(({ properties, additionalProperties, items }) => {
    if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]]
    if (names.includes(name)) return []
    return name === 'items' && items !== undefined ? [items] : [additionalProperties]
  })
  return viewOf({ anyOf: schemas.filter(isObject) }, root)
}

/** Returns the schema that a reference such as `#/$defs/Point` refers to, or undefined. */
export function resolveReference(reference: string, root: unknown): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodePart(part))
    .reduce<unknown>((value, key) => {
      const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      return isOwn ? (value as Record<string, unknown>)[key] : undefined
    }, root)
}

function decodePart(part: string): string {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function collectParts(schema: unknown, root: unknown, parts: Record<string, unknown>[], depth: number): void {
  if (!isObject(schema) || depth > MAX_DEPTH || parts.length >= MAX_PARTS) return
  parts.push(schema)
  const { $ref, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') collectParts(resolveReference($ref, root), root, parts, depth + 1)
  for (const each of [anyOf, oneOf, allOf].flat()) collectParts(each, root, parts, depth + 1)
}

/** Returns whether the schema has no properties and accepts none. */
function isClosed(parts: readonly Record<string, unknown>[]): boolean {
  return parts.some(
    ({ type, properties, additionalProperties }) =>
      additionalProperties === false || (type === 'object' && isObject(properties)),
  )
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
