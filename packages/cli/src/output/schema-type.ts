/** Writes JSON Schemas as TypeScript types. */

import { isObject } from '@mcpx/protocol'
import { resolveReference } from '../input/schema-view.ts'
import { plainText, quotedText } from './plain-text.ts'

/** Options of `SchemaTypes`. */
export interface SchemaTypeOptions {
  /** The schema that references such as `#/$defs/Point` refer to. */
  readonly root: unknown
  /**
   * Returns the name of the type for a reference. Default: the referenced type is written in place, and recursive
   * references become `unknown`.
   */
  readonly nameOf?: ((reference: string) => string) | undefined
  /** Whether objects are written on several lines, with descriptions as comments. Default: false. */
  readonly multiline?: boolean | undefined
}

/** The deepest nesting of schemas. Deeper schemas become `unknown`. */
const MAX_DEPTH = 40
/** The largest number of schemas in a type without `nameOf`, and with `nameOf`. Further schemas become `unknown`. */
const MAX_PARTS = 500
const MAX_NAMED_PARTS = 20_000

/** Returns the type of the values that a schema accepts. Conditions that TypeScript cannot express are left out. */
export function typeOfSchema(schema: unknown, options: SchemaTypeOptions): string {
  return new TypeWriter(options).write(schema, { depth: 0, indent: 0, isOuter: true })
}

