/** Writes JSON Schemas as TypeScript types. */

import { isObject } from '@mcpx/protocol'

/** Options of `typeOfSchema`. */
export interface SchemaTypeOptions {
  /** The schema that references such as `#/$defs/Point` refer to. */
  readonly root: unknown
}

/** Deeper schemas become `unknown`: recursive ones have no end on one line. */
const MAX_DEPTH = 8
/** Longer types become `unknown`, in characters. */
const MAX_LENGTH = 10_000

/** Returns the type of a value that the schema accepts, on one line. Anything that TypeScript cannot express is `unknown`. */
export function typeOfSchema(schema: unknown, { root }: SchemaTypeOptions): string {
  const type = new TypeWriter(root).write(schema, 0)
  return type.length > MAX_LENGTH ? 'unknown' : type
}

/** Returns a name as the key of a property: quoted if it is not an identifier. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

class TypeWriter {
  readonly #root: unknown
  /** References that are being written. */
  readonly #open = new Set<string>()

  constructor(root: unknown) {
    this.#root = root
  }

  write(schema: unknown, depth: number): string {
    if (!isObject(schema) || depth > MAX_DEPTH) return schema === false ? 'never' : 'unknown'
    const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema
    if (typeof $ref === 'string') return this.#reference($ref, depth)
    if (constant !== undefined) return literal(constant)
    if (Array.isArray(values)) return union(values.map(literal))
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(alternatives)) return union(alternatives.map((each) => this.write(each, depth + 1)))
    if (Array.isArray(allOf))
      return allOf.map((each) => parenthesized(this.write(each, depth + 1))).join(' & ') || 'unknown'
    if (Array.isArray(type)) return union(type.map((each) => this.#ofType(each, schema, depth)))
    return this.#ofType(type, schema, depth)
  }

  #ofType(type: unknown, schema: Record<string, unknown>, depth: number): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type
      case 'integer':
        return 'number'
      case 'array':
        return this.#array(schema, depth)
      case 'object':
        return this.#object(schema, depth)
      default:
        return isObject(schema.properties) ? this.#object(schema, depth) : 'unknown'
    }
  }

  #array({ items, prefixItems }: Record<string, unknown>, depth: number): string {
    if (Array.isArray(prefixItems)) {
      return `[${prefixItems.map((each) => this.write(each, depth + 1)).join(', ')}]`
    }
    return `${parenthesized(this.write(items, depth + 1))}[]`
  }

  #object(schema: Record<string, unknown>, depth: number): string {
    const { properties, required, additionalProperties } = schema
    const names = Array.isArray(required) ? required : []
    const members = Object.entries(isObject(properties) ? properties : {}).map(
      ([name, each]) => `${propertyName(name)}${names.includes(name) ? '' : '?'}: ${this.write(each, depth + 1)}`,
    )
    if (members.length > 0) return `{ ${members.join('; ')} }`
    return isObject(additionalProperties)
      ? `Record<string, ${this.write(additionalProperties, depth + 1)}>`
      : 'Record<string, unknown>'
  }

  #reference(reference: string, depth: number): string {
    if (!reference.startsWith('#') || this.#open.has(reference)) return 'unknown'
    let target = this.#root
    for (const part of reference.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
    }
    this.#open.add(reference)
    const type = this.write(target, depth + 1)
    this.#open.delete(reference)
    return type
  }
}

function literal(value: unknown): string {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value) ? JSON.stringify(value) : 'unknown'
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.length === 0) return 'never'
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

function parenthesized(type: string): string {
  return /[|&]/.test(type) ? `(${type})` : type
}
