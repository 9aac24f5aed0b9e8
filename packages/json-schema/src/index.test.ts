// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, PEER_SCHEMA_OPTIONS } from './index.ts'
import { workOf } from './work.fixture.ts'

describe('createJsonSchemaValidator', () => {
  it('compiles a schema object once', () => {
    const validator = createJsonSchemaValidator()
    const schema = { type: 'string' }
    expect(validator.compile(schema)).toBe(validator.compile(schema))
    expect(validator.compile(schema)).not.toBe(validator.compile({ ...schema }))
    expect(createJsonSchemaValidator().compile(schema)).not.toBe(validator.compile(schema))
  })

  it('accepts a frozen schema and does not change it', () => {
    const schema = Object.freeze({ $id: 'x', properties: Object.freeze({ a: Object.freeze({ $ref: '#' }) }) })
    expect(createJsonSchemaValidator().compile(schema)({ a: { a: {} } })).toEqual({ valid: true })
    expect(Reflect.ownKeys(schema)).toEqual(['$id', 'properties'])
  })

  it('uses the name of the value that the caller passes', () => {
    const check = createJsonSchemaValidator().compile({ type: 'string' })
    expect(check(1)).toMatchObject({ problems: [{ path: 'value' }] })
    expect(check(1, 'structuredContent')).toMatchObject({ problems: [{ path: 'structuredContent' }] })
  })

  it('returns checks that can be nested', () => {
    const validator = createJsonSchemaValidator({ maxSteps: 100 })
    const check = validator.compile({ items: { type: 'number' } })
    const value = Array.from({ length: 40 }, () => 1)
    for (let round = 0; round < 10; round++) expect(check(value)).toEqual({ valid: true })
  })
})

describe('limits', () => {
  it.each([[Number.NaN], [-1], ['5' as never]])('of %o are rejected by name', (maxDepth) => {
    const message = `maxDepth: expected a number of 0 or more, got ${maxDepth}`
    expect(() => createJsonSchemaValidator({ maxDepth })).toThrow(new RangeError(message))
  })

  it('use their defaults for undefined', () => {
    const validator = createJsonSchemaValidator({ maxDepth: undefined as never })
    expect(validator.compile({ type: 'string' })('x').valid).toBe(true)
  })
})

describe('options', () => {
  it('with an unknown name are rejected by name', () => {
    const names = 'formats, patterns, maxDepth, maxSubschemas, maxPatternLength, maxPatternInput, maxSteps, maxProblems'
    const message = `there is no option "maxStep"; the options are ${names}`
    for (const maxStep of [5, undefined]) {
      expect(() => createJsonSchemaValidator({ maxStep } as object)).toThrow(new TypeError(message))
    }
  })

  it.each(['formats', 'patterns'])('%s with an unknown mode is rejected', (option) => {
    for (const mode of ['asert', true, null]) {
      const message = `${option}: expected "assert" or "annotate", got ${mode}`
      expect(() => createJsonSchemaValidator({ [option]: mode })).toThrow(new TypeError(message))
    }
  })
})

describe('formats', () => {
  const asserting = createJsonSchemaValidator()
  const annotating = createJsonSchemaValidator({ formats: 'annotate' })

  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-02-29T10:00:00Z', '2024-02-29'],
    ['duration', 'P1DT2H', '1 day'],
    ['email', 'ada@example.com', 'ada@'],
    ['hostname', 'example.com', '-example.com'],
    ['ipv4', '127.0.0.1', '127.0.0.256'],
    ['ipv6', '::1', '1::2::3'],
    ['json-pointer', '/a/b', 'a/b'],
    ['regex', '^a+$', '('],
    ['relative-json-pointer', '1/a', '/a'],
    ['time', '10:00:00Z', '25:00:00Z'],
    ['uri', 'https://example.com/a?b#c', '/relative'],
    ['uri-reference', '/relative?a', '\\a'],
    ['uri-template', 'x://{a}', 'x://{a'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
  ])('%s is asserted, unless formats are annotations', (format, right, wrong) => {
    for (const $schema of [undefined, 'http://json-schema.org/draft-07/schema#']) {
      const check = asserting.compile({ format, ...($schema && { $schema }) })
      expect(check(right)).toEqual({ valid: true })
      expect(check(5)).toEqual({ valid: true })
      expect(check(wrong).valid).toBe(false)
    }
    expect(annotating.compile({ format })(wrong)).toEqual({ valid: true })
  })

  it.each([
    ['url'],
    ['iri'],
    ['idn-email'],
    ['password'],
    ['int32'],
    ['__proto__'],
    ['hasOwnProperty'],
    ['toString'],
    [''],
  ])('%s is an annotation', (format) => {
    expect(asserting.compile({ format })('x y')).toEqual({ valid: true })
  })

  it('checks long strings in linear time', () => {
    const texts = ['a', '1:', 'a.', '1.', 'a/', '%20', '~0/', '{a}', 'http://a', '@', '-'].map(
      (part) => `${part.repeat(20_000)} `,
    )
    const work = workOf(() => {
      for (const format of [
        'date-time',
        'email',
        'hostname',
        'ipv6',
        'uri',
        'uri-reference',
        'uri-template',
        'duration',
        'json-pointer',
      ]) {
        const check = asserting.compile({ format })
        for (const text of texts) check(text)
      }
    })
    expect(work).toBeLessThan(1500)
  })
})

