/** The keywords `type`, `const` and `enum`, the keywords for numbers and strings, and the comparison of JSON values. */

import { type Check, type Evaluation, type Expectation, failWith, spendSteps } from '../evaluate.ts'
import { formats } from '../formats.ts'
import { isContainer, jsonTypeOf } from '../json.ts'
import {
  type CheckBuilder,
  compareWith,
  isSetOf,
  isString,
  type KeywordDefinition,
  type KeywordGroup,
  limitSize,
  sizeRule,
  stringRule,
} from '../keyword.ts'
import { formatValues, joinWithOr, truncate } from '../messages.ts'
import { ValueSet } from '../value-set.ts'

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

const isType = (value: unknown) => TYPES.includes(value as string)

const describeType = (expected: readonly string[], value: unknown) => {
  const hasFraction = typeof value === 'number' && expected.includes('integer')
  return `expected ${joinWithOr(expected)}, got ${hasFraction ? 'a number with a fraction' : jsonTypeOf(value)}`
}

/** Accepts JSON types, and throws a `TypeError` for all others. */
export const assertJson: Check = (value) => {
  if (['object', 'string', 'number', 'boolean'].includes(typeof value)) return true
  throw new TypeError('The value is not JSON')
}

const buildType: CheckBuilder<string | readonly string[]> = (type) => {
  const expected = [type].flat()
  const expectation: Expectation = { kind: 'type', words: expected }
  // A comparison with `typeof` decides for most values. It is not used for `object`, which includes arrays and null.
  const typeofName = type === 'object' ? '' : type
  return (value, evaluation, evaluated) =>
    typeof value === typeofName ||
    expected.includes(jsonTypeOf(value)) ||
    (expected.includes('integer') && Number.isInteger(value)) ||
    (assertJson(value, evaluation, evaluated) && failWith(evaluation, describeType, expected, value, expectation))
}

/** Serializes a value with sorted member names, so that equal JSON values have equal strings. */
export function canonicalize(value: unknown, evaluation: Evaluation): string {
  if (!isContainer(value)) {
    assertJson(value, evaluation, undefined)
    const json = JSON.stringify(value)
    spendSteps(evaluation, json.length >> 4)
    return json
  }
  if (Array.isArray(value)) {
    spendSteps(evaluation, value.length)
    return `[${value.map((item) => canonicalize(item, evaluation))}]`
  }
  const names = Object.keys(value).filter((name) => value[name as never] !== undefined)
  spendSteps(evaluation, names.length * 4)
  const members = names
    .sort()
    .map((name) => `${canonicalize(name, evaluation)}:${canonicalize(value[name as never], evaluation)}`)
  return `{${members}}`
}

const buildEnum: CheckBuilder<readonly unknown[]> = (allowed) => {
  const allowedSet = new ValueSet(allowed)
  const allowedTypes = new Set(allowed.map(jsonTypeOf))
  const containers = allowed.filter(isContainer)
  // Create the set for the first value that needs it, so that its cost counts against the step limit of this value.
  let canonical: ValueSet | undefined
  const words = formatValues(allowed)
  const expectation: Expectation = { kind: 'value', words: [words] }
  const describe = (_: number, value: unknown) => {
    const type = jsonTypeOf(value)
    return `expected ${words}, got ${value !== null && allowedTypes.has(type) ? 'another ' : ''}${type}`
  }
  return (value, evaluation) => {
    if (allowedSet.has(value, evaluation)) return true
    if (containers.length > 0 && isContainer(value)) {
      canonical ??= new ValueSet(
        containers.map((container) => canonicalize(container, evaluation)),
        evaluation,
      )
      if (canonical.has(canonicalize(value, evaluation), evaluation)) return true
    }
    return failWith(evaluation, describe, 0, value, expectation)
  }
}

export const valueKeywords: KeywordGroup = {
  type: {
    holds: {
      expected: `one of ${TYPES.join(', ')}, or a list of different ones`,
      accepts: (value) => isType(value) || (isSetOf(value, isType) && (value as unknown[]).length > 0),
    },
    build: buildType,
  },
  const: {
    holds: { expected: '', accepts: () => true },
    build: (value, keywords, options) => buildEnum([value], keywords, options),
  },
  enum: { holds: { expected: 'a list', accepts: Array.isArray }, build: buildEnum },
}

