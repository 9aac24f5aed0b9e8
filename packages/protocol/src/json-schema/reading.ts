/** Reads a schema: checks each keyword against the dialect, and copies what the evaluator knows. */

import type { Applicator, Dialect } from './dialects.ts'
import { guardedPattern, guardedUniqueItems, isAssertedFormat, type Maker, never } from './guards.ts'
import { faultOf, isNameList } from './keyword-values.ts'
import { type JsonSchemaLimits, MAX_PLACE_LENGTH } from './limits.ts'
import { LoweredSchema, type Subschema } from './lowered-schema.ts'
import type { Names } from './names.ts'
import { strictPattern } from './patterns.ts'
import { placeIn } from './places.ts'
import { JsonSchemaError, type JsonSchemaErrorReason } from './schema-error.ts'

/** A reference that is followed when the whole schema was read. */
export interface Reference {
  readonly from: LoweredSchema
  readonly keyword: string
  readonly text: string
  readonly base: string
  readonly place: string
}

/** What is known of a document while it is read. */
export interface Reading extends Maker {
  readonly dialect: Dialect
  readonly limits: Readonly<JsonSchemaLimits>
  readonly assertFormats: boolean
  readonly assertPatterns: boolean
  /** What was read, by place. */
  readonly schemas: Map<string, Subschema>
  readonly names: Names
  readonly references: Reference[]
  readonly isolated: Map<LoweredSchema, LoweredSchema>
  keyPatterns: number
}

/** Where the reading stands. */
interface Spot {
  readonly place: string
  readonly base: string
  /** The objects around. */
  readonly around: readonly unknown[]
}

export function refuse(reason: JsonSchemaErrorReason, place: string, problem: string): JsonSchemaError {
  return new JsonSchemaError(reason, `#${place}`, problem)
}

