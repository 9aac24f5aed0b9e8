/** Reads a schema document: validates each keyword for the dialect, and creates the nodes of all subschemas. */

import { type Check, failWith } from './evaluate.ts'
import { toUnicodePattern } from './formats.ts'
import { appendToPointer, isObject, type JsonObject, tryOrUndefined } from './json.ts'
import {
  type CompileOptions,
  type Dialect,
  type Keywords,
  nameListRule,
  type SchemaNode,
  type ValueRule,
} from './keyword.ts'
import { findKeyword } from './keyword-table.ts'
import { MAX_NAME_LENGTH } from './limits.ts'
import { truncate } from './messages.ts'
import { schemaError } from './schema-error.ts'

/** The dialects that `$schema` may name. A schema without `$schema` uses the first. */
export const SUPPORTED_DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
] as const

/** A reference. It is resolved after the whole document was read. */
export interface Reference {
  readonly from: Keywords
  readonly keyword: string
  readonly text: string
  readonly base: string
  readonly pointer: string
}

interface Target {
  readonly pointer: string
  /** The schema object. The same object may be used in several places. */
  readonly raw: object
}

/** The state while one document is read. */
export interface SchemaDocument {
  readonly options: CompileOptions
  readonly dialect: Dialect
  /** The nodes by JSON pointer. */
  readonly nodes: Map<string, SchemaNode>
  /** Schemas by URI, and by URI with an anchor as fragment (JSON Schema Core, section 8.2). */
  readonly targets: Map<string, Target>
  readonly dynamicAnchors: Map<string, Target[]>
  readonly references: Reference[]
}

export interface Location {
  readonly pointer: string
  /** The base URI of references. */
  readonly base: string
  /** The schema objects that contain this place. */
  readonly ancestors: readonly unknown[]
  /** The keyword that contains the schema. */
  readonly keyword: string
}

/** Returns the dialect that `$schema` names, or the default without `$schema`. */
export function dialectOf($schema: unknown, pointer: string, defaultDialect: Dialect = '2020-12'): Dialect {
  if ($schema === undefined) return defaultDialect
  const json = truncate(JSON.stringify($schema) ?? 'undefined', 100)
  const [, found] = /^"https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?"$/.exec(json) ?? []
  if (found) return found === 'draft-07' ? found : '2020-12'
  const problem = `the dialect ${json} is not supported; supported are ${SUPPORTED_DIALECTS.join(' and ')}`
  throw schemaError('dialect', `${pointer}/$schema`, problem)
}

/** Resolves a reference to an absolute URI. Returns undefined if it is invalid. */
export function resolveUri(reference: string, base: string): string | undefined {
  return tryOrUndefined(() => new URL(reference, base).href)
}

const ITEM_KEYWORDS = ['prefixItems', 'items', 'additionalItems', 'unevaluatedItems']
const PROPERTY_KEYWORDS = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']
const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef']

const checkTrue: Check = () => true

/** Creates the check of the schema `false`. */
const checkFalse = (keyword: string): Check => {
  const unexpected = ITEM_KEYWORDS.includes(keyword) ? 'item' : PROPERTY_KEYWORDS.includes(keyword) && 'property'
  const message = unexpected ? `unexpected ${unexpected}` : 'is not allowed'
  return (_, evaluation) => failWith(evaluation, String, message, 0)
}