/** Returns a name as the key of a property: quoted if it is not an identifier. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quotedText(name)
}

/** Returns a doc comment, or an empty string for an empty text. */
export function docComment(text: unknown, indent = ''): string {
  if (typeof text !== 'string' || text.trim() === '') return ''
  const lines = plainText(text.trim()).replaceAll('*/', '*\\/').split(/\r?\n/)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

interface Place {
  /** How many schemas contain this one. */
  readonly depth: number
  /** The number of levels of indentation. */
  readonly indent: number
  /** Whether the type is not inside an object or an array. A type alias must not refer to itself at such a place. */
  readonly isOuter: boolean
}

class TypeWriter {
  readonly #options: SchemaTypeOptions
  /** References that are being written in full. */
  readonly #open = new Set<string>()
  #parts = 0

  constructor(options: SchemaTypeOptions) {
    this.#options = options
  }

  write(schema: unknown, place: Place): string {
    if (schema === false) return 'never'
    this.#parts++
    const limit = this.#options.nameOf === undefined ? MAX_PARTS : MAX_NAMED_PARTS
    if (!isObject(schema) || place.depth > MAX_DEPTH || this.#parts > limit) return 'unknown'
    const { $ref, const: constant, enum: values, anyOf, oneOf, allOf } = schema
    const next = { ...place, depth: place.depth + 1 }
    const types = [this.#ownType(schema, next)]
    if (typeof $ref === 'string') types.push(this.#reference($ref, next))
    if (constant !== undefined) types.push(literal(constant))
    if (Array.isArray(values)) types.push(union(values.map(literal)))
    for (const alternatives of [anyOf, oneOf]) {
      if (Array.isArray(alternatives)) types.push(union(alternatives.map((each) => this.write(each, next))))
    }
    if (Array.isArray(allOf)) types.push(...allOf.map((each) => this.write(each, next)))
    return intersection(types, constant !== undefined || Array.isArray(values))
  }

  /** Returns the type that the keywords of the schema itself describe, without its alternatives. */
  #ownType(schema: Record<string, unknown>, place: Place): string {
    const { type, properties } = schema
    if (Array.isArray(type)) return union(type.map((each) => this.#simpleType(each, schema, place)))
    if (type === undefined && (isObject(properties) || Array.isArray(schema.required)))
      return this.#object(schema, place)
    return this.#simpleType(type, schema, place)
  }

  #simpleType(type: unknown, schema: Record<string, unknown>, place: Place): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type
      case 'integer':
        return 'number'
      case 'array':
        return this.#array(schema, { ...place, isOuter: false })
      case 'object':
        return this.#object(schema, place)
      default:
        return 'unknown'
    }
  }

  #array({ items, prefixItems, additionalItems }: Record<string, unknown>, place: Place): string {
    // Older drafts have the tuple in `items`.
    const [tuple, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items]
    if (!Array.isArray(tuple)) return `${parenthesized(this.write(items, place))}[]`
    const types = tuple.map((each) => this.write(each, place))
    if (isObject(rest)) types.push(`...${parenthesized(this.write(rest, place))}[]`)
    return `[${types.join(', ')}]`
  }

  #object(schema: Record<string, unknown>, { depth, indent }: Place): string {
    const { required, additionalProperties, patternProperties } = schema
    const place = { depth, indent: indent + 1, isOuter: false }
    const properties = isObject(schema.properties) ? schema.properties : {}
    const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [])
    const names = [...new Set([...Object.keys(properties), ...needed])]
    const members = names.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return this.#member(`${propertyName(name)}${needed.has(name) ? '' : '?'}`, property, place)
    })
    const others = [
      ...Object.values(isObject(patternProperties) ? patternProperties : {}),
      ...(isObject(additionalProperties) ? [additionalProperties] : []),
    ]
    if (names.length > 0) {
      // An index signature has to accept the types of all properties.
      const isOpen = others.length > 0 || additionalProperties === true
      return this.#block(isOpen ? [...members, this.#member('[key: string]', true, place)] : members, indent)
    }
    if (others.length === 0 && additionalProperties === false) return 'Record<string, never>'
    const type = others.length === 0 ? 'unknown' : union(others.map((each) => this.write(each, place)))
    return `{ [key: string]: ${type} }`
  }

  #member(key: string, schema: unknown, place: Place): string {
    const type = `${key}: ${this.write(schema, place)}`
    if (!this.#options.multiline) return type
    const indent = '  '.repeat(place.indent)
    return `${docComment(isObject(schema) && schema.description, indent)}${indent}${type}`
  }

  #block(members: readonly string[], indent: number): string {
    if (!this.#options.multiline) return `{ ${members.join('; ')} }`
    return `{\n${members.join('\n')}\n${'  '.repeat(indent)}}`
  }

  #reference(reference: string, place: Place): string {
    const { root, nameOf } = this.#options
    const target = resolveReference(reference, root)
    if (target === undefined) return 'unknown'
    if (nameOf !== undefined && !place.isOuter) return nameOf(reference)
    // A type alias must not refer to itself directly, so the type is written in full.
    if (this.#open.has(reference)) return 'unknown'
    this.#open.add(reference)
    const type = this.write(target, place)
    this.#open.delete(reference)
    return type
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'string') return quotedText(value)
  if (!isObject(value)) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${propertyName(name)}: ${literal(each)}`)
    .join('; ')} }`
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'never')
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.length === 0 ? 'never' : distinct.join(' | ')
}

/** @param isLiteral whether the last type consists of literals, so that it includes the type of the schema */
function intersection(types: readonly string[], isLiteral: boolean): string {
  const [own, ...others] = types.filter((type) => type !== 'unknown')
  if (own === undefined) return 'unknown'
  const distinct = [...new Set(isLiteral && types[0] !== 'unknown' ? others : [own, ...others])]
  return distinct.length === 1 ? (distinct[0] ?? 'unknown') : distinct.map(parenthesized).join(' & ')
}

/** Returns the type in parentheses if it is a union or an intersection. */
function parenthesized(type: string): string {
  const withoutStrings = type.replace(/"(?:[^"\\]|\\.)*"?/gs, '')
  let depth = 0
  for (const character of withoutStrings) {
    if ('{[('.includes(character)) depth++
    else if ('}])'.includes(character)) depth--
    else if (depth === 0 && '|&'.includes(character)) return `(${type})`
  }
  return type
}
