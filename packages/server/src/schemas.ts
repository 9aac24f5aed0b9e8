/** Prepares the schemas of tools and prompts: the JSON Schema for clients, its `x-mcp-header` annotations, and the check. */

import { createJsonSchemaValidator } from '@mcpx/json-schema'
import {
  type AnySchema,
  type CompiledSchema,
  isObject,
  type JsonObject,
  type JsonSchemaValidator,
  kindOf,
  placeOf,
  quoted,
  type SchemaIssue,
  type StandardSchema,
} from '@mcpx/protocol'
import { RegistrationError, reasonOf } from './errors.ts'
import { createStandardCheck } from './schema-check.ts'

/** A problem of a value. `at` is the whole path, if the validator has returned the path as a string. */
export interface Issue extends SchemaIssue {
  readonly at?: string
}

export type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly value?: undefined; readonly issues: readonly Issue[] }

/** Checks a value. Returns the converted value or the issues. */
export type CheckSchema = (value: unknown) => Checked | Promise<Checked>

export interface PreparedSchema {
  /** The JSON Schema that clients see. */
  readonly json: JsonObject
  readonly check: CheckSchema
}

export interface SchemaOptions {
  readonly validator: JsonSchemaValidator
  /** Called with warnings. */
  readonly warn: (message: string) => void
}

export interface SchemaUse extends SchemaOptions {
  /** The beginning of error messages, such as `Tool "add", input`. */
  readonly where: string
  /** The beginning of paths in checked values. */
  readonly root: string
  /** Whether clients see the input or the output of the schema. */
  readonly side: 'input' | 'output'
}

let defaultValidator: JsonSchemaValidator | undefined

export function getDefaultValidator(): JsonSchemaValidator {
  defaultValidator ??= createJsonSchemaValidator()
  return defaultValidator
}

/** The default dialect. */
const DEFAULT_DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** Prepares a schema. Throws a `RegistrationError` if it is invalid or cannot be converted to JSON Schema. */
export function prepareSchema(schema: AnySchema, use: SchemaUse): PreparedSchema {
  const { where, root, validator, warn } = use
  const json = toJsonSchema(schema, use)
  // Libraries add the default `$schema`, which is removed. A `$schema` of the author is kept.
  if (isStandard(schema) && typeof json.$schema === 'string' && DEFAULT_DIALECT.test(json.$schema)) {
    delete json.$schema
  }
  if (Object.keys(json).every((keyword) => keyword === '$schema')) {
    throw new RegistrationError(`${where}: the schema is empty; describe the value`)
  }
  warnOfEmptyProperties(json, where, warn)
  if (isStandard(schema)) return { json, check: createStandardCheck(schema) }
  return { json, check: createJsonCheck(compile(validator, json, where), root) }
}

/** Prepares a schema that must describe an object. Adds `type: "object"` at the root of its JSON Schema. */
export function prepareObjectSchema(schema: AnySchema, use: SchemaUse): PreparedSchema {
  const { json, check } = prepareSchema(schema, use)
  if (json.type === 'object') return { json, check }
  // Libraries convert unions of objects without `type`. Adding it does not change the meaning.
  if (describesObjects(json, json, new Map())) return { json: { type: 'object', ...json }, check }
  const found = typeof json.type === 'string' ? `it is of type "${json.type}"` : 'it may be something else'
  throw new RegistrationError(`${use.where}: must be an object, but ${found}; put it into a property of an object`)
}

/**
 * Creates a check for values that were written as JSON, with the JSON Schema that clients see. The check of a library's
 * schema expects the original values instead. The schema is compiled on first use. Returns undefined for a plain JSON
 * Schema, whose own check has the same effect.
 */
export function createOutputCheck(schema: AnySchema, json: JsonObject, use: SchemaUse): CheckSchema | undefined {
  if (!isStandard(schema)) return undefined
  let check: CheckSchema | undefined
  return (value) => {
    check ??= createJsonCheck(compile(use.validator, json, use.where), use.root)
    return check(value)
  }
}

function compile(validator: JsonSchemaValidator, schema: JsonObject, where: string): CompiledSchema {
  try {
    return validator.compile(schema)
  } catch (cause) {
    throw new RegistrationError(`${where}: ${reasonOf(cause)}`, { cause })
  }
}

function createJsonCheck(compiled: CompiledSchema, root: string): CheckSchema {
  return (value) => {
    const verdict = compiled(value, root)
    if (verdict.valid) return { value }
    return { issues: verdict.problems.map(({ path, message }) => ({ at: path, message })) }
  }
}

const WRAP_REMEDY = 'put the properties into one object schema, such as z.object({ … })'

