/**
 * Writes the schemas of OpenAPI as code of zod. Conditions that zod cannot express are added to the JSON Schema, or
 * left out.
 */

import { isObject } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import { findReference } from './document.ts'
import { call, listLiteral, objectLiteral, pascalCase, stringLiteral, uniqueName, valueLiteral } from './literals.ts'

type Schema = Record<string, unknown>

/** Deeper schemas accept any value, because TypeScript cannot infer their types. */
const MAX_DEPTH = 16
const MAX_PARTS = 20_000
const MAX_DESCRIPTION = 600
const ANY = 'z.unknown()'

/** A place inside of a schema. */
interface Place {
  readonly depth: number
  /** Whether another schema describes the same object. Then unknown members must be accepted. */
  readonly isPartial: boolean
}

/** Writes schemas. A schema that others refer to becomes a constant, which `definitions` returns. */
export class SchemaCode {
  readonly #root: unknown
  readonly #definitions = new Map<string, { readonly name: string; code?: string; isRecursive: boolean }>()
  readonly #order: string[] = []
  readonly #names: Set<string>
  #parts = 0

  /** @param taken names that must not be used for constants */
  constructor(root: unknown, taken: Set<string>) {
    this.#root = root
    this.#names = taken
  }

  /** Returns the code of a schema, with another description. */
  write(schema: unknown, description?: string): string {
    const described = description === undefined || !isObject(schema) ? schema : { ...schema, description }
    return this.#write(described ?? { description }, { depth: 0, isPartial: false })
  }

