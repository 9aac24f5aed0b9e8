// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, type JsonSchema, JsonSchemaError, SUPPORTED_DIALECTS } from './index.ts'
import { workOf } from './work.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`json-schema/compilation: FC_SEED=${seed}`)

const validator = createJsonSchemaValidator()
const draft07 = 'http://json-schema.org/draft-07/schema#'

function refusalOf(schema: unknown, using = validator): JsonSchemaError {
  try {
    using.compile(schema as JsonSchema)
  } catch (error) {
    if (error instanceof JsonSchemaError) return error
    throw error
  }
  throw new Error('the schema was not refused')
}

describe('a malformed schema is rejected with the place of the error', () => {
  it.each<[unknown, string, string]>([
    [5, '#', 'must be a schema, which is an object or a boolean'],
    [null, '#', 'must be a schema, which is an object or a boolean'],
    [[], '#', 'must be a schema, which is an object or a boolean'],
    [
      { type: 5 },
      '#/type',
      'must be one of array, boolean, integer, null, number, object, string, or a list of different ones',
    ],
    [{ type: 'any' }, '#/type', 'must be one of array'],
    [{ type: [] }, '#/type', 'must be one of array'],
    [{ type: ['string', 'string'] }, '#/type', 'must be one of array'],
    [{ enum: 'a' }, '#/enum', 'must be a list'],
    [{ enum: null }, '#/enum', 'must be a list'],
    [{ required: 'a' }, '#/required', 'must be a list of different strings'],
    [{ required: ['a', 'a'] }, '#/required', 'must be a list of different strings'],
    [{ properties: { a: { minimum: '5' } } }, '#/properties/a/minimum', 'must be a number'],
    [{ exclusiveMinimum: true }, '#/exclusiveMinimum', 'must be a number'],
    [{ maximum: Number.NaN }, '#/maximum', 'must be a number'],
    [{ multipleOf: 0 }, '#/multipleOf', 'must be a number above 0'],
    [{ minLength: -1 }, '#/minLength', 'must be an integer that is not negative'],
    [{ maxItems: 1.5 }, '#/maxItems', 'must be an integer that is not negative'],
    [{ uniqueItems: 'yes' }, '#/uniqueItems', 'must be true or false'],
    [{ format: 1 }, '#/format', 'must be a string'],
    [{ pattern: 1 }, '#/pattern', 'must be a string'],
    [{ items: { pattern: '(' } }, '#/items/pattern', 'must be a regular expression'],
    [{ patternProperties: { 'a/(': {} } }, '#/patternProperties/a~1(', 'must be a regular expression'],
    [{ properties: [] }, '#/properties', 'must be an object'],
    [{ properties: { 'a/b~c': 5 } }, '#/properties/a~1b~0c', 'must be a schema'],
    [{ allOf: [] }, '#/allOf', 'must be a list of at least one schema'],
    [{ anyOf: {} }, '#/anyOf', 'must be a list of at least one schema'],
    [{ oneOf: [{}, 'x'] }, '#/oneOf/1', 'must be a schema'],
    [{ items: [{}] }, '#/items', 'lists of schemas are called "prefixItems" now'],
    [{ additionalProperties: 'no' }, '#/additionalProperties', 'must be a schema'],
    [{ dependentRequired: { a: 'b' } }, '#/dependentRequired/a', 'must be a list of different strings'],
    [{ dependentRequired: [] }, '#/dependentRequired', 'must be an object'],
    [{ dependencies: { a: [1] } }, '#/dependencies/a', 'must be a schema or a list of different strings'],
    [{ $anchor: '1a' }, '#/$anchor', 'must be a name'],
    [{ $id: 5 }, '#/$id', 'must be a string'],
    [{ $id: 'http://[' }, '#/$id', 'must be a URI'],
    [{ $id: 'http://x.example/#a' }, '#/$id', 'must have no fragment; use "$anchor"'],
    [{ $ref: {} }, '#/$ref', 'must be a string'],
    [{ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, '#/$defs/b', 'has the same "$id" or anchor as #/$defs/a'],
    [{ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } }, '#/$defs/b', 'has the same "$id" or anchor as #/$defs/a'],
    [{ $schema: draft07, items: 5 }, '#/items', 'must be a schema'],
  ])('%o at %s: %s [S-261]', (schema, path, problem) => {
    const error = refusalOf(schema)
    expect(error).toMatchObject({ reason: 'malformed', path })
    expect(error.message).toContain(`JSON Schema, at ${path}: `)
    expect(error.message).toContain(problem)
  })

  it('but keywords with the value undefined are ignored', () => {
    expect(validator.compile({ type: undefined, properties: { a: undefined } })({ a: 1 })).toEqual({ valid: true })
  })
})