function toJsonSchema(schema: AnySchema, { side, where }: SchemaUse): JsonObject {
  if (isStandard(schema)) return convertSchema(schema, side, where)
  if (isZod3(schema)) throw new RegistrationError(`${where}: ${conversionProblem('zod', schema)}`)
  if (isEffect(schema)) throw new RegistrationError(`${where}: ${conversionProblem('effect', schema)}`)
  if (!isObject(schema)) throw new RegistrationError(`${where}: expected a schema, got ${kindOf(schema)}`)
  const stray = Object.keys(schema).find((key) => isStandard((schema as JsonObject)[key] as AnySchema))
  if (stray !== undefined)
    throw new RegistrationError(`${where}: expected one schema, but ${quoted(stray)} is a schema too; ${WRAP_REMEDY}`)
  try {
    return copyJson(schema)
  } catch (cause) {
    throw new RegistrationError(`${where}: ${reasonOf(cause)}`, { cause })
  }
}

function isStandard(schema: AnySchema): schema is StandardSchema {
  const isHolder = typeof schema === 'function' || (typeof schema === 'object' && schema !== null)
  return isHolder && '~standard' in schema && isObject(schema['~standard'])
}

/** Returns a deep copy. Throws for a circular schema. */
function copyJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

/** Marks a place that a library could not convert to JSON Schema. */
const UNCONVERTIBLE = '~unconvertible'

/** Called by ArkType for each part that it cannot convert. Parts that it can convert partly are kept. */
function fallback({ code, base }: { readonly code?: unknown; readonly base?: unknown }): unknown {
  if (code === 'defaultValue') return undefined
  return isObject(base) && Object.keys(base).length > 0
    ? base
    : { [UNCONVERTIBLE]: `${code} cannot be expressed in JSON Schema` }
}

/** Options with which libraries that throw without a path (zod, Valibot) mark the place in the JSON Schema instead. */
const marking = {
  fallback,
  unrepresentable: ({ message }: { readonly message?: unknown }) => ({ [UNCONVERTIBLE]: message }),
  errorMode: 'ignore',
  overrideSchema: ({ errors }: { readonly errors?: readonly unknown[] }) =>
    errors === undefined ? undefined : { [UNCONVERTIBLE]: errors[0] },
}

/** Converts a schema to JSON Schema. Throws a `RegistrationError` with `where` and the path of a part that fails. */
function convertSchema(schema: StandardSchema, side: 'input' | 'output', where: string): JsonObject {
  const { vendor, jsonSchema }: Partial<StandardSchema['~standard']> = schema['~standard']
  if (typeof jsonSchema?.[side] !== 'function') {
    throw new RegistrationError(`${where}: ${conversionProblem(vendor, schema)}`)
  }
  const convertWith = (libraryOptions: object): JsonObject => {
    const options = { target: 'draft-2020-12', libraryOptions } as const
    return copyJson(jsonSchema[side](options))
  }
  let json: JsonObject
  try {
    json = convertWith({ fallback })
  } catch (cause) {
    throw new RegistrationError(findPlace(() => convertWith(marking), where) ?? `${where}: ${reasonOf(cause)}`, {
      cause,
    })
  }
  const unconvertible = findUnconvertible(json, where)
  if (unconvertible !== undefined) throw new RegistrationError(unconvertible)
  return json
}

/** How to wrap the schemas of libraries that cannot convert them to JSON Schema. */
const WRAPPERS: Readonly<Record<string, string>> = {
  valibot: 'wrap it with toStandardJsonSchema(schema) of @valibot/to-json-schema',
  effect: 'wrap it with Schema.toStandardSchemaV1(Schema.toStandardJSONSchemaV1(schema))',
}

/** Describes a schema that cannot be converted to JSON Schema, with the remedy for its library. */
function conversionProblem(vendor: string, schema: object): string {
  if (vendor === 'zod') return zodProblem(schema)
  const remedy = Object.hasOwn(WRAPPERS, vendor) ? WRAPPERS[vendor] : 'pass a JSON Schema'
  return `the ${vendor} schema cannot be converted to JSON Schema; ${remedy}`
}

function zodProblem(schema: object): string {
  const { _zod } = schema as { readonly _zod?: { readonly version?: { major: number; minor: number } } }
  if (_zod?.version === undefined) return 'zod 4.2 or newer is needed, found zod 3; run npm install zod@latest'
  const { major, minor } = _zod.version
  if (major > 4 || minor >= 2) {
    return 'the zod schema cannot be converted to JSON Schema; wrap a schema of zod/mini with z.toJSONSchema(schema)'
  }
  return `zod 4.2 or newer is needed, found ${major}.${minor}; run npm install zod@latest`
}

/** Returns whether a value is a schema of a zod before 3.24, which does not implement Standard Schema. */
function isZod3(schema: unknown): schema is object {
  const { typeName } = ((schema as { readonly _def?: unknown } | null)?._def ?? {}) as { readonly typeName?: unknown }
  return typeof typeName === 'string' && typeName.startsWith('Zod')
}

/** Returns whether a value is a schema of Effect, which is a class or an object and implements Standard Schema when wrapped. */
function isEffect(schema: unknown): schema is object {
  const isHolder = typeof schema === 'function' || isObject(schema)
  return isHolder && 'ast' in schema && typeof schema.ast === 'object' && 'pipe' in schema
}

function findPlace(convert: () => JsonObject, where: string): string | undefined {
  try {
    return findUnconvertible(convert(), where)
  } catch {
    return undefined
  }
}