/** Reads the schema at a spot and all the schemas in it. */
export function readSchema(raw: unknown, { place, base, around }: Spot, reading: Reading): Subschema {
  const { limits, schemas, names, dialect } = reading
  if (schemas.size >= limits.maxSubschemas) {
    throw refuse('limit', place, `a schema has at most ${limits.maxSubschemas} subschemas (maxSubschemas)`)
  }
  if (around.includes(raw)) throw refuse('malformed', place, 'is an object that contains itself; use "$ref" to recur')
  if (around.length >= limits.maxDepth) {
    throw refuse('limit', place, `schemas nest at most ${limits.maxDepth} deep (maxDepth)`)
  }
  if (place.length > MAX_PLACE_LENGTH) {
    throw refuse('limit', place, `the names on the way to a subschema have at most ${MAX_PLACE_LENGTH} characters`)
  }
  if (typeof raw === 'boolean') {
    const lowered = raw || never(reading, 'refuses')
    schemas.set(place, lowered)
    return lowered
  }
  if (!isObject(raw)) {
    const hint = Array.isArray(raw) && place.endsWith('/items') ? '; lists of schemas are called "prefixItems" now' : ''
    throw refuse('malformed', place, `must be a schema, which is an object or a boolean${hint}`)
  }
  const lowered = new LoweredSchema(reading.meter)
  schemas.set(place, lowered)
  readKeywords(raw, lowered, { place, base: names.add(raw, place, base, dialect), around: [...around, raw] }, reading)
  return lowered
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readKeywords(
  raw: Readonly<Record<string, unknown>>,
  lowered: LoweredSchema,
  spot: Spot,
  reading: Reading,
): void {
  const { dialect } = reading
  const onlyReference = dialect.name === 'draft-07' && raw.$ref !== undefined
  const guards: LoweredSchema[] = []
  for (const [keyword, value] of Object.entries(raw)) {
    if (value === undefined || dialect.foreign.has(keyword)) continue
    if (onlyReference && !['$ref', '$defs', 'definitions'].includes(keyword)) continue
    const within: Spot = { ...spot, place: placeIn(spot.place, keyword) }
    const applicator = Object.hasOwn(dialect.applicators, keyword) ? dialect.applicators[keyword] : undefined
    if (applicator) lowered.set(keyword, readApplicator(applicator, keyword, value, within, reading))
    else readValue(lowered, keyword, value, within, guards, reading)
  }
  if (guards.length > 0) lowered.set('allOf', [...(lowered.allOf ?? []), ...guards])
}

function readApplicator(kind: Applicator, keyword: string, value: unknown, spot: Spot, reading: Reading): unknown {
  const read = (raw: unknown, key: string | number) =>
    readSchema(raw, { ...spot, place: placeIn(spot.place, key) }, reading)
  if (kind === 'many' || (kind === 'one or many' && Array.isArray(value))) {
    const mayBeEmpty = keyword === 'prefixItems' || keyword === 'items'
    if (Array.isArray(value) && (value.length > 0 || mayBeEmpty)) return value.map(read)
    throw refuse('malformed', spot.place, 'must be a list of at least one schema')
  }
  if (kind === 'one' || kind === 'one or many') return readSchema(value, spot, reading)
  if (!isObject(value)) throw refuse('malformed', spot.place, 'must be an object')
  if (keyword === 'patternProperties' && !reading.assertPatterns) {
    throw refuse('limit', spot.place, 'cannot be checked, because patterns are not to be tested')
  }
  const entries = Object.entries(value).filter(([, raw]) => raw !== undefined)
  const map: Record<string, unknown> = Object.create(null)
  for (const [key, raw] of entries) {
    const name = keyword === 'patternProperties' ? readPattern(key, placeIn(spot.place, key), reading) : key
    const names = kind === 'map or names' && Array.isArray(raw)
    if (names && !isNameList(raw)) {
      throw refuse('malformed', placeIn(spot.place, key), 'must be a schema or a list of different strings')
    }
    map[name] = names ? raw : read(raw, key)
  }
  if (keyword === 'patternProperties') reading.keyPatterns = Math.max(reading.keyPatterns, entries.length)
  return map
}

function readPattern(pattern: string, place: string, { limits }: Reading): string {
  if (pattern.length > limits.maxPatternLength) {
    const most = `has at most ${limits.maxPatternLength} characters (maxPatternLength)`
    throw refuse('limit', place, `a regular expression ${most}`)
  }
  const strict = strictPattern(pattern)
  if (strict === undefined)
    throw refuse('malformed', place, 'must be a regular expression, as JavaScript reads it with the flag "u"')
  return strict
}

function readValue(
  lowered: LoweredSchema,
  keyword: string,
  value: unknown,
  { place, base }: Spot,
  guards: LoweredSchema[],
  reading: Reading,
): void {
  const { dialect, limits, references, assertFormats, assertPatterns } = reading
  const fault = faultOf(keyword, value)
  if (fault) throw refuse('malformed', fault.path === undefined ? place : placeIn(place, fault.path), fault.must)
  if (keyword === '$ref' || keyword === '$dynamicRef' || keyword === '$recursiveRef') {
    if (!dialect.references.has(keyword)) {
      throw refuse('reference', place, `"${keyword}" is not supported in a schema of the dialect ${dialect.name}`)
    }
    references.push({ from: lowered, keyword, text: String(value), base, place })
  } else if (keyword === 'pattern') {
    const pattern = readPattern(String(value), place, reading)
    if (assertPatterns) guards.push(guardedPattern(reading, pattern, limits.maxPatternInput))
  } else if (keyword === 'uniqueItems') {
    if (value) guards.push(guardedUniqueItems(reading))
  } else if (value === 'integer' && keyword === 'type') {
    // As one of a list, the evaluator takes it to leave out infinity, which JSON.parse makes of 1e999.
    lowered.set(keyword, [value])
  } else if (keyword !== 'format' || (assertFormats && isAssertedFormat(String(value)))) {
    lowered.set(keyword, value)
  }
}