describe('dialects', () => {
  it.each([
    ['https://json-schema.org/draft/2020-12/schema'],
    ['https://json-schema.org/draft/2020-12/schema#'],
    ['http://json-schema.org/draft/2020-12/schema'],
    ['http://json-schema.org/draft-07/schema#'],
    ['http://json-schema.org/draft-07/schema'],
    ['https://json-schema.org/draft-07/schema'],
  ])('%s is supported [S-260]', ($schema) => {
    expect(validator.compile({ $schema, type: 'string' })('a')).toEqual({ valid: true })
  })

  it.each([
    ['http://json-schema.org/draft-04/schema#'],
    ['http://json-schema.org/draft-06/schema#'],
    ['https://json-schema.org/draft/2019-09/schema'],
    ['https://example.com/mine'],
    [''],
    [5],
    [null],
  ])('%o is rejected by name, with the supported dialects [S-260]', ($schema) => {
    const error = refusalOf({ $schema, type: 'object' })
    expect(error).toMatchObject({ reason: 'dialect', path: '#/$schema' })
    expect(error.message).toContain(JSON.stringify($schema))
    for (const dialect of SUPPORTED_DIALECTS) expect(error.message).toContain(dialect)
  })

  it('cannot be mixed in one document, but a subschema may repeat the dialect', () => {
    const nested = { $defs: { a: { $schema: draft07 } } }
    expect(refusalOf(nested)).toMatchObject({ reason: 'dialect', path: '#/$defs/a/$schema' })
    expect(validator.compile({ $schema: draft07, ...nested })(1)).toEqual({ valid: true })
  })
})

