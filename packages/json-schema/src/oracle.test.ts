// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
/** Compares the results with those of another validator, for random schemas, values and strings. */

import { type Schema, Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, JsonSchemaError } from './index.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`json-schema/oracle: FC_SEED=${seed}`)

type Keywords = Record<string, unknown>

const validator = createJsonSchemaValidator()
const annotating = createJsonSchemaValidator({ patterns: 'annotate' })
const latest = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'

const name = fc.constantFrom('a', 'b', 'ab', 'c')
const names = fc.uniqueArray(name, { maxLength: 3 })
const record = <T>(values: fc.Arbitrary<T>, maxKeys: number) =>
  fc.dictionary(name, values, { maxKeys, noNullPrototype: true })
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1, 1.5, 0.07, 1e300, '', 'a', 'ab', '😀', 'é', 'c')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 4 }), record(tie('value'), 4)),
}))
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const small = fc.integer({ min: 0, max: 3 })
const pattern = fc.constantFrom('^a', 'b$', '^.$', '[bc]', '^[^a]*$')

const assertions: Record<string, fc.Arbitrary<unknown>> = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  enum: fc.array(value, { minLength: 1, maxLength: 4 }),
  const: value,
  minimum: small,
  maximum: small,
  exclusiveMinimum: small,
  exclusiveMaximum: small,
  multipleOf: fc.constantFrom(1, 2, 0.5, 0.01, 1e-8, 7),
  minLength: small,
  maxLength: small,
  pattern,
  minItems: small,
  maxItems: small,
  uniqueItems: fc.boolean(),
  minProperties: small,
  maxProperties: small,
  required: names,
}

type Grammar = (one: fc.Arbitrary<unknown>, many: fc.Arbitrary<unknown>) => Record<string, fc.Arbitrary<unknown>>

const applicators: Grammar = (one, many) => ({
  properties: record(one, 3),
  patternProperties: fc.dictionary(pattern, one, { maxKeys: 2, noNullPrototype: true }),
  additionalProperties: one,
  propertyNames: one,
  dependencies: record(fc.oneof(one, names), 2),
  contains: one,
  allOf: many,
  anyOf: many,
  oneOf: many,
  not: one,
  if: one,
  then: one,
  else: one,
})

const newer: Grammar = (one, many) => ({
  dependentRequired: record(names, 2),
  dependentSchemas: record(one, 2),
  prefixItems: many,
  items: one,
  minContains: small,
  maxContains: small,
})

const older: Grammar = (one, many) => ({ items: fc.oneof(one, many), additionalItems: one })

/** Schemas with some of the given keywords. */
const some = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .subarray(Object.entries(keywords), { maxLength: 4 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)) as fc.Arbitrary<Keywords>)

function documents($schema: string, defs: string, grammars: readonly Grammar[]): fc.Arbitrary<Keywords> {
  const $ref = fc.constantFrom(`#/${defs}/a`, `#/${defs}/b`)
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const one = tie('schema')
    const many = fc.array(one, { minLength: 1, maxLength: 3 })
    const applied = some(Object.assign({ $ref }, ...grammars.map((grammar) => grammar(one, many))))
    const both = fc.tuple(some(assertions), applied).map(([left, right]) => ({ ...left, ...right }))
    return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), fc.record({ $ref }), some(assertions), applied, both) }
  })
  const object = schema.filter((made): made is Keywords => typeof made === 'object')
  return fc
    .record({ root: object, a: schema, b: schema })
    .map(({ root, a, b }) => ({ $schema, ...root, [defs]: { a, b } }))
}

/** Compares the results for six values per schema. Schemas that are rejected as recursive are skipped. */
function compare(dialect: '2020-12' | '7', schemas: fc.Arbitrary<Keywords>, numRuns: number): void {
  const counts = { valid: 0, invalid: 0, recursive: 0 }
  afterAll(() => console.log(`json-schema/oracle, ${dialect}: ${JSON.stringify(counts)}`))
  const property = fc.property(schemas, fc.array(value, { minLength: 6, maxLength: 6 }), (schema, values) => {
    let check: ReturnType<typeof validator.compile>
    try {
      check = validator.compile(schema)
    } catch (error) {
      if (!(error instanceof JsonSchemaError && error.reason === 'recursion')) throw error
      counts.recursive += 1
      return
    }
    const oracle = new Validator(schema as Schema, dialect)
    for (const each of values) {
      const verdict = check(each)
      counts[verdict.valid ? 'valid' : 'invalid'] += 1
      if (verdict.valid !== oracle.validate(each).valid) {
        throw new Error(`the other says ${!verdict.valid} of ${JSON.stringify(each)}`)
      }
      if (verdict.valid && !annotating.compile(schema)(each).valid) {
        throw new Error(`refused with patterns as annotations: ${JSON.stringify(each)}`)
      }
      if (!verdict.valid) expect(verdict.problems.length).toBeGreaterThan(0)
      expect(JSON.stringify(verdict)).not.toContain('does not fit the schema')
    }
  })
  fc.assert(property, { seed, numRuns })
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(numRuns / 2)
}

describe('results equal those of another validator', () => {
  it('in 2020-12', () => {
    compare('2020-12', documents(latest, '$defs', [applicators, newer]), 500)
  })

  it('in draft-07', () => {
    compare('7', documents(draft07, 'definitions', [applicators, older]), 500)
  })
})

describe('formats equal those of another validator', () => {
  const examples: Record<string, string> = {
    date: '2024-02-29',
    'date-time': '1998-12-31T15:59:60.123-08:00',
    duration: 'P4Y12M3DT12H30M5S',
    email: '"joe b"@example.com',
    hostname: 'www.ex-ample.com',
    ipv4: '192.168.0.10',
    ipv6: '::ffff:192.168.0.1',
    'json-pointer': '/foo/b~0~1ar',
    'relative-json-pointer': '10/foo~0',
    time: '23:59:60+00:00',
    'uri-template': 'http://x/{+a,b.c:3}/%20',
    uuid: '2eb8aa08-aa98-11ea-b4aa-73b441d16380',
  }

  it.each(Object.entries(examples))('%s', (format, example) => {
    const check = validator.compile({ format })
    const oracle = new Validator({ format }, '2020-12')
    expect(check(example).valid).toBe(true)
    const part = fc.constantFrom(
      '',
      '0',
      '1',
      '6',
      '9',
      'a',
      'g',
      ':',
      '::',
      '.',
      '-',
      '/',
      '~',
      '"',
      '{',
      '}',
      ',',
      '@',
      '%',
      ' ',
      'T',
      'Z',
      '\n',
    )
    const place = fc.nat({ max: example.length })
    const edit = fc.tuple(place, fc.nat({ max: 3 }), part)
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const text = edits.reduce((made, [at, cut, put]) => made.slice(0, at) + put + made.slice(at + cut), example)
        if (check(text).valid !== oracle.validate(text).valid) throw new Error(`differs for ${JSON.stringify(text)}`)
      }),
      { seed, numRuns: 1000 },
    )
  })
})
