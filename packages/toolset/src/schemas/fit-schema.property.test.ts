/** Random schemas and values: a fitted schema loses nothing without saying so. */
import { createJsonSchemaValidator } from '@mcpx/json-schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DIALECTS, type Dialect } from './dialects.ts'
import { fitSchema } from './fit-schema.ts'
import { isObject, type JsonObject, listOf, objectOf } from './json.ts'

const dialects = Object.keys(DIALECTS) as Dialect[]
// FIT_RUNS and FIT_SEED search further; a failure prints its seed.
const numRuns = Number(process.env.FIT_RUNS ?? 300)
const runs = { numRuns, seed: Number(process.env.FIT_SEED ?? 1) }

const name = fc.constantFrom('a', 'b', 'a-b', '$c')
const scalar = fc.constantFrom<unknown>('a', 'b', 0, 1, 2.5, true, null)

const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, scalar, tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 2 }),
  object: fc.dictionary(name, tie('any'), { maxKeys: 3 }),
}))

const optional = <T>(arbitrary: fc.Arbitrary<T>, freq = 3) => fc.option(arbitrary, { nil: undefined, freq })

const { schema } = fc.letrec<{ schema: unknown; inner: JsonObject }>((tie) => {
  const inner = tie('schema')
  const type = fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'boolean', 'null')
  const list = fc.array(inner, { minLength: 1, maxLength: 2 })
  const objects = {
    properties: fc.dictionary(name, inner, { maxKeys: 3 }),
    required: optional(fc.uniqueArray(name, { maxLength: 2 })),
    additionalProperties: optional(fc.oneof(fc.constant(false), inner)),
    patternProperties: optional(fc.dictionary(fc.constant('^a'), inner, { minKeys: 1 }), 8),
  }
  const arrays = { items: optional(inner), prefixItems: optional(list, 6), minItems: optional(fc.constantFrom(1, 2)) }
  const compositions = {
    anyOf: optional(list),
    oneOf: optional(list, 6),
    allOf: optional(list),
    not: optional(inner, 8),
    if: optional(inner, 8),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: optional(inner, 8),
    else: optional(inner, 8),
  }
  const leaf = fc.oneof(
    fc.record({ type }),
    fc.record({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: scalar }),
    fc.record({ type: fc.constant('string'), minLength: fc.constantFrom(0, 2) }),
    fc.record({ type: fc.constant('integer'), minimum: fc.constantFrom(0, 1), exclusiveMaximum: fc.constant(2) }),
    fc.record({ $ref: fc.constantFrom('#/$defs/x', '#/$defs/y') }),
    fc.constantFrom<unknown>(true, false, {}),
  )
  return {
    inner: fc.record(objects) as fc.Arbitrary<JsonObject>,
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 4, arbitrary: leaf },
      { weight: 4, arbitrary: fc.record({ type: fc.constant('object'), ...objects }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('array'), ...arrays }) },
      { weight: 2, arbitrary: fc.record(compositions, { requiredKeys: [] }) },
    ) as fc.Arbitrary<unknown>,
  }
})

/** Small schemas, in which most often one keyword is changed: a change that is not reported is not hidden by another one. */
const single = fc.oneof(
  schema,
  fc.record({ oneOf: fc.tuple(schema, schema) }),
  schema.map((each) => ({ oneOf: [each, each] })),
  fc.record({ allOf: fc.tuple(schema, schema) }),
  fc.record({ anyOf: fc.tuple(schema, schema) }),
  fc.record({ type: fc.constant('array'), items: schema }),
  fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(name, schema, { maxKeys: 2 }),
    additionalProperties: fc.constant(false),
  }),
)

/** The root of tool arguments. Definitions refer to themselves only below a property, so that every check ends. */
const document = fc
  .record({
    own: fc.oneof(
      fc.record({ properties: fc.record({ a: single }), additionalProperties: fc.constant(false) }),
      fc.record({
        properties: fc.dictionary(name, schema, { maxKeys: 3 }),
        required: optional(fc.uniqueArray(name, { maxLength: 2 })),
        additionalProperties: optional(fc.constantFrom<unknown>(false, { type: 'string' })),
        anyOf: optional(fc.array(schema, { minLength: 1, maxLength: 2 }), 6),
        allOf: optional(fc.array(schema, { minLength: 1, maxLength: 2 }), 6),
      }),
    ),
    x: schema,
    y: schema,
  })
  .map(({ own, x, y }) => {
    const $defs = {
      x: { type: 'object', properties: { a: x } },
      y: { anyOf: [{ type: 'array', items: y }, { type: 'string' }] },
    }
    return JSON.parse(JSON.stringify({ type: 'object', ...own, $defs })) as JsonObject
  })

