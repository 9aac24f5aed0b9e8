/** Converts objects for strict modes: they have no undeclared properties, and in one strict mode all properties are required. */
import type { SchemaChange } from './fit-schema.ts'
import { isObject, isSame, isString, type JsonObject, listOf, objectOf } from './json.ts'
import { typesOf } from './merge.ts'
import { acceptsNull } from './remove-nulls.ts'

/** Thrown for a schema that the strict mode of a dialect does not support. */
export class NotStrict extends Error {
  readonly path: string
  readonly keyword: string

  constructor(path: string, keyword: string, reason: string) {
    super(`not offered in strict mode, because ${reason}`)
    this.path = path
    this.keyword = keyword
  }
}

interface CloseOptions {
  readonly strict: 'closed' | 'required'
  /** The schema before its keywords were converted. */
  readonly original: JsonObject
  readonly path: string
  readonly onChange: (change: SchemaChange) => void
}

/** Converts a schema for the strict mode. Throws `NotStrict` if the strict mode does not support it. */
export function closeObject(schema: JsonObject, { strict, original, path, onChange }: CloseOptions): JsonObject {
  const refuse = (keyword: string, reason: string) => new NotStrict(path, keyword, reason)
  const types = typesOf(schema.type)
  if (schema.type === undefined && schema.anyOf === undefined) throw refuse('type', 'it accepts values of any type')
  if (schema.anyOf !== undefined && types.includes('object')) {
    throw refuse('anyOf', 'it has alternatives beside properties')
  }
  if (types.includes('array') && isSame(schema.items, {})) throw refuse('items', 'its items have any type')
  if (!types.includes('object')) return schema
  const properties = objectOf(schema.properties)
  const names = Object.keys(properties)
  const required = new Set(listOf(schema.required).filter(isString))
  const { additionalProperties: others } = original
  const isEmpty = names.length === 0 && others === undefined && path !== '#'
  if (isObject(others) || others === true || isEmpty) {
    throw refuse('additionalProperties', 'it has properties of any name')
  }
  if ([...required].some((name) => !Object.hasOwn(properties, name))) {
    throw refuse('required', 'it requires a property that it does not declare')
  }
  if (others === undefined) {
    onChange({ path, keyword: 'additionalProperties', effect: 'narrower', message: 'no other properties are accepted' })
  }
  const closed: JsonObject = { ...schema, properties, additionalProperties: false }
  if (strict === 'closed') return closed
  const optional = new Set(names.filter((name) => !required.has(name)))
  if (optional.size > 0) {
    const message = `null stands for a missing ${[...optional].join(', ')}`
    onChange({ path, keyword: 'required', effect: 'same', message })
  }
  const entries = Object.entries(properties).map(([name, each]) => [
    name,
    optional.has(name) ? asNullable(objectOf(each)) : each,
  ])
  return { ...closed, required: names, properties: Object.fromEntries(entries) }
}

function asNullable(schema: JsonObject): JsonObject {
  if (acceptsNull(schema, schema)) return schema
  const { type, enum: values, const: value, anyOf } = schema
  const isPlain = [values, value, anyOf].every((each) => each === undefined)
  if (isPlain && isString(type)) return { ...schema, type: [type, 'null'] }
  const { description, ...rest } = schema
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] }
}

// The limits of structured outputs of OpenAI for one schema. The limit of 5,000 properties is enforced in fit-schema.ts
// (`MAX_SCHEMAS`).
const MAX_ENUM_VALUES = 1_000
const MAX_SHORT_ENUM = 250
const MAX_LONG_ENUM_CHARACTERS = 15_000
const MAX_CHARACTERS = 120_000

/** Throws `NotStrict` for a schema that is larger than structured outputs allow. */
export function checkStrictLimits(schema: JsonObject): void {
  const refuse = (keyword: string, limit: string) => new NotStrict('#', keyword, `it has more than ${limit}`)
  let enumValues = 0
  let characters = 0

  function visit(node: unknown): void {
    if (!isObject(node)) return
    const { properties, items, anyOf, enum: values, const: value } = node
    const list = listOf(values)
    const enumCharacters = lengthOf(list)
    if (list.length > MAX_SHORT_ENUM && enumCharacters > MAX_LONG_ENUM_CHARACTERS) {
      throw refuse('enum', '15,000 characters in an enum of more than 250 values')
    }
    enumValues += list.length
    characters += enumCharacters + lengthOf([value, ...Object.keys(objectOf(properties))])
    for (const each of [...Object.values(objectOf(properties)), items, ...listOf(anyOf)]) visit(each)
  }

  visit(schema)
  if (enumValues > MAX_ENUM_VALUES) throw refuse('enum', '1,000 values of enum')
  if (characters > MAX_CHARACTERS) throw refuse('properties', '120,000 characters of names and values')
}

/** Returns the number of characters of the strings in a list. */
function lengthOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (isString(value) ? value.length : 0), 0)
}
