/** Says in words what a keyword asks for and what is there instead. Never says the value itself. */

import type { LoweredSchema } from './lowered-schema.ts'
import { memberOf } from './places.ts'
import { excerpt } from './schema-error.ts'

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** `a, b or c`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? 'nothing') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** A value from the schema, as far as it is short. */
function literal(value: unknown): string {
  try {
    return excerpt(JSON.stringify(value) ?? 'nothing', 60)
  } catch {
    return `a certain ${typeOf(value)}`
  }
}

export function literals(values: readonly unknown[]): string {
  const shown = [...new Set(values.slice(0, 10).map(literal))]
  return either(values.length > 10 ? [...shown, `${values.length - 10} more`] : shown)
}

function expectedValue(values: readonly unknown[], value: unknown): string {
  const type = typeOf(value)
  const another = type !== 'null' && values.some((allowed) => typeOf(allowed) === type)
  return `expected ${literals(values)}, got ${another ? 'another ' : ''}${type}`
}

export function expectedType(expected: readonly string[], value: unknown): string {
  const fraction = typeof value === 'number' && expected.includes('integer')
  return `expected ${either(expected)}, got ${fraction ? 'a number with a fraction' : typeOf(value)}`
}

function count(value: unknown, thing: string, things: string): string {
  return `${value} ${value === 1 ? thing : things}`
}

type Say = (schema: LoweredSchema, value: unknown) => string

const size = (keyword: keyof LoweredSchema, bound: 'least' | 'most', one: string, many: string): Say => {
  return (schema, value) => {
    const got = typeof value === 'string' ? Array.from(value).length : Object.keys(value as object).length
    return `expected at ${bound} ${count(schema[keyword], one, many)}, got ${got}`
  }
}

const sentences: Readonly<Record<string, Say>> = {
  type: (schema, value) => expectedType([schema.type ?? []].flat(), value),
  const: (schema, value) => expectedValue([schema.const], value),
  enum: (schema, value) => expectedValue(schema.enum ?? [], value),
  minLength: size('minLength', 'least', 'character', 'characters'),
  maxLength: size('maxLength', 'most', 'character', 'characters'),
  minItems: size('minItems', 'least', 'item', 'items'),
  maxItems: size('maxItems', 'most', 'item', 'items'),
  minProperties: size('minProperties', 'least', 'property', 'properties'),
  maxProperties: size('maxProperties', 'most', 'property', 'properties'),
  minimum: (schema) => `expected ${schema.minimum} or more`,
  maximum: (schema) => `expected ${schema.maximum} or less`,
  exclusiveMinimum: (schema) => `expected more than ${schema.exclusiveMinimum}`,
  exclusiveMaximum: (schema) => `expected less than ${schema.exclusiveMaximum}`,
  multipleOf: (schema) => `expected a multiple of ${schema.multipleOf}`,
  pattern: (schema) => `expected text that matches /${excerpt(schema.pattern ?? '', 100)}/`,
  format: (schema) => `expected text in the format ${schema.format}`,
  uniqueItems: () => 'expected no item twice',
  contains: () => 'expected at least 1 item of a certain form, got none',
  minContains: (schema) => `expected at least ${count(schema.minContains, 'item', 'items')} of a certain form`,
  maxContains: (schema) => `expected at most ${count(schema.maxContains, 'item', 'items')} of a certain form`,
  not: () => 'has a form that is not allowed',
}

/** What is wrong where a keyword fails; nothing for keywords that only pass on what is wrong elsewhere. */
export function sentenceFor(keyword: string, schema: LoweredSchema, value: unknown): string | undefined {
  return Object.hasOwn(sentences, keyword) ? sentences[keyword]?.(schema, value) : undefined
}

/** The properties that are missing from an object, each with what is wrong about that. */
export function missingProperties(keyword: string, schema: LoweredSchema, value: unknown): [string, string][] {
  const missing = (names: readonly string[]) => names.filter((name) => memberOf(value, name) === undefined)
  if (keyword === 'required') return missing(schema.required ?? []).map((name) => [name, 'is required'])
  const dependencies = keyword === 'dependentRequired' ? schema.dependentRequired : schema.dependencies
  return Object.entries(dependencies ?? {}).flatMap(([cause, names]): [string, string][] =>
    Array.isArray(names) && memberOf(value, cause) !== undefined
      ? missing(names).map((name) => [name, `is required beside ${literal(cause)}`])
      : [],
  )
}