/** A tape of random numbers, with which a value is made that often fits a schema. */
const tape = fc.array(fc.nat(99), { minLength: 60, maxLength: 60 })

/** Returns a value that often fits a fitted schema or its original. */
function sample(root: JsonObject, numbers: readonly number[]): JsonObject {
  let position = 0
  return objectOf(make(root, 0))

  function pick<T>(list: readonly T[]): T {
    position += 1
    return list[(numbers[position % numbers.length] ?? 0) % list.length] as T
  }

  function make(node: unknown, depth: number): unknown {
    if (!isObject(node) || depth > 6) return pick(['a', 1, null, {}])
    if (typeof node.$ref === 'string') return make(objectOf(root.$defs)[node.$ref.slice(8)], depth + 1)
    if ('const' in node) return node.const
    if (Array.isArray(node.enum)) return pick(node.enum)
    const types = Array.isArray(node.type) ? node.type : [node.type ?? pick(['object', 'string', 'integer'])]
    const parts = [
      ...listOf(node.allOf),
      ...[node.anyOf, node.oneOf].flatMap((list) => (list ? [pick(listOf(list))] : [])),
    ]
    const made = parts.map((part) => make(part, depth + 1))
    const type = pick(types)
    if (made.length > 0 && (type !== 'object' || !made.every(isObject))) return made[0]
    if (type === 'array')
      return listOf(node.prefixItems ?? [node.items, node.items]).map((item) => make(item, depth + 1))
    if (type !== 'object') {
      const values: Record<string, readonly unknown[]> = {
        string: ['a', 'abc'],
        integer: [0, 1, 7],
        number: [2.5, 1],
        boolean: [true],
      }
      return pick(values[String(type)] ?? [null])
    }
    const properties = Object.entries(objectOf(node.properties)).filter(
      ([own]) => listOf(node.required).includes(own) || pick([true, false]),
    )
    const missing = listOf(node.required).map((own) => [String(own), pick(['a', 1])] as const)
    const extra = pick([0, 0, 0, 1]) === 1 ? { z: 1 } : {}
    return Object.assign(
      extra,
      Object.fromEntries(missing),
      ...made,
      Object.fromEntries(properties.map(([own, each]) => [own, make(each, depth + 1)])),
    )
  }
}

const validator = createJsonSchemaValidator()

/** Returns a check, or undefined for a schema that cannot be used. */
function compile(candidate: JsonObject): ((candidateValue: unknown) => boolean) | undefined {
  try {
    const check = validator.compile(candidate)
    return (candidateValue) => check(candidateValue).valid
  } catch {
    return undefined
  }
}

/** Renames the properties of arguments as the schema does, and writes `null` for a missing one where the schema demands it. */
function encode(args: JsonObject, fitted: ReturnType<typeof fitSchema>): JsonObject {
  const names = new Map(
    Object.keys(objectOf(fitted.schema.properties)).map((own) => [Object.keys(fitted.restore({ [own]: 1 }))[0], own]),
  )
  const renamed = Object.fromEntries(Object.entries(args).map(([own, each]) => [names.get(own) ?? own, each]))
  const isNullable = fitted.strict && listOf(fitted.schema.required).length === names.size
  return isNullable ? objectOf(withNulls(renamed, fitted.schema)) : renamed
}

function withNulls(each: unknown, { anyOf, properties, items }: JsonObject): unknown {
  for (const branch of listOf(anyOf)) {
    const filled = withNulls(each, objectOf(branch))
    if (compile(objectOf(branch))?.(filled) === true) return filled
  }
  if (Array.isArray(each)) return each.map((item) => withNulls(item, objectOf(items)))
  if (!isObject(each)) return each
  const missing = Object.keys(objectOf(properties)).map((own) => [own, null])
  const filled = Object.entries(each).map(([own, inner]) => [
    own,
    withNulls(inner, objectOf(objectOf(properties)[own])),
  ])
  return { ...Object.fromEntries(missing), ...Object.fromEntries(filled) }
}

