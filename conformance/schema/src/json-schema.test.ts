// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
/** Compares the validator with other validators, for random schemas and values. */

import { createJsonSchemaValidator, type JsonSchema, JsonSchemaError } from '@mcpx/json-schema'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`json-schema verdicts: FC_SEED=${seed}`)

type Keywords = Record<string, unknown>

const name = fc.constantFrom('a', 'b', 'ab', 'c')
const names = fc.uniqueArray(name, { maxLength: 3 })
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 3, -1, 1.5, '', 'a', 'b', 'ab', '😀', 'c')
const record = <T>(values: fc.Arbitrary<T>, maxKeys: number) =>
  fc.dictionary(name, values, { maxKeys, noNullPrototype: true })

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    record(tie('value'), 4),
  ),
}))

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const small = fc.integer({ min: 0, max: 3 })
const pattern = fc.constantFrom('^a', 'b$', '^.$', '[bc]', '^[^a]*$')

const assertions: Record<string, fc.Arbitrary<unknown>> = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (each) => JSON.stringify(each) }),
  const: value,
  minimum: small,
  maximum: small,
  exclusiveMinimum: small,
  exclusiveMaximum: small,
  multipleOf: fc.constantFrom(1, 2, 3, 0.5),
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
})

const older: Grammar = (one, many) => ({
  dependencies: record(fc.oneof(one, names), 2),
  items: fc.oneof(one, many),
  additionalItems: one,
})

/** Schemas with some of the given keywords. */
const some = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .subarray(Object.entries(keywords), { maxLength: Math.min(4, Object.keys(keywords).length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)) as fc.Arbitrary<Keywords>)

/** Schemas with two definitions. In draft-07 keywords beside `$ref` are ignored, which ajv does not do, so they are separate. */
function documents(latest: boolean, grammars: readonly Grammar[], asserted = assertions): fc.Arbitrary<Keywords> {
  const defs = latest ? '$defs' : 'definitions'
  const $ref = fc.constantFrom(`#/${defs}/a`, `#/${defs}/b`, '#')
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const one = tie('schema')
    const many = fc.array(one, { minLength: 1, maxLength: 3 })
    const applied = some(Object.assign({}, ...grammars.map((grammar) => grammar(one, many)), latest && { $ref }))
    const both = fc.tuple(some(asserted), applied).map(([left, right]) => ({ ...left, ...right }))
    return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), fc.record({ $ref }), some(asserted), applied, both) }
  })
  const object = schema.filter((made): made is Keywords => typeof made === 'object')
  return fc.record({ root: object, a: schema, b: schema }).map(({ root, a, b }) => ({ ...root, [defs]: { a, b } }))
}

const validator = createJsonSchemaValidator()
const latestDialect = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'

/** Compares the results for eight values per schema. Schemas that are rejected as recursive are skipped. */
function compare(
  title: string,
  schemas: fc.Arbitrary<JsonSchema>,
  oracleOf: (schema: JsonSchema) => (value: unknown) => boolean,
  numRuns = 400,
) {
  const counts = { valid: 0, invalid: 0, recursive: 0 }
  afterAll(() => console.log(`json-schema verdicts, ${title}: ${JSON.stringify(counts)}`))

  it(`are the same ${title}`, () => {
    const property = fc.property(schemas, fc.array(value, { minLength: 8, maxLength: 8 }), (schema, values) => {
      let check: ReturnType<typeof validator.compile>
      try {
        check = validator.compile(schema)
      } catch (error) {
        if (!(error instanceof JsonSchemaError && error.reason === 'recursion')) throw error
        counts.recursive += 1
        return
      }
      const oracle = oracleOf(schema)
      for (const each of values) {
        const verdict = check(each)
        const { valid } = verdict
        counts[valid ? 'valid' : 'invalid'] += 1
        if (valid !== oracle(each)) throw new Error(`expected ${!valid} for ${JSON.stringify(each)}, got ${valid}`)
        const vague = !verdict.valid && verdict.problems.some(({ message }) => message === 'does not fit the schema')
        if (vague) throw new Error(`expected a specific problem for ${JSON.stringify(each)}`)
      }
    })
    fc.assert(property, { seed, numRuns })
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(150)
    expect(counts.recursive).toBeLessThan(numRuns * 0.6)
  })
}

/** `contains` is not compared with ajv, which accepts empty arrays beside some keywords. */
describe('validation results and those of ajv', () => {
  const options = { strict: false, validateFormats: false, logger: false } as const
  const ajv2020 = new Ajv2020(options)
  // ajv's tracking of evaluated members throws on some schemas.
  ajv2020.opts.unevaluated = false
  const ajv = new Ajv(options)
  const latest = documents(true, [applicators, newer]).map((made): JsonSchema => ({ $schema: latestDialect, ...made }))
  const old = documents(false, [applicators, older]).map((made): JsonSchema => ({ $schema: draft07, ...made }))

  compare('in 2020-12', latest, (schema) => ajv2020.compile(schema))
  compare('in draft-07', old, (schema) => ajv.compile(schema))
})

