/** Reads a schema: checks each keyword against the dialect, and keeps what a check is made of. */

import type { Dialect } from './dialects.ts'
import { names as nameList } from './keywords/shapes.ts'
import { keywordOf } from './keywords.ts'
import { MAX_PLACE_LENGTH } from './limits.ts'
import { type Names, nameSchema } from './names.ts'
import type { CompilationOptions, Keywords, Node } from './node.ts'
import { strictPattern } from './patterns.ts'
import { isObject, placeIn } from './places.ts'
import { type Check, fail } from './run.ts'
import { refuse } from './schema-error.ts'

/** A reference that is followed when the whole schema was read. */
export interface Reference {
  readonly from: Keywords
  readonly keyword: string
  readonly text: string
  readonly base: string
  readonly place: string
}

/** What is known of a document while it is read. */
export interface Reading {
  readonly options: CompilationOptions
  readonly dialect: Dialect
  /** What was read, by place. */
  readonly nodes: Map<string, Node>
  readonly names: Names
  readonly references: Reference[]
}

/** Where the reading stands. */
interface Spot {
  readonly place: string
  readonly base: string
  /** The objects around. */
  readonly around: readonly unknown[]
  /** The keyword that holds the schema. */
  readonly keyword: string
}

const always: Check = () => true

const never = (keyword: string): Check => {
  const kind = keyword.endsWith('tems') ? 'item' : keyword.endsWith('roperties') && 'property'
  const message = kind ? `unexpected ${kind}` : 'is not allowed'
  return (_, run) => fail(run, String, message, 0)
}

/** Reads the schema at a spot and all the schemas in it. */
export function readSchema(raw: unknown, spot: Spot, reading: Reading): Node {
  const { place, around, keyword } = spot
  const { nodes, names, dialect } = reading
  // A reference may have led to a part before the whole.
  const known = nodes.get(place)
  if (known) return known
  refuseLarge(raw, spot, reading)
  const keywords: Keywords = {}
  if (typeof raw === 'boolean') {
    const node: Node = { keywords, test: raw ? always : never(keyword) }
    nodes.set(place, node)
    return node
  }
  if (!isObject(raw)) {
    const hint = Array.isArray(raw) && keyword === 'items' ? '; lists of schemas are called "prefixItems" now' : ''
    throw refuse('malformed', place, `must be a schema, which is an object or a boolean${hint}`)
  }
  const base = nameSchema(raw, place, spot.base, dialect, names)
  const node: Node = { keywords, base, test: always }
  nodes.set(place, node)
  const isReference = dialect === 'draft-07' && raw.$ref !== undefined
  const inside = [...around, raw]
  for (const [key, value] of Object.entries(raw)) {
    if (value === undefined || (isReference && !/^(\$ref|\$defs|definitions)$/.test(key))) continue
    readKeyword(value, { place: placeIn(place, key), base, around: inside, keyword: key }, keywords, reading)
  }
  return node
}

function refuseLarge(raw: unknown, { place, around }: Spot, { options, nodes }: Reading): void {
  const { maxSubschemas, maxDepth } = options.limits
  if (around.includes(raw)) throw refuse('malformed', place, 'is an object that contains itself; use "$ref" to recur')
  const problem =
    nodes.size >= maxSubschemas
      ? `a schema has at most ${maxSubschemas} subschemas (maxSubschemas)`
      : around.length >= maxDepth
        ? `schemas nest at most ${maxDepth} deep (maxDepth)`
        : place.length > MAX_PLACE_LENGTH
          ? `the names on the way to a subschema have at most ${MAX_PLACE_LENGTH} characters`
          : undefined
  if (problem) throw refuse('limit', place, problem)
}

/** Keeps what a check needs of a keyword: its value, with what subschemas it holds read. */
function readKeyword(value: unknown, spot: Spot, keywords: Keywords, reading: Reading): void {
  const { keyword, place, base } = spot
  const { dialect } = reading
  const [shape, , only = dialect] = keywordOf(keyword) ?? []
  if (!shape || only !== dialect) return
  const read = (raw: unknown, key: string | number) => readSchema(raw, { ...spot, place: placeIn(place, key) }, reading)
  const isList = Array.isArray(value)
  if (shape === 'many' || (isList && keyword === 'items' && dialect === 'draft-07')) {
    const mayBeEmpty = keyword.endsWith('tems')
    if (!isList || (value.length === 0 && !mayBeEmpty)) {
      throw refuse('malformed', place, 'must be a list of at least one schema')
    }
    keywords[keyword] = value.map(read)
  } else if (shape === 'one') {
    keywords[keyword] = readSchema(value, spot, reading)
  } else if (shape === 'map') {
    keywords[keyword] = readMembers(value, spot, read, reading)
  } else {
    const [must, allows] = shape
    if (!allows(value)) throw refuse('malformed', place, `must be ${must}`)
    if (!keyword.endsWith('ef')) {
      keywords[keyword] = keyword === 'pattern' ? readPattern(value as string, place, reading) : value
    } else if (keyword === '$ref' || (keyword === '$dynamicRef' && dialect !== 'draft-07')) {
      reading.references.push({ from: keywords, keyword, text: value as string, base, place })
    } else {
      throw refuse('reference', place, `"${keyword}" is not supported in a schema of the dialect ${dialect}`)
    }
  }
}

function readMembers(
  value: unknown,
  { keyword, place }: Spot,
  read: (raw: unknown, key: string) => Node,
  reading: Reading,
): unknown {
  if (!isObject(value)) throw refuse('malformed', place, 'must be an object')
  const byPattern = keyword === 'patternProperties'
  if (byPattern && !reading.options.assertPatterns) {
    throw refuse('limit', place, 'cannot be checked, because patterns are not to be tested')
  }
  const [must, allows] = nameList
  return Object.entries(value).flatMap(([key, raw]) => {
    if (raw === undefined) return []
    const at = placeIn(place, key)
    const name = byPattern ? readPattern(key, at, reading) : key
    const either = keyword === 'dependencies'
    const isNames = keyword === 'dependentRequired' || (either && Array.isArray(raw))
    if (isNames && !allows(raw)) throw refuse('malformed', at, `must be ${either ? 'a schema or ' : ''}${must}`)
    return [[name, isNames ? raw : read(raw, key)]]
  })
}

function readPattern(pattern: string, place: string, { options }: Reading): string {
  const { maxPatternLength } = options.limits
  if (pattern.length > maxPatternLength) {
    throw refuse('limit', place, `a regular expression has at most ${maxPatternLength} characters (maxPatternLength)`)
  }
  const strict = strictPattern(pattern)
  if (strict !== undefined) return strict
  throw refuse('malformed', place, 'must be a regular expression, as JavaScript reads it with the flag "u"')
}