function findUnconvertible(root: JsonObject, where: string): string | undefined {
  if (!JSON.stringify(root).includes(UNCONVERTIBLE)) return undefined
  for (const { schema, path } of schemaPlaces(root, where)) {
    if (isObject(schema) && Object.hasOwn(schema, UNCONVERTIBLE)) return `${path}: ${schema[UNCONVERTIBLE]}`
  }
  return undefined
}

function warnOfEmptyProperties(root: JsonObject, where: string, warn: (message: string) => void): void {
  if (!JSON.stringify(root).includes('{}')) return
  for (const { schema, path, keyword } of schemaPlaces(root, where)) {
    if (keyword === 'properties' && isObject(schema) && Object.keys(schema).length === 0) {
      warn(`${path}: the schema is empty; add a type or a description`)
    }
  }
}

/**
 * Returns whether a schema accepts only objects.
 *
 * @param known the results for references that were followed before; for a circular reference, false
 */
function describesObjects(schema: unknown, root: JsonObject, known: Map<string, boolean>): boolean {
  if (!isObject(schema)) return false
  const { type, anyOf, oneOf, allOf, $ref } = schema
  if (type !== undefined) return type === 'object'
  const one = (option: unknown): boolean => describesObjects(option, root, known)
  const all = (options: unknown) => Array.isArray(options) && options.length > 0 && options.every(one)
  if (all(anyOf) || all(oneOf) || (Array.isArray(allOf) && allOf.some(one)) || isObject(schema.properties)) return true
  if (typeof $ref !== 'string') return false
  if (!known.has($ref)) {
    known.set($ref, false)
    known.set($ref, one(resolveReference($ref, root)))
  }
  return known.get($ref) === true
}

/** Returns the target of a JSON pointer within the schema. */
function resolveReference(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const segment of ref.slice(2).split('/')) {
    const key = unescapePointer(segment)
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as JsonObject)[key]
  }
  return node
}

function unescapePointer(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return segment
  }
}

/** The largest number of issues in a description. The number of further issues is added. */
const MAX_ISSUES = 10
const MAX_ISSUE_LENGTH = 500

/** Returns a line for each issue, such as `arguments.a: expected number, got string`. */
export function describeIssues(issues: readonly Issue[], root: string): string {
  const lines = issues.slice(0, MAX_ISSUES).map(({ at, path = [], message }) => {
    const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
    return `${at ?? truncate(placeOf(keys, root))}: ${truncate(message)}`
  })
  if (issues.length > MAX_ISSUES) lines.push(`and ${issues.length - MAX_ISSUES} more`)
  return lines.join('\n')
}

function truncate(value: string): string {
  return value.length > MAX_ISSUE_LENGTH ? `${value.slice(0, MAX_ISSUE_LENGTH)}…` : value
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Keywords whose value is a schema. */
const SINGLE = words(
  'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
    'not if then else contentSchema',
)
/** Keywords whose value is a list of schemas. */
const LISTS = words('allOf anyOf oneOf prefixItems items')
/** Keywords whose value is an object of schemas. */
const MAPS = words('properties patternProperties $defs definitions dependentSchemas dependencies')

/** A place in a schema that contains a schema. */
export interface SchemaPlace {
  readonly schema: unknown
  /** The path of the described value, as far as the schema determines it. */
  readonly path: string
  /** The keyword that contains the schema. Empty for the root. */
  readonly keyword: string
  /** Whether all keywords from the root to this place are `properties`. */
  readonly isProperty: boolean
}

/** Yields the root and all places below it, parents first. */
export function* schemaPlaces(root: JsonObject, path: string): Generator<SchemaPlace> {
  const waiting: SchemaPlace[] = [{ schema: root, path, keyword: '', isProperty: false }]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place
    if (!isObject(place.schema)) continue
    for (const inner of placesIn(place, place.schema).reverse()) waiting.push(inner)
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

const HEADER_ANNOTATION = 'x-mcp-header'
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** The depth of the search for annotations, because schemas of handlers may be cyclic. */
const MAX_DEPTH = 32

/**
 * Returns whether an argument is repeated in an HTTP header. This is possible only for arguments that are reached
 * through `properties` alone.
 */
export function mirrorsArguments({ properties }: JsonObject, depth = 0): boolean {
  if (!isObject(properties) || depth >= MAX_DEPTH) return false
  return Object.values(properties).some((property) => {
    return isObject(property) && (Object.hasOwn(property, HEADER_ANNOTATION) || mirrorsArguments(property, depth + 1))
  })
}

/** Describes the first invalid `x-mcp-header` annotation with its place. Returns undefined if all are valid. */
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
      : 'is allowed only on a property reached through "properties" alone'
    if (problem !== undefined) return `${path}: ${HEADER_ANNOTATION} ${problem}`
    seen.set(key, path)
  }
  return undefined
}

function annotationProblem(header: unknown, { type }: JsonObject): string | undefined {
  if (typeof header !== 'string' || !HEADER_NAME.test(header)) return 'must be the name of a header, such as "Region"'
  return HEADER_TYPES.includes(type) ? undefined : 'needs a "type" of "string", "integer" or "boolean"'
}
