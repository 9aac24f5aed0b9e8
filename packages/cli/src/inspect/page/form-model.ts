/** Reads JSON Schemas as the fields of a form, and checks the values. */

import { createJsonSchemaValidator, JsonSchemaError, PEER_SCHEMA_OPTIONS } from '@mcpx/json-schema'
import type { JsonObject } from '@mcpx/protocol'

/** A choice of a field. */
export interface Choice {
  readonly value: unknown
  readonly label: string
}

/** A field of a form. The value of a `json` field is written as JSON, because the form has no input for it. */
export type Field = {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly initial: unknown
  readonly format: string | undefined
} & (
  | { readonly kind: 'string' | 'number' | 'boolean' | 'json' }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'choices'; readonly choices: readonly Choice[] }
  | { readonly kind: 'array'; readonly items: Field }
  | { readonly kind: 'object'; readonly fields: readonly NamedField[] }
)

/** A field of an object. */
export interface NamedField {
  readonly name: string
  readonly isRequired: boolean
  readonly field: Field
}

type Schema = Readonly<Record<string, unknown>>

/** Limits of a form. A schema that is deeper or has more properties or choices becomes a field for JSON. */
const MAX_DEPTH = 6
const MAX_FIELDS = 100
const MAX_CHOICES = 500

/** Returns the field of a schema. References within the schema are followed. */
export function fieldOf(schema: unknown, root: unknown = schema, depth = 0): Field {
  const own = simplify(schema, root)
  const { title, description, default: initial, format, type, enum: values, const: constant } = own
  const base = { title: textOf(title), description: textOf(description), initial, format: textOf(format) }
  const json: Field = { ...base, kind: 'json' }
  if (depth > MAX_DEPTH) return json
  const choices = constant === undefined ? choicesOf(own, values) : [{ value: constant, label: labelOf(constant) }]
  if (choices !== undefined) return choices.length <= MAX_CHOICES ? { ...base, kind: 'choice', choices } : json
  if (type === 'string' || type === 'boolean') return { ...base, kind: type }
  if (type === 'number' || type === 'integer') return { ...base, kind: 'number' }
  if (type === 'array') {
    const { items, prefixItems } = own
    if (!isSchema(items) || prefixItems !== undefined) return json
    const item = fieldOf(items, root, depth + 1)
    if (item.kind === 'choice') return { ...base, kind: 'choices', choices: item.choices }
    return { ...base, kind: 'array', items: item }
  }
  const { properties, required, anyOf, oneOf, allOf } = own
  if (!isSchema(properties) || anyOf !== undefined || oneOf !== undefined || allOf !== undefined) {
    const isEmpty = depth === 0 && type === 'object' && properties === undefined && own.additionalProperties === false
    return isEmpty ? { ...base, kind: 'object', fields: [] } : json
  }
  const names = Object.keys(properties)
  const isOpen = names.length === 0 && depth > 0
  if (names.length > MAX_FIELDS || isOpen) return json
  const requiredNames = Array.isArray(required) ? required : []
  const fields = names.map((name) => ({
    name,
    isRequired: requiredNames.includes(name),
    field: fieldOf(properties[name], root, depth + 1),
  }))
  return { ...base, kind: 'object', fields }
}

/** Returns the initial values of a form: the defaults, and `false` for required booleans. */
export function initialValue(field: Field): unknown {
  if (field.initial !== undefined) return structuredClone(field.initial)
  if (field.kind !== 'object') return undefined
  const entries = field.fields.flatMap(({ name, isRequired, field: inner }) => {
    const isFlag = inner.kind === 'boolean' && isRequired && inner.initial === undefined
    const value = isFlag ? false : initialValue(inner)
    const isEmpty =
      value === undefined || (inner.kind === 'object' && !isRequired && Object.keys(value as object).length === 0)
    return isEmpty ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** A problem of a value. */
export interface Problem {
  readonly path: string
  readonly message: string
}

/** The first part of all paths. */
export const ROOT = 'arguments'

/** Returns the path of a member, as the validator writes it. */
export function memberPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}

const validator = createJsonSchemaValidator(PEER_SCHEMA_OPTIONS)

/**
 * Returns the problems of the arguments. If the schema is not supported, returns none, and the server validates the
 * arguments.
 */
export function problemsOf(schema: JsonObject, value: unknown): readonly Problem[] {
  try {
    const verdict = validator.compile(schema)(value, ROOT)
    return verdict.valid ? [] : verdict.problems
  } catch (error) {
    if (error instanceof JsonSchemaError) return []
    throw error
  }
}

/** Resolves references, and simplifies the alternatives "a schema or null" and "one of several constants". */
function simplify(schema: unknown, root: unknown): Schema {
  let own = isSchema(schema) ? schema : {}
  for (let step = 0; step < 8; step++) {
    const { $ref, anyOf, oneOf, allOf, type } = own
    const { $ref: _, anyOf: __, oneOf: ___, allOf: ____, ...rest } = own
    const options = Array.isArray(anyOf) ? anyOf : oneOf
    const real = Array.isArray(options) ? options.filter((each) => !isSchema(each) || each.type !== 'null') : []
    if (typeof $ref === 'string') own = { ...asSchema(resolve($ref, root)), ...rest }
    else if (real.length === 1) own = { ...asSchema(real[0]), ...rest }
    else if (Array.isArray(allOf) && allOf.length === 1) own = { ...asSchema(allOf[0]), ...rest }
    else if (Array.isArray(type)) {
      const types = type.filter((each) => each !== 'null')
      return { ...own, type: types.length === 1 ? types[0] : undefined }
    } else return own
  }
  return {}
}

function choicesOf({ anyOf, oneOf }: Schema, values: unknown): Choice[] | undefined {
  if (Array.isArray(values)) return values.map((value) => ({ value, label: labelOf(value) }))
  const options = anyOf ?? oneOf
  if (!Array.isArray(options) || options.length === 0) return undefined
  const isConstant = (each: unknown) => isSchema(each) && Object.hasOwn(each, 'const')
  if (!options.every(isConstant)) return undefined
  return options.map((each: Schema) => ({ value: each.const, label: textOf(each.title) ?? labelOf(each.const) }))
}

function resolve(reference: string, root: unknown): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, key) => (isContainer(value) && Object.hasOwn(value, key) ? (value as Schema)[key] : undefined),
      root,
    )
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isSchema(value: unknown): value is Schema {
  return isContainer(value) && !Array.isArray(value)
}

function asSchema(value: unknown): Schema {
  return isSchema(value) ? value : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