  /** Returns the constants, in an order in which they can be evaluated. */
  definitions(): string[] {
    return this.#order.map((reference) => {
      const { name, code, isRecursive } = this.#definitions.get(reference) ?? { name: '', isRecursive: false }
      // TypeScript cannot infer the type of a schema that contains itself.
      const type = isRecursive ? ': z.ZodType<unknown>' : ''
      return `const ${name}${type} = ${code}`
    })
  }

  #write(schema: unknown, place: Place): string {
    this.#parts++
    if (this.#parts > MAX_PARTS) {
      throw usageError(`The schemas of these operations have more than ${MAX_PARTS} parts`, 'Choose fewer operations.')
    }
    if (schema === false) return 'z.never()'
    if (!isObject(schema) || place.depth > MAX_DEPTH) return ANY
    const inner = { ...place, depth: place.depth + 1 }
    const code = this.#withoutNull(schema, inner)
    return withMeta(isNullable(schema) && code !== ANY ? `${code}.nullable()` : code, schema)
  }

  #withoutNull(schema: Schema, place: Place): string {
    if (typeof schema.$ref === 'string') return this.#reference(schema.$ref)
    const choices = this.#choices(schema)
    if (choices !== undefined) return choices
    const { allOf } = schema
    const alternatives = [schema.oneOf, schema.anyOf].filter(Array.isArray)
    const parts = Array.isArray(allOf) ? allOf.filter((each) => !isCondition(each)) : []
    const own = hasType(schema) || isObject(schema.properties)
    const count = parts.length + alternatives.length + (own ? 1 : 0)
    const inner = count > 1 ? { ...place, isPartial: true } : place
    const codes = [
      ...(own ? [this.#typed(schema, inner)] : []),
      ...parts.map((each) => this.#write(each, inner)),
      ...alternatives.map((each) => this.#union(each, inner)),
    ].filter((code) => code !== ANY)
    const [first = ANY, ...others] = new Set(codes)
    return others.reduce((left, right) => call('z.intersection', left, right), first)
  }

  #choices({ enum: values, const: constant }: Schema): string | undefined {
    const all = constant === undefined ? values : [constant]
    if (!Array.isArray(all)) return undefined
    const choices = [...new Set(all)].filter((value) => value !== null)
    if (choices.length === 0) return all.length === 0 ? 'z.never()' : 'z.null()'
    if (choices.some((value) => typeof value === 'object')) return ANY
    const isText = choices.every((value) => typeof value === 'string' && value !== '__proto__')
    if (choices.length === 1) return call('z.literal', valueLiteral(choices[0]))
    return call(isText ? 'z.enum' : 'z.literal', valueLiteral(choices))
  }

  #union(schemas: readonly unknown[], place: Place): string {
    const useful = schemas.filter((each) => !isCondition(each) && !isNull(each))
    if (useful.length === 0) return ANY
    const codes = [...new Set(useful.map((each) => this.#write(each, place)))]
    const code = codes.length === 1 ? (codes[0] ?? ANY) : call('z.union', listLiteral(codes))
    return codes.includes(ANY) ? ANY : schemas.some(isNull) ? `${code}.nullable()` : code
  }

  #typed(schema: Schema, place: Place): string {
    const { type = 'object' } = schema
    const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null')
    const codes = types.map((each) => this.#simple(each, schema, place))
    if (codes.length === 0) return 'z.null()'
    return codes.length === 1 ? (codes[0] ?? ANY) : codes.includes(ANY) ? ANY : call('z.union', listLiteral(codes))
  }

  #simple(type: unknown, schema: Schema, place: Place): string {
    switch (type) {
      case 'string':
        return `z.string()${limits(schema, { minLength: 'min', maxLength: 'max' })}`
      case 'integer':
        return `z.number().int()${range(schema)}`
      case 'number':
        return `z.number()${range(schema)}`
      case 'boolean':
        return 'z.boolean()'
      case 'array': {
        const items = this.#write(schema.items, { ...place, isPartial: false })
        return `${call('z.array', items)}${limits(schema, { minItems: 'min', maxItems: 'max' })}`
      }
      case 'object':
        return this.#object(schema, place)
      default:
        return ANY
    }
  }

  #object(schema: Schema, { depth, isPartial }: Place): string {
    const { required, additionalProperties: others } = schema
    const place = { depth, isPartial: false }
    const properties = Object.entries(isObject(schema.properties) ? schema.properties : {})
    const needed = new Set(Array.isArray(required) ? required : [])
    const members = properties
      // Leave out members that only servers set, and `__proto__`, which zod does not support.
      .filter(([name, property]) => !(isObject(property) && property.readOnly === true) && name !== '__proto__')
      // For a missing member with an inherited name, zod would check the inherited function. Open objects accept the
      // member without a schema.
      .filter(([name]) => needed.has(name) || !(name in Object.prototype))
      .map(([name, property]) => {
        const code = this.#write(property, place)
        return [name, needed.has(name) ? code : `${code}.optional()`] as const
      })
    const isClosed = others === false && !isPartial
    const rest = isObject(others) ? this.#write(others, place) : ANY
    if (members.length === 0 && !isClosed) return call('z.record', 'z.string()', rest)
    const shape = objectLiteral(members)
    if (isClosed) return call('z.strictObject', shape)
    return rest === ANY ? call('z.looseObject', shape) : `${call('z.object', shape)}.catchall(${rest})`
  }

  /** Returns the name of the constant for a reference. Writes the constant at its first use. */
  #reference(reference: string, depth = 0): string {
    const target = findReference(reference, this.#root, 'schemas')
    // A reference to a reference needs no constant. A circle of references describes nothing.
    if (isObject(target) && typeof target.$ref === 'string' && Object.keys(target).length === 1) {
      return depth > MAX_DEPTH ? ANY : this.#reference(target.$ref, depth + 1)
    }
    const known = this.#definitions.get(reference)
    if (known?.code !== undefined) return known.name
    if (known !== undefined) {
      known.isRecursive = true
      return `z.lazy(() => ${known.name})`
    }
    const last = reference.slice(reference.lastIndexOf('/') + 1)
    const name = uniqueName(`${pascalCase(decodeURIComponentOrKeep(last))}Schema`, this.#names)
    const definition: { readonly name: string; code?: string; isRecursive: boolean } = { name, isRecursive: false }
    this.#definitions.set(reference, definition)
    try {
      // The constant begins without indentation, and may be used where unknown members are accepted.
      definition.code = this.#write(target, { depth: 0, isPartial: true })
    } catch (error) {
      // Delete the constant, so that the next tool with this schema fails for the same reason.
      this.#definitions.delete(reference)
      throw error
    }
    this.#order.push(reference)
    return name
  }
}

/** Returns the description of a schema or an operation as one paragraph. */
export function shortDescription(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const line = text.replace(/\s+/g, ' ').trim()
  if (line === '') return undefined
  return line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…` : line
}

/** Adds keywords that models should know but zod does not check, because APIs use them in different ways. */
function withMeta(code: string, schema: Schema): string {
  const { format, pattern, default: value, description } = schema
  const text = shortDescription(description)
  const members: (readonly [string, string])[] = []
  if (text !== undefined) members.push(['description', stringLiteral(text)])
  // Leave out formats of numbers, such as int32, because they do not help a model.
  if (isShort(format) && !code.startsWith('z.number()')) members.push(['format', stringLiteral(format)])
  if (isShort(pattern)) members.push(['pattern', stringLiteral(pattern)])
  if (value !== undefined && JSON.stringify(value).length <= MAX_VALUE) members.push(['default', valueLiteral(value)])
  if (members.length === 0) return code
  if (members.length === 1 && text !== undefined) return `${code}.describe(${stringLiteral(text)})`
  return `${code}.meta(${objectLiteral(members)})`
}

const MAX_VALUE = 200

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_VALUE
}

function isNullable({ nullable, type, enum: values }: Schema): boolean {
  if (Array.isArray(type) && type.includes('null') && type.length > 1) return true
  return nullable === true || (Array.isArray(values) && values.includes(null) && values.length > 1)
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'null'
}

function hasType({ type }: Schema): boolean {
  return typeof type === 'string' || Array.isArray(type)
}

/** Returns whether a schema only restricts other schemas, for example with `required`. */
function isCondition(schema: unknown): boolean {
  const describing = ['type', 'properties', '$ref', 'enum', 'const', 'allOf', 'anyOf', 'oneOf']
  return isObject(schema) && !describing.some((key) => Object.hasOwn(schema, key))
}

function limits(schema: Schema, names: Readonly<Record<string, string>>): string {
  const found = Object.entries(names).filter(([key]) => typeof schema[key] === 'number')
  return found.map(([key, method]) => `.${method}(${schema[key]})`).join('')
}

/** Returns the limits of a number. In OpenAPI 3.0 `exclusiveMinimum` is a boolean. */
function range(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...others } = schema
  const above = exclusiveMinimum === true ? { gt: minimum } : { min: minimum, gt: exclusiveMinimum }
  const below = exclusiveMaximum === true ? { lt: maximum } : { max: maximum, lt: exclusiveMaximum }
  const all = { ...above, ...below, multipleOf: others.multipleOf === 0 ? undefined : others.multipleOf }
  return limits(all, Object.fromEntries(Object.keys(all).map((key) => [key, key])))
}

function decodeURIComponentOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