describe('references', () => {
  const list = {
    $id: 'https://x.example/list',
    $defs: {
      'a/b~c%"d': { type: 'number' },
      named: { $anchor: 'named', type: 'number' },
      inner: { $id: 'inner', $defs: { n: { type: 'number' } }, items: { $ref: '#/$defs/n' } },
    },
    components: { schemas: { n: { type: 'number', $ref: '#/$defs/named' } } },
  }

  it.each([
    ['#/$defs/a~1b~0c%25%22d'],
    ['#/$defs/named'],
    ['#named'],
    ['list#named'],
    ['https://x.example/list#/$defs/named'],
    ['inner#/$defs/n'],
    ['/inner#/$defs/n'],
    ['#/$defs/inner/$defs/n'],
    ['#/components/schemas/n'],
    ['#/%24defs/named'],
  ])('%s is resolved in the document', ($ref) => {
    const check = validator.compile({ ...list, properties: { a: { $ref } } })
    expect(check({ a: 1 })).toEqual({ valid: true })
    expect(check({ a: 'x' }, 'arguments')).toEqual({
      valid: false,
      problems: [{ path: 'arguments.a', message: 'expected number, got string' }],
    })
  })

  it('may be recursive if the value ends the recursion', () => {
    const tree = { properties: { value: { type: 'number' }, nodes: { items: { $ref: '#' } } }, required: ['value'] }
    const check = validator.compile(tree)
    expect(check({ value: 1, nodes: [{ value: 2, nodes: [] }] })).toEqual({ valid: true })
    expect(check({ value: 1, nodes: [{ value: 2, nodes: [{}] }] })).toEqual({
      valid: false,
      problems: [{ path: 'value.nodes[0].nodes[0].value', message: 'is required' }],
    })
  })

  it.each([
    ['http://x.example/other.json'],
    ['https://json-schema.org/draft/2020-12/schema'],
    ['file:///etc/passwd'],
    ['other.json#/a'],
    ['//evil.example/a'],
  ])('%s is outside of the document and rejected by name [S-262, S-263]', ($ref) => {
    const error = refusalOf({ properties: { a: { $ref } } })
    expect(error).toMatchObject({ reason: 'reference', path: '#/properties/a/$ref' })
    expect(error.message).toContain(`"${$ref}" is outside of the schema, and nothing is fetched`)
  })

  it.each([['#/$defs/missing'], ['#missing'], ['#/type/x'], ['#/%zz'], ['#/$defs/toString'], ['#/allOf/x']])(
    '%s has no target and is rejected',
    ($ref) => {
      const error = refusalOf({ type: 'object', $defs: {}, allOf: [{}], items: { $ref } })
      expect(error).toMatchObject({ reason: 'reference', path: '#/items/$ref' })
      expect(error.message).toContain('leads nowhere')
    },
  )

  it('to values that are not schemas are rejected', () => {
    expect(refusalOf({ $ref: '#/x', x: 5 })).toMatchObject({ reason: 'malformed', path: '#/x' })
  })

  it.each([['$recursiveRef'], ['$dynamicRef']])('by %s are rejected if the dialect has no such keyword', (keyword) => {
    expect(refusalOf({ $schema: draft07, [keyword]: '#' })).toMatchObject({
      reason: 'reference',
      path: `#/${keyword}`,
    })
    if (keyword === '$recursiveRef') expect(refusalOf({ [keyword]: '#' }).reason).toBe('reference')
  })

  it('by $dynamicRef resolve to the only dynamic anchor of the document, or to a plain one', () => {
    const dynamic = validator.compile({
      $defs: { n: { $dynamicAnchor: 'n', type: 'number' } },
      items: { $dynamicRef: '#n' },
    })
    expect(dynamic([1])).toEqual({ valid: true })
    expect(dynamic(['x']).valid).toBe(false)
    const plain = validator.compile({
      $ref: '#/$defs/o',
      $dynamicRef: '#n',
      $defs: { n: { $anchor: 'n', type: 'number' }, o: { minimum: 1 } },
    })
    expect(plain(1)).toEqual({ valid: true })
    expect(plain(0).valid).toBe(false)
    expect(plain('x').valid).toBe(false)
  })

  it('by $dynamicRef are rejected if they are ambiguous, external or without a target', () => {
    const inner = { $id: 'inner', $dynamicAnchor: 'n' }
    const error = refusalOf({ $dynamicAnchor: 'n', $defs: { inner }, items: { $dynamicRef: '#n' } })
    expect(error).toMatchObject({ reason: 'reference', path: '#/items/$dynamicRef' })
    expect(error.message).toContain('"#n" has 2 dynamic anchors to choose from')
    expect(refusalOf({ $dynamicRef: 'http://x.example/#n' }).message).toContain('outside of the schema')
    expect(refusalOf({ $dynamicRef: '#n' }).message).toContain('leads nowhere')
    const shared = { $id: 'inner', $dynamicAnchor: 'n', type: 'number' }
    const check = validator.compile({ $defs: { a: shared, b: shared }, items: { $dynamicRef: 'inner#n' } })
    expect(check(['x']).valid).toBe(false)
  })

  it('work for a schema that is used at its own place and as part of another', () => {
    const components = { thing: { properties: { a: { type: 'string' } } } }
    const part = { $ref: '#/components/thing/properties/a' }
    const whole = { $ref: '#/components/thing' }
    for (const [x, y] of [
      [part, whole],
      [whole, part],
    ]) {
      const check = validator.compile({ properties: { x, y }, components } as JsonSchema)
      expect(check({ x: 5, y: 5 }).valid).toBe(false)
      expect(check({ x: { a: 5 }, y: { a: 5 } }).valid).toBe(false)
    }
  })
})