/** Reads a schema and all of its subschemas. */
export function readSchema(raw: unknown, location: Location, document: SchemaDocument): SchemaNode {
  const { pointer, ancestors, keyword } = location
  const { nodes, dialect } = document
  // The schema may already have been read as the target of a reference.
  const known = nodes.get(pointer)
  if (known) return known
  assertWithinLimits(raw, location, document)
  const keywords: Keywords = {}
  if (typeof raw === 'boolean') {
    const node: SchemaNode = { keywords, check: raw ? checkTrue : checkFalse(keyword) }
    nodes.set(pointer, node)
    return node
  }
  if (!isObject(raw)) {
    const hint = Array.isArray(raw) && keyword === 'items' ? '; lists of schemas are called "prefixItems" now' : ''
    throw schemaError('malformed', pointer, `must be a schema, which is an object or a boolean${hint}`)
  }
  const base = registerNames(raw, location, document)
  const node: SchemaNode = { keywords, base, check: checkTrue }
  nodes.set(pointer, node)
  // In draft-07, all keywords next to `$ref` are ignored, except the definitions that references may name.
  const isOnlyReference = dialect === 'draft-07' && raw.$ref !== undefined
  const inner = { base, ancestors: [...ancestors, raw] }
  for (const [key, value] of Object.entries(raw)) {
    if (value === undefined || (isOnlyReference && !/^(\$ref|\$defs|definitions)$/.test(key))) continue
    readKeyword(value, { ...inner, pointer: appendToPointer(pointer, key), keyword: key }, keywords, document)
  }
  return node
}

function assertWithinLimits(raw: unknown, { pointer, ancestors }: Location, { options, nodes }: SchemaDocument): void {
  const { maxSubschemas, maxDepth } = options.limits
  if (ancestors.includes(raw)) {
    throw schemaError('malformed', pointer, 'is an object that contains itself; use "$ref" for recursion')
  }
  if (nodes.size >= maxSubschemas) {
    throw schemaError('limit', pointer, `a schema has at most ${maxSubschemas} subschemas (maxSubschemas)`)
  }
  if (ancestors.length >= maxDepth) {
    throw schemaError('limit', pointer, `schemas nest at most ${maxDepth} deep (maxDepth)`)
  }
  assertShort(pointer, 'the path of a subschema has', pointer)
}

/** Throws a `JsonSchemaError` for a string that is too long. The message begins with `subject`. */
function assertShort(text: unknown, subject: string, pointer: string): void {
  if (typeof text !== 'string' || text.length <= MAX_NAME_LENGTH) return
  throw schemaError('limit', pointer, `${subject} at most ${MAX_NAME_LENGTH} characters`)
}

const stringOrEmpty = (value: unknown) => (typeof value === 'string' ? value : '')

/** Registers the `$id` and the anchors of a schema. Returns the base URI of the references in it. */
function registerNames(raw: JsonObject, { pointer, base: outer }: Location, document: SchemaDocument): string {
  const { dialect, targets, dynamicAnchors } = document
  const isDraft07 = dialect === 'draft-07'
  const { $schema, $id, $ref, $anchor, $dynamicAnchor } = raw
  if (dialectOf($schema, pointer, dialect) !== dialect) {
    throw schemaError(
      'dialect',
      `${pointer}/$schema`,
      `must be absent or name ${dialect}, the dialect of the whole schema`,
    )
  }
  const [uri, fragment] = isDraft07 && $ref !== undefined ? [] : stringOrEmpty($id).split('#')
  const base = uri ? resolveUri(uri, outer) : outer
  if (!base) throw schemaError('malformed', `${pointer}/$id`, 'must be a URI')
  if (fragment && !isDraft07) throw schemaError('malformed', `${pointer}/$id`, 'must have no fragment; use "$anchor"')
  const dynamicAnchor = isDraft07 ? '' : stringOrEmpty($dynamicAnchor)
  const anchors = [isDraft07 ? fragment : stringOrEmpty($anchor), dynamicAnchor]
  const names = anchors.flatMap((anchor) => (anchor ? `${base}#${anchor}` : []))
  if (uri || !pointer) names.unshift(base)
  for (const name of names) {
    assertShort(name, 'an absolute URI, with its anchor, has', pointer)
    const known = targets.get(name)
    if (known && known.raw !== raw) {
      throw schemaError('malformed', pointer, `has the same "$id" or anchor as #${truncate(known.pointer, 200)}`)
    }
    if (!known) targets.set(name, { pointer, raw })
  }
  const sameAnchor = dynamicAnchors.get(dynamicAnchor) ?? []
  if (dynamicAnchor && sameAnchor.every((target) => target.raw !== raw)) {
    dynamicAnchors.set(dynamicAnchor, [...sameAnchor, { pointer, raw }])
  }
  return base
}