describe.each(dialects)('%s', { timeout: 120_000 }, (dialect) => {
  test('accepts only values of the original, unless a change is reported as wider', () => {
    let accepted = 0
    fc.assert(
      fc.property(document, value.object, fc.array(tape, { minLength: 4, maxLength: 4 }), (original, args, tapes) => {
        const isValid = compile(original)
        const fitted = fitSchema(original, dialect)
        const check = compile(fitted.schema)
        if (isValid === undefined) return
        expect(check).toBeDefined()
        const renamed = new Set(
          fitted.changes.filter(({ message }) => message.startsWith('renamed')).map(({ keyword }) => keyword),
        )
        const candidates = tapes.flatMap((numbers) => [
          sample(fitted.schema, numbers),
          encode(sample(original, numbers), fitted),
        ])
        for (const candidate of [args as JsonObject, ...candidates]) {
          // A model that uses the original name of a renamed property is no concern of the schema; the call checks it.
          if (Object.keys(candidate).some((own) => renamed.has(own)) || check?.(candidate) !== true) continue
          accepted += 1
          const isReported = fitted.changes.some(({ effect }) => effect === 'wider')
          if (!isReported) expect(isValid(fitted.restore(candidate))).toBe(true)
        }
      }),
      runs,
    )
    expect(accepted).toBeGreaterThan(numRuns / 40)
  })

  test('accepts all values of the original, unless a change is reported as narrower', () => {
    let accepted = 0
    fc.assert(
      fc.property(document, fc.array(tape, { minLength: 8, maxLength: 8 }), (original, tapes) => {
        const isValid = compile(original)
        const args = tapes.map((numbers) => sample(original, numbers)).find((each) => isValid?.(each))
        if (isValid === undefined || args === undefined) return
        const fitted = fitSchema(original, dialect)
        const encoded = encode(args, fitted)
        if (fitted.changes.some(({ effect }) => effect === 'narrower')) return
        accepted += 1
        expect(compile(fitted.schema)?.(encoded)).toBe(true)
        expect(isValid(fitted.restore(encoded))).toBe(true)
      }),
      runs,
    )
    expect(accepted).toBeGreaterThan(numRuns / 40)
  })

  test('follows the rules of the dialect', () => {
    fc.assert(
      fc.property(document, (original) => {
        const { schema: fitted, strict } = fitSchema(original, dialect)
        const rules = DIALECTS[dialect]
        expect(fitted.type).toBe('object')
        for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'])
          expect(fitted).not.toHaveProperty(keyword)
        if (strict || rules.strict === undefined) expect(faultsOf(fitted, dialect)).toEqual([])
      }),
      runs,
    )
  })
})

/** Returns the violations of the documented rules of a dialect, written independently of the fitting. */
function faultsOf(fitted: JsonObject, dialect: Dialect): readonly string[] {
  const { keywords, names, strict } = DIALECTS[dialect]
  const faults: string[] = []
  if (names) faults.push(...Object.keys(objectOf(fitted.properties)).filter((own) => !names.test(own)))
  visit(fitted)
  return faults

  function visit(node: unknown): void {
    if (!isObject(node)) return
    if (keywords !== undefined) faults.push(...Object.keys(node).filter((keyword) => !keywords.has(keyword)))
    const types = Array.isArray(node.type) ? node.type : [node.type]
    if (types.includes('array') && node.items === undefined) faults.push('no items')
    if (Array.isArray(node.items)) faults.push('old tuple')
    if (dialect === 'gemini' && types.filter((type) => type !== 'null').length > 1 && node.anyOf === undefined)
      faults.push('types')
    if (strict !== undefined && types.includes('object')) {
      if (node.additionalProperties !== false) faults.push('open')
      const own = Object.keys(objectOf(node.properties))
      if (strict === 'required' && own.some((each) => !listOf(node.required).includes(each))) faults.push('optional')
    }
    if (strict !== undefined && node.type === undefined && node.anyOf === undefined) faults.push('no type')
    for (const keyword of ['properties', 'patternProperties', '$defs', 'dependentSchemas'])
      Object.values(objectOf(node[keyword])).forEach(visit)
    for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) listOf(node[keyword]).forEach(visit)
    for (const keyword of ['items', 'additionalProperties', 'not', 'if', 'then', 'else']) visit(node[keyword])
  }
}