describe('recursion that does not descend into the value is rejected', () => {
  it.each<[JsonSchema]>([
    [{ $ref: '#' }],
    [{ allOf: [{ $ref: '#' }] }],
    [{ not: { $ref: '#' } }],
    [{ anyOf: [{}, { $ref: '#/anyOf/1' }] }],
    [{ if: {}, then: { $ref: '#' } }],
    [{ dependentSchemas: { a: { $ref: '#' } } }],
    [{ dependencies: { a: { $ref: '#' } } }],
    [
      {
        $defs: { a: { oneOf: [{ $ref: '#/$defs/b' }] }, b: { else: { $ref: '#/$defs/a' }, if: {} } },
        items: { $ref: '#/$defs/a' },
      },
    ],
    [{ $dynamicAnchor: 'n', $dynamicRef: '#n' }],
    [
      {
        allOf: [{ $ref: '#/$defs/a' }],
        $defs: { a: { unevaluatedProperties: false, allOf: [{ $ref: '#/$defs/a' }] } },
      },
    ],
  ])('%j', (schema) => {
    expect(refusalOf(schema).reason).toBe('recursion')
  })

  it('recursion that descends into the value is accepted', () => {
    const schema = {
      properties: { a: { $ref: '#' } },
      items: { $ref: '#' },
      contains: { $ref: '#' },
      propertyNames: { $ref: '#' },
    }
    expect(validator.compile({ anyOf: [schema, true], ...schema })({ a: {} })).toEqual({ valid: true })
  })
})

