/** The types of keyword definitions and schema nodes, and the checks that several keywords share. */

import { type Check, type Evaluation, failWith } from './evaluate.ts'
import type { JsonSchemaLimits } from './limits.ts'
import { formatCount } from './messages.ts'

export type Dialect = '2020-12' | 'draft-07'

export interface CompileOptions {
  readonly limits: Readonly<JsonSchemaLimits>
  readonly assertFormats: boolean
  readonly assertPatterns: boolean
}

/** A schema or subschema. */
export interface SchemaNode {
  readonly keywords: Keywords
  /** The base URI of references in the schema. Undefined for the schemas `true` and `false`. */
  readonly base?: string
  /** The check. It is set after the whole document was read, because references can point to any part of it. */
  check: Check
}

/** The members of an object in a schema. */
export type Members<T> = readonly (readonly [name: string, value: T])[]

/** The values of the keywords of one schema. Keywords that its dialect does not have are missing. */
export interface Keywords {
  /** Targets of `$ref` and `$dynamicRef`. */
  $ref?: readonly SchemaNode[]
  then?: SchemaNode
  else?: SchemaNode
  properties?: Members<SchemaNode>
  patternProperties?: Members<SchemaNode>
  additionalProperties?: SchemaNode
  prefixItems?: readonly SchemaNode[]
  items?: SchemaNode | readonly SchemaNode[]
  additionalItems?: SchemaNode
  minContains?: number
  maxContains?: number
  [keyword: string]: unknown
}

/** Builds the check of a keyword. Returns undefined if the check of another keyword includes it. */
export type CheckBuilder<Value> = (value: Value, keywords: Keywords, options: CompileOptions) => Check | undefined

/** The values that a keyword without subschemas accepts. */
export interface ValueRule {
  /** The end of the sentence `must be ...`. */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

export interface KeywordDefinition {
  /** How the value of the keyword contains subschemas, or the rule for a value without subschemas. */
  readonly holds: 'schema' | 'list' | 'map' | ValueRule
  readonly build?: CheckBuilder<never>
  /** The only dialect that has the keyword. Default: both have it. */
  readonly dialect?: Dialect
}

export type KeywordGroup = Readonly<Record<string, KeywordDefinition>>

export const isString = (value: unknown) => typeof value === 'string'

/** Returns whether a value is an array of distinct items that are all accepted. */
export function isSetOf(value: unknown, accepts: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(accepts) && new Set(value).size === value.length
}

export const stringRule: ValueRule = { expected: 'a string', accepts: isString }

export const nameListRule: ValueRule = {
  expected: 'a list of different strings',
  accepts: (value) => isSetOf(value, isString),
}

export const sizeRule: ValueRule = {
  expected: 'an integer that is not negative',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
}

/** Creates the builder for a keyword that applies only to values of one type. */
export function compareWith<Value, Limit>(
  applies: (value: unknown) => value is Value,
  isValid: (value: Value, limit: Limit, evaluation: Evaluation) => boolean,
  describe: (limit: Limit, value: Value) => string,
): CheckBuilder<Limit> {
  return (limit) => (value, evaluation) =>
    !applies(value) || isValid(value, limit, evaluation) || failWith(evaluation, describe, limit, value)
}

/** Creates the definition of a keyword that limits a size, such as `minItems`. */
export function limitSize<Value>(
  bound: 'least' | 'most',
  applies: (value: unknown) => value is Value,
  sizeOf: (value: Value, evaluation: Evaluation) => number,
  singular: string,
  plural?: string,
): CheckBuilder<number> {
  const describe = (limit: number, size: number) =>
    `expected at ${bound} ${formatCount(limit, singular, plural)}, got ${size}`
  return (limit) => (value, evaluation) => {
    if (!applies(value)) return true
    const size = sizeOf(value, evaluation)
    const isValid = bound === 'least' ? size >= limit : size <= limit
    return isValid || failWith(evaluation, describe, limit, size)
  }
}