interface Evaluated {
  readonly valid: boolean
  /** The evaluated properties and indexes. A failed schema evaluates none. */
  readonly keys: ReadonlySet<string>
}

/** A slow reference implementation of annotations for some keywords, written after the specification. ajv is wrong here:
 * it ignores evaluations by schemas that accept everything, and throws on some nested schemas.
 */
function reference(schema: unknown, value: unknown, root: Keywords): Evaluated {
  if (typeof schema === 'boolean') return { valid: schema, keys: new Set() }
  const given = schema as Keywords & Record<'prefixItems' | 'allOf' | 'anyOf' | 'oneOf', unknown[] | undefined>
  const keys = new Set<string>()
  let valid = true
  const collect = (result: Evaluated) => {
    if (result.valid) for (const key of result.keys) keys.add(key)
    return result.valid
  }
  const apply = (sub: unknown) => collect(reference(sub, value, root))
  const child = (sub: unknown, key: string) => {
    keys.add(key)
    if (!reference(sub, (value as Keywords)[key], root).valid) valid = false
  }
  const members = typeof value === 'object' && value !== null ? Object.keys(value) : []
  const isList = Array.isArray(value)

  if (given.type !== undefined && given.type !== (isList ? 'array' : value === null ? 'null' : typeof value))
    valid = false
  if (typeof given.$ref === 'string') {
    const target = given.$ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, key) => (at as Keywords)[key], root)
    if (!apply(target)) valid = false
  }
  if (given.allOf?.map(apply).includes(false)) valid = false
  if (given.anyOf && !given.anyOf.map(apply).includes(true)) valid = false
  if (given.oneOf && given.oneOf.map(apply).filter(Boolean).length !== 1) valid = false
  if (given.not !== undefined && reference(given.not, value, root).valid) valid = false
  if (given.if !== undefined && !apply(apply(given.if) ? (given.then ?? true) : (given.else ?? true))) valid = false
  if (!isList) {
    for (const [key, sub] of Object.entries(given.dependentSchemas ?? {}))
      if (members.includes(key) && !apply(sub)) valid = false
    for (const key of members)
      if (Object.hasOwn(given.properties ?? {}, key)) child((given.properties as Keywords)[key], key)
    if (given.additionalProperties !== undefined) {
      for (const key of members) if (!Object.hasOwn(given.properties ?? {}, key)) child(given.additionalProperties, key)
    }
    if (given.unevaluatedProperties !== undefined) {
      for (const key of members) if (!keys.has(key)) child(given.unevaluatedProperties, key)
    }
    return { valid, keys }
  }
  const prefix = given.prefixItems ?? []
  for (const key of members) {
    if (Number(key) < prefix.length) child(prefix[Number(key)], key)
    else if (given.items !== undefined) child(given.items, key)
  }
  if (given.contains !== undefined) {
    const found = members.filter((key) => reference(given.contains, value[Number(key)], root).valid)
    for (const key of found) keys.add(key)
    if (found.length < Number(given.minContains ?? 1) || found.length > Number(given.maxContains ?? 4)) valid = false
  }
  if (given.unevaluatedItems !== undefined)
    for (const key of members) if (!keys.has(key)) child(given.unevaluatedItems, key)
  return { valid, keys }
}

describe('validation results and those of the reference implementation', () => {
  const leaf = fc.constantFrom<unknown>(
    true,
    false,
    { type: 'array' },
    { type: 'object' },
    { properties: { a: true } },
    { properties: { b: { type: 'string' } } },
    { additionalProperties: { type: 'number' } },
    { unevaluatedProperties: false },
    { properties: { a: true }, unevaluatedProperties: false },
    { prefixItems: [true] },
    { items: { type: 'string' } },
    { contains: { type: 'string' } },
    { unevaluatedItems: false },
    { prefixItems: [true], unevaluatedItems: false },
  )
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const one = tie('schema')
    const many = fc.array(one, { minLength: 1, maxLength: 2 })
    const keywords = {
      $ref: fc.constantFrom('#/$defs/a', '#/$defs/b'),
      allOf: many,
      anyOf: many,
      oneOf: many,
      not: one,
      if: one,
      then: one,
      else: one,
      properties: record(one, 2),
      dependentSchemas: record(one, 2),
      items: one,
      unevaluatedProperties: fc.constant(false),
      unevaluatedItems: fc.constant(false),
      contains: leaf,
      minContains: small,
      maxContains: small,
    }
    return { schema: fc.oneof({ maxDepth: 3 }, leaf, { arbitrary: some(keywords), weight: 4 }) }
  })
  const made = fc
    .record({ root: schema, a: leaf, b: leaf })
    .map(({ root, a, b }): JsonSchema => ({ ...(root as Keywords), $defs: { a, b } }))

  const oracle = (given: JsonSchema) => (each: unknown) => reference(given, each, given as Keywords).valid
  compare('with unevaluated items and properties', made, oracle, 1500)
})