describe('patterns as annotations', () => {
  const validator = createJsonSchemaValidator({ patterns: 'annotate' })

  it('are parsed, but not run', () => {
    expect(validator.compile({ pattern: '^(a+)+$' })(`${'a'.repeat(50)}!`)).toEqual({ valid: true })
    expect(() => validator.compile({ pattern: '(' })).toThrow('must be a regular expression')
    const named = validator.compile({ patternProperties: { '^(a+)+$': false } })
    expect(named({ [`${'a'.repeat(50)}!`]: 1 })).toEqual({ valid: true })
  })

  it('leave all other keywords to be checked', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string', pattern: '^x', maxLength: 3 } },
      patternProperties: { '^_': { type: 'number' } },
      additionalProperties: false,
      required: ['id'],
    }
    const check = validator.compile(schema)
    expect(check({ id: 'abc', _n: 'one' })).toEqual({ valid: true })
    const problems = [{ path: 'value.id', message: 'expected at most 3 characters, got 4' }]
    expect(check({ id: 'abcd' })).toEqual({ valid: false, problems })
    expect(check({})).toEqual({ valid: false, problems: [{ path: 'value.id', message: 'is required' }] })
  })

  const pattern = { pattern: '^x' }
  it.each<[string, object, unknown]>([
    ['not', { not: pattern }, 'y'],
    ['not of not', { not: { not: pattern } }, 'x'],
    ['oneOf', { oneOf: [pattern, { pattern: '^y' }] }, 'y'],
    ['if and else', { if: pattern, then: { maxLength: 1 }, else: { maxLength: 2 } }, 'yy'],
    ['if without else', { if: pattern, then: false }, 'y'],
    ['contains', { contains: pattern, maxContains: 1 }, ['x', 'y', 'z']],
    ['propertyNames', { not: { propertyNames: pattern } }, { y: 1 }],
    ['a reference', { $defs: { a: pattern }, not: { $ref: '#/$defs/a' } }, 'y'],
    ['unevaluatedProperties', { patternProperties: { '^x': true }, unevaluatedProperties: false }, { x: 1 }],
    ['unevaluatedItems', { contains: pattern, unevaluatedItems: false }, ['x']],
    [
      'unevaluatedProperties behind if',
      { if: { patternProperties: { a: false } }, else: { properties: { b: true } }, unevaluatedProperties: false },
      { b: 1 },
    ],
    [
      'unevaluatedProperties behind anyOf',
      { not: { anyOf: [{ patternProperties: { '^x': true } }, true], unevaluatedProperties: false } },
      { y: 1 },
    ],
  ])('never refuse a valid value: %s', (_, schema, value) => {
    expect(validator.compile(schema as never)(value)).toEqual({ valid: true })
  })

  it.each<[string, object, unknown]>([
    ['not', { not: { anyOf: [{ type: 'string' }, pattern] } }, 'y'],
    ['oneOf', { oneOf: [pattern, { type: 'string' }, { maxLength: 5 }] }, 'y'],
    ['oneOf that fits none', { oneOf: [{ ...pattern, maxLength: 1 }, { type: 'number' }] }, 'yy'],
    ['if', { if: pattern, then: { maxLength: 1 }, else: { maxLength: 2 } }, 'yyy'],
    ['contains', { contains: { type: 'string' }, maxContains: 1, prefixItems: [pattern] }, ['x', 'y']],
    ['not, after another branch', { not: { anyOf: [pattern, { type: 'string' }] } }, 'y'],
    ['not, after a branch that fails', { not: { anyOf: [{ ...pattern, maxLength: 0 }, { type: 'string' }] } }, 'y'],
    ['oneOf of anyOf', { oneOf: [{ anyOf: [pattern, true] }, { type: 'string' }] }, 'y'],
    ['if of anyOf', { if: { anyOf: [{ ...pattern, maxLength: 0 }, true] }, then: { maxLength: 0 } }, 'y'],
  ])('refuse a value that is invalid whichever of them match: %s', (_, schema, value) => {
    expect(validator.compile(schema as never)(value)).toMatchObject({ valid: false })
  })
})

describe('PEER_SCHEMA_OPTIONS', () => {
  const validator = createJsonSchemaValidator(PEER_SCHEMA_OPTIONS)

  it('run no regular expression of the schema', () => {
    expect(validator.compile({ pattern: '^(a+)+$' })(`${'a'.repeat(50)}!`)).toEqual({ valid: true })
  })

  it('limit a check to 500,000 steps', () => {
    const problems = [{ path: 'value', message: 'takes more than 500000 steps to check' }]
    expect(validator.compile({ items: { type: 'null' } })(Array(600_000).fill(null))).toEqual({
      valid: false,
      problems,
    })
  })
})