describe('limits of schemas', () => {
  const nested = (depth: number): JsonSchema => (depth === 0 ? {} : { properties: { a: nested(depth - 1) } })

  it('apply to the depth of subschemas [S-264]', () => {
    expect(validator.compile(nested(63))({})).toEqual({ valid: true })
    const error = refusalOf(nested(64))
    expect(error).toMatchObject({ reason: 'limit' })
    expect(error.message).toContain('schemas nest at most 64 deep (maxDepth)')
    expect(error.message.length).toBeLessThan(400)
    expect(refusalOf(nested(3), createJsonSchemaValidator({ maxDepth: 3 })).path).toBe(
      '#/properties/a/properties/a/properties/a',
    )
  })

  it('apply to the number of nested schemas for the same value', () => {
    const $defs: Record<string, JsonSchema> = { d70: {} }
    for (let index = 0; index < 70; index++) $defs[`d${index}`] = { $ref: `#/$defs/d${index + 1}` }
    expect(refusalOf({ $defs }).message).toContain('more than 64 schemas in a row apply to the same value (maxDepth)')
  })

  it('apply to the number of subschemas [S-264]', () => {
    const wide = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({})) })
    expect(validator.compile(wide(9999))(1)).toEqual({ valid: true })
    expect(refusalOf(wide(10_000)).message).toContain('a schema has at most 10000 subschemas (maxSubschemas)')
  })

  it('apply to objects that are used in many places', () => {
    let shared: JsonSchema = { type: 'string' }
    for (let level = 0; level < 40; level++) shared = { properties: { a: shared, b: shared } }
    expect(refusalOf(shared).reason).toBe('limit')
    const address = { $id: 'address', type: 'object' }
    expect(validator.compile({ properties: { home: address, work: address } })({ home: {}, work: {} })).toEqual({
      valid: true,
    })
  })

  it('apply to objects that contain themselves', () => {
    const cyclic: Record<string, unknown> = { type: 'object' }
    cyclic.properties = { child: { items: cyclic } }
    expect(refusalOf(cyclic)).toMatchObject({ reason: 'malformed', path: '#/properties/child/items' })
  })

  it('apply to the names in the path of a subschema', () => {
    expect(refusalOf({ properties: { ['x'.repeat(5000)]: {} } }).message).toContain('has at most 4096 characters')
  })

  it.each<[string, JsonSchema, string]>([
    ['an $id', { $id: `${'x'.repeat(4096)}/` }, '#'],
    ['an $id that is long when resolved', { $id: `${'x'.repeat(4000)}/`, items: { $id: 'y'.repeat(100) } }, '#/items'],
    ['an anchor', { items: { $anchor: 'a'.repeat(4096) } }, '#/items'],
    ['a dynamic anchor', { items: { $dynamicAnchor: 'a'.repeat(4096) } }, '#/items'],
    ['an $id that is a fragment', { $schema: draft07, items: { $id: `#${'a'.repeat(4096)}` } }, '#/items'],
    ['a $ref', { $ref: `#/$defs/${'a'.repeat(4096)}` }, '#/$ref'],
    ['a $dynamicRef', { $dynamicRef: `#${'a'.repeat(4096)}` }, '#/$dynamicRef'],
  ])('apply to the length of %s', (_, schema, path) => {
    const error = refusalOf(schema)
    expect(error).toMatchObject({ reason: 'limit', path })
    expect(error.message).toContain('has at most 4096 characters')
  })

  it('apply to the depth of a reference below an ignored keyword', () => {
    const inside = (depth: number): JsonSchema => (depth === 0 ? {} : { a: inside(depth - 1) })
    const schema = (depth: number) => ({ x: inside(depth), $ref: `#/x${'/a'.repeat(depth)}` })
    expect(validator.compile(schema(63))(1)).toEqual({ valid: true })
    const error = refusalOf(schema(64))
    expect(error).toMatchObject({ reason: 'limit', path: '#/$ref' })
    expect(error.message).toContain('leads at most 64 levels deep (maxDepth)')
  })

  it.each<[JsonSchema, string]>([
    [{ required: ['a'.repeat(4097)] }, '#/required'],
    [{ dependentRequired: { a: ['a'.repeat(4097)] } }, '#/dependentRequired/a'],
    [{ dependencies: { a: ['a'.repeat(4097)] } }, '#/dependencies/a'],
  ])('apply to the length of required names', (schema, path) => {
    const error = refusalOf(schema)
    expect(error).toMatchObject({ reason: 'limit', path })
    expect(error.message).toContain('a property name has at most 4096 characters')
  })

  it('do not apply to shorter URIs', () => {
    const $id = `x://a/${'x'.repeat(4090)}`
    expect(validator.compile({ $id, type: 'number', items: { $ref: $id } })(1)).toEqual({ valid: true })
  })

  it('apply to regular expressions', () => {
    expect(refusalOf({ pattern: 'a'.repeat(2049) }).message).toContain('has at most 2048 characters (maxPatternLength)')
    expect(refusalOf({ patternProperties: { ['a'.repeat(2049)]: {} } }).reason).toBe('limit')
    expect(refusalOf({ pattern: 'aaa' }, createJsonSchemaValidator({ maxPatternLength: 2 })).reason).toBe('limit')
  })

  it('apply to long chains of references', () => {
    const $defs: Record<string, JsonSchema> = { d9000: {} }
    for (let index = 0; index < 9000; index++) $defs[`d${index}`] = { $ref: `#/$defs/d${index + 1}` }
    expect(workOf(() => expect(refusalOf({ $defs }).reason).toBe('limit'))).toBeLessThan(500)
  })
})

describe('for any schema', () => {
  it('compile either succeeds or throws the named error, and does not change the schema', () => {
    const keyword = fc.constantFrom(
      ...['$ref', '$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$schema', 'type', 'enum', 'const', 'required'],
      ...['properties', 'patternProperties', 'items', 'prefixItems', 'allOf', 'anyOf', 'if', 'then', 'not', 'contains'],
      ...[
        'minimum',
        'pattern',
        'dependencies',
        'dependentSchemas',
        'unevaluatedItems',
        '$defs',
        'uniqueItems',
        '__proto__',
      ],
    )
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), fc.dictionary(keyword, tie('value'), { maxKeys: 4 })),
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('#', '#a', '#/$defs', '#/items', 'x', 'string', '(', draft07, 0, 1, -1, null, true),
        tie('schema'),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(schema, fc.jsonValue(), (given, value) => {
        const before = JSON.stringify(given)
        try {
          expect(validator.compile(given as JsonSchema)(value)).toHaveProperty('valid')
        } catch (error) {
          expect(error).toBeInstanceOf(JsonSchemaError)
        }
        expect(JSON.stringify(given)).toBe(before)
      }),
      { seed, numRuns: 2000 },
    )
  })
})