const isNumber = (value: unknown) => typeof value === 'number'

/** Creates the definition of a keyword that limits a number. `#` in the expected text is replaced with the limit. */
const limitNumber = (expected: string, isValid: (value: number, limit: number) => boolean): KeywordDefinition => ({
  holds: { expected: 'a number', accepts: Number.isFinite },
  build: compareWith(isNumber, isValid, (limit: number) => `expected ${expected.replace('#', String(limit))}`),
})

export const numberKeywords: KeywordGroup = {
  minimum: limitNumber('# or more', (value, limit) => value >= limit),
  maximum: limitNumber('# or less', (value, limit) => value <= limit),
  exclusiveMinimum: limitNumber('more than #', (value, limit) => value > limit),
  exclusiveMaximum: limitNumber('less than #', (value, limit) => value < limit),
  multipleOf: {
    ...limitNumber('a multiple of #', isMultipleOf),
    holds: { expected: 'a number above 0', accepts: (value) => Number.isFinite(value) && (value as number) > 0 },
  },
}

/** Divides decimal numbers exactly, so that 0.07 is a multiple of 0.01. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [digits, exponent] = toDecimal(value)
  const [divisorDigits, divisorExponent] = toDecimal(divisor)
  const common = Math.min(exponent, divisorExponent)
  return (digits * 10n ** BigInt(exponent - common)) % (divisorDigits * 10n ** BigInt(divisorExponent - common)) === 0n
}

/** Splits a number into an integer and a power of ten. */
function toDecimal(value: number): [digits: bigint, exponent: number] {
  const [, integer = '', fraction = '', exponent] = /^(-?\d+)(?:\.(\d+))?e(.+)$/.exec(value.toExponential()) ?? []
  return [BigInt(integer + fraction), Number(exponent) - fraction.length]
}

/** Returns the length in Unicode code points. */
function countCharacters(value: string, evaluation: Evaluation): number {
  spendSteps(evaluation, value.length >> 3)
  return /[\ud800-\udfff]/.test(value) ? Array.from(value).length : value.length
}

const describePattern = (pattern: string) => `expected text that matches /${truncate(pattern, 100)}/`

/** Accepts every string, because the pattern is an annotation. */
const skipPattern: Check = (value, evaluation) => {
  if (typeof value === 'string') evaluation.skippedPatterns++
  return true
}

const buildPattern: CheckBuilder<string> = (pattern, _, { limits, assertPatterns }) => {
  if (!assertPatterns) return skipPattern
  const expression = new RegExp(pattern, 'u')
  return (value, evaluation) => {
    if (typeof value !== 'string') return true
    if (value.length > limits.maxPatternInput) {
      return failWith(evaluation, String, 'is too long to be tested against a pattern', 0)
    }
    spendSteps(evaluation, value.length >> 4)
    return expression.test(value) || failWith(evaluation, describePattern, pattern, 0)
  }
}

const assertFormat: CheckBuilder<string> = compareWith(
  isString,
  (value, format, evaluation) => {
    // Compiling a regular expression takes about a thousand times as long as matching a string of its length.
    spendSteps(evaluation, format === 'regex' ? value.length * 16 : value.length >> 4)
    return formats[format]?.(value) ?? true
  },
  (format) => `expected text in the format ${format}`,
)

/** Builds the check of a format. Formats that are not in the table are annotations. */
const buildFormat: CheckBuilder<string> = (format, keywords, options) =>
  options.assertFormats && Object.hasOwn(formats, format) ? assertFormat(format, keywords, options) : undefined

export const stringKeywords: KeywordGroup = {
  pattern: { holds: stringRule, build: buildPattern },
  minLength: { holds: sizeRule, build: limitSize('least', isString, countCharacters, 'character') },
  maxLength: { holds: sizeRule, build: limitSize('most', isString, countCharacters, 'character') },
  format: { holds: stringRule, build: buildFormat },
}