/**
 * Stores the value of a keyword. Schemas in the value are replaced with their nodes. Ignores keywords that the dialect
 * does not have.
 */
function readKeyword(value: unknown, location: Location, keywords: Keywords, document: SchemaDocument): void {
  const { keyword, pointer, base } = location
  const { dialect } = document
  const { holds: valueKind, dialect: requiredDialect = dialect } = findKeyword(keyword) ?? {}
  if (!valueKind || requiredDialect !== dialect) return
  const isList = Array.isArray(value)
  if (valueKind === 'list' || (isList && keyword === 'items' && dialect === 'draft-07')) {
    const mayBeEmpty = ITEM_KEYWORDS.includes(keyword)
    if (!isList || (value.length === 0 && !mayBeEmpty)) {
      throw schemaError('malformed', pointer, `must be a list of ${mayBeEmpty ? 'schemas' : 'at least one schema'}`)
    }
    keywords[keyword] = value.map((item, index) => {
      return readSchema(item, { ...location, pointer: appendToPointer(pointer, index) }, document)
    })
  } else if (valueKind === 'schema') {
    keywords[keyword] = readSchema(value, location, document)
  } else if (valueKind === 'map') {
    keywords[keyword] = readMembers(value, location, document)
  } else if (!acceptsValue(valueKind, value, pointer)) {
    throw schemaError('malformed', pointer, `must be ${valueKind.expected}`)
  } else if (!REFERENCE_KEYWORDS.includes(keyword)) {
    keywords[keyword] = keyword === 'pattern' ? readPattern(value as string, pointer, document) : value
  } else if (keyword === '$ref' || (keyword === '$dynamicRef' && dialect !== 'draft-07')) {
    assertShort(value, 'a reference has', pointer)
    document.references.push({ from: keywords, keyword, text: value as string, base, pointer })
  } else {
    throw schemaError('reference', pointer, `"${keyword}" is not supported in a schema of the dialect ${dialect}`)
  }
}

/** Returns whether a value fits a rule. Throws a `JsonSchemaError` for a list with a name that is too long. */
function acceptsValue(rule: ValueRule, value: unknown, pointer: string): boolean {
  if (rule === nameListRule && Array.isArray(value)) {
    for (const name of value) assertShort(name, 'a property name has', pointer)
  }
  return rule.accepts(value)
}

/**
 * Reads an object whose members are schemas. The members of `dependentRequired` are lists of property names; the members
 * of `dependencies` are either.
 */
function readMembers(value: unknown, location: Location, document: SchemaDocument): unknown {
  const { keyword, pointer } = location
  if (!isObject(value)) throw schemaError('malformed', pointer, 'must be an object')
  const hasPatterns = keyword === 'patternProperties'
  return Object.entries(value).flatMap(([key, raw]) => {
    if (raw === undefined) return []
    const memberPointer = appendToPointer(pointer, key)
    const name = hasPatterns ? readPattern(key, memberPointer, document) : key
    const mayBeSchema = keyword !== 'dependentRequired'
    const isNameList = !mayBeSchema || (keyword === 'dependencies' && Array.isArray(raw))
    if (!isNameList) return [[name, readSchema(raw, { ...location, pointer: memberPointer }, document)]]
    if (acceptsValue(nameListRule, raw, memberPointer)) return [[name, raw]]
    const expected = `${mayBeSchema ? 'a schema or ' : ''}${nameListRule.expected}`
    throw schemaError('malformed', memberPointer, `must be ${expected}`)
  })
}

function readPattern(pattern: string, pointer: string, { options }: SchemaDocument): string {
  const { maxPatternLength } = options.limits
  if (pattern.length > maxPatternLength) {
    const problem = `a regular expression has at most ${maxPatternLength} characters (maxPatternLength)`
    throw schemaError('limit', pointer, problem)
  }
  const unicodePattern = toUnicodePattern(pattern)
  if (unicodePattern !== undefined) return unicodePattern
  throw schemaError('malformed', pointer, 'must be a regular expression that is valid in JavaScript with the flag "u"')
}
