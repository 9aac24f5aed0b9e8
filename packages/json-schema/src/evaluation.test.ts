// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name

import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, type JsonSchema } from './index.ts'

const validator = createJsonSchemaValidator()
const draft07 = 'http://json-schema.org/draft-07/schema#'
const own = (json: string): unknown => JSON.parse(json)

type Row = readonly [schema: JsonSchema, valid: readonly unknown[], invalid: readonly unknown[]]

const bothDialects: readonly Row[] = [
  [{}, [0, null, 'x', [], {}], []],
  [{ type: 'string' }, ['', 'a'], [1, null, [], {}, true]],
  [{ type: 'number' }, [0, -1.5, 1e300], ['1', null]],
  [{ type: 'integer' }, [0, 1.0, -3, 1e300], [1.5, '1', null, Number.POSITIVE_INFINITY]],
  [{ type: 'boolean' }, [true, false], [0, 'true', null]],
  [{ type: 'null' }, [null], [0, '', false, {}, []]],
  [{ type: 'array' }, [[], [1]], [{}, 'a', { length: 0 }]],
  [{ type: 'object' }, [{}, { a: 1 }], [[], null, 'a']],
  [{ type: ['string', 'null'] }, ['a', null], [1, [], {}]],
  [{ enum: [1, 'a', null, { a: [1, { b: 2 }] }] }, [1, 'a', null, { a: [1, { b: 2 }] }], [2, 'b', { a: [1] }, []]],
  [{ enum: [] }, [], [1, null]],
  [{ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, { a: 1, b: [2], c: 3 }, [1, 2], null]],
  [{ const: null }, [null], [0, '', {}, []]],
  [{ const: 0 }, [0, -0], ['0', false, null]],
  [{ const: [] }, [[]], [{}, [0], '']],
  [{ multipleOf: 0.01 }, [0, 0.07, 19.99, 'x'], [0.001, 0.075]],
  [{ multipleOf: 3 }, [9, -3, 0], [10, 1e-9, Number.POSITIVE_INFINITY]],
  [{ minimum: 1 }, [1, 2, 'a'], [0.9, -1]],
  [{ maximum: 1 }, [1, 0, null], [1.1]],
  [{ exclusiveMinimum: 1 }, [1.1], [1, 0]],
  [{ exclusiveMaximum: 1 }, [0.9], [1, 2]],
  [{ minLength: 2 }, ['ab', '😀é', 5], ['a', '😀']],
  [{ maxLength: 1 }, ['a', '😀', []], ['ab', 'e\u0301']],
  [{ pattern: '^[a-z]+$' }, ['abc', 1], ['', 'aB']],
  [{ pattern: 'b' }, ['abc'], ['ac']],
  [{ pattern: '^.$' }, ['😀'], ['😀😀']],
  [{ minItems: 1 }, [[1], 'a'], [[]]],
  [{ maxItems: 1 }, [[], [1]], [[1, 2]]],
  [
    { uniqueItems: true },
    [[], [1, '1', true, null, 0], [{ a: 1 }, { a: 2 }], 'aa'],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[], []],
      [1, 1.0],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ items: { type: 'number' } }, [[], [1, 2], 'a'], [['a'], [1, null]]],
  [{ items: false }, [[]], [[1]]],
  [{ contains: { type: 'number' } }, [['a', 1], {}], [[], ['a']]],
  [
    { required: ['a', '__proto__', 'toString'] },
    [own('{"a":1,"__proto__":2,"toString":3}'), []],
    [{ a: 1 }, { a: 1, toString: 1 }],
  ],
  [{ properties: { a: { type: 'number' } } }, [{}, { a: 1, b: 'x' }, []], [{ a: 'x' }]],
  [{ properties: own('{"__proto__":{"type":"number"}}') }, [{}, own('{"__proto__":1}')], [own('{"__proto__":"x"}')]],
  [{ properties: { constructor: { type: 'number' } } }, [{}, { constructor: 1 }], [{ constructor: 'x' }]],
  [{ properties: { a: false } }, [{}, { b: 1 }], [{ a: 1 }]],
  [{ patternProperties: { '^n': { type: 'number' } } }, [{ n: 1, x: 'a' }, {}], [{ nn: 'a' }]],
  [
    { properties: { a: {} }, patternProperties: { '^b': {} }, additionalProperties: false },
    [{ a: 1, bb: 2 }],
    [{ c: 1 }, own('{"__proto__":1}')],
  ],
  [{ additionalProperties: { type: 'number' } }, [{ a: 1 }], [{ a: 'x' }]],
  [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }, []], [{ abc: 1 }]],
  [{ propertyNames: false }, [{}], [{ a: 1 }]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [{}]],
  [{ maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }]],
  [
    { dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{ a: 1, b: 1 }, { b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }],
  ],
  [{ not: { type: 'string' } }, [1], ['a']],
  [{ allOf: [{ type: 'number' }, { minimum: 1 }] }, [1], [0, 'a']],
  [{ anyOf: [{ type: 'number' }, { type: 'string' }] }, [1, 'a'], [null]],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [1, 6]],
  [{ if: { type: 'number' }, then: { minimum: 1 }, else: { type: 'string' } }, [1, 'a'], [0, null]],
  [{ then: false, else: false }, [1], []],
  [
    { $id: 'http://x.example/a', $defs: { n: { type: 'number' } }, properties: { a: { $ref: '#/$defs/n' } } },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
  [{ title: 'ignored', unknown: { type: 5 }, default: {}, examples: [] }, [1], []],
]

const latestOnly: readonly Row[] = [
  [{ prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [[], [1], [1, 'a']], [['a'], [1, 1]]],
  [{ prefixItems: [{}], items: false }, [[], [1]], [[1, 2]]],
  [
    { contains: { type: 'number' }, minContains: 2, maxContains: 3 },
    [
      [1, 2],
      [1, 2, 3, 'a'],
    ],
    [[1], [1, 2, 3, 4], []],
  ],
  [{ contains: { type: 'number' }, minContains: 0 }, [[], ['a'], [1]], []],
  [{ minContains: 5, maxContains: 0 }, [[], [1]], []],
  [{ dependentRequired: { a: ['b'] } }, [{ a: 1, b: 2 }, { b: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1, b: 2 }, {}], [{ a: 1 }]],
  [{ $defs: { n: { $anchor: 'num', type: 'number' } }, items: { $ref: '#num' } }, [[1]], [['a']]],
  [{ properties: { a: {} }, unevaluatedProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
  [
    {
      allOf: [{ properties: { a: {} } }],
      anyOf: [{ properties: { b: {} }, required: ['b'] }, {}],
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 2 }],
    [{ c: 1 }],
  ],
  [{ prefixItems: [{}], contains: { type: 'string' }, unevaluatedItems: false }, [[1, 'a'], ['a']], [[1, 'a', 2], [1]]],
  [{ $ref: '#/$defs/n', maximum: 5, $defs: { n: { type: 'number' } } }, [5], [6, 'a']],
  [{ additionalItems: false, items: {} }, [[1]], []],
]

const draft07Only: readonly Row[] = [
  [{ items: [{ type: 'number' }], additionalItems: { type: 'string' } }, [[], [1], [1, 'a']], [['a'], [1, 1]]],
  [{ items: [{}], additionalItems: false }, [[1]], [[1, 2]]],
  [{ additionalItems: false }, [[1]], []],
  [{ $ref: '#/definitions/n', maximum: 5, definitions: { n: { type: 'number' } } }, [5, 6], ['a']],
  [{ definitions: { n: { $id: '#num', type: 'number' } }, items: { $ref: '#num' } }, [[1]], [['a']]],
  [{ prefixItems: [false], dependentRequired: { a: ['b'] }, dependentSchemas: { a: false } }, [[1], { a: 1 }], []],
  [{ unevaluatedProperties: false, unevaluatedItems: false }, [{ a: 1 }, [1]], []],
  [{ contains: {}, minContains: 2, maxContains: 0 }, [[1]], [[]]],
]

describe.each([
  ['2020-12', undefined, [...bothDialects, ...latestOnly]],
  ['draft-07', draft07, [...bothDialects, ...draft07Only]],
] as const)('keywords in %s', (_name, $schema, rows) => {
  it.each(rows.map((row) => [JSON.stringify(row[0]), row] as const))('%s', (_text, [schema, valid, invalid]) => {
    const check = validator.compile($schema ? { $schema, ...(schema as object) } : schema)
    for (const value of valid) expect([value, check(value)]).toEqual([value, { valid: true }])
    for (const value of invalid) expect([value, check(value).valid]).toEqual([value, false])
  })
})

describe('boolean schemas', () => {
  it('accept every value or none', () => {
    expect(validator.compile(true)(5)).toEqual({ valid: true })
    const problems = [{ path: 'arguments', message: 'is not allowed' }]
    expect(validator.compile(false)(5, 'arguments')).toEqual({ valid: false, problems })
  })
})

describe('an evaluated member', () => {
  it.each<[string, JsonSchema, unknown, boolean]>([
    [
      'beside it',
      { $defs: { a: { properties: { a: {} } } }, $ref: '#/$defs/a', allOf: [{ unevaluatedProperties: false }] },
      { a: 1 },
      false,
    ],
    ['in the condition', { if: { properties: { a: {} } }, then: { unevaluatedProperties: false } }, { a: 1 }, false],
    [
      'around it',
      { properties: { a: {} }, dependentSchemas: { a: { unevaluatedProperties: false } } },
      { a: 1 },
      false,
    ],
    [
      'in another branch',
      { anyOf: [{ properties: { a: {} } }, { unevaluatedProperties: false }], required: ['a'] },
      { a: 1 },
      true,
    ],
  ])('is not evaluated by unevaluatedProperties %s', (_where, schema, value, valid) => {
    expect(validator.compile(schema)(value).valid).toBe(valid)
  })

  it('counts for the schema around', () => {
    const strict = { properties: { a: {} }, unevaluatedProperties: { type: 'number' } }
    const check = validator.compile({ $defs: { strict }, $ref: '#/$defs/strict', unevaluatedProperties: false })
    expect(check({ a: 'x', b: 1 })).toEqual({ valid: true })
    expect(check({ b: 'x' }).valid).toBe(false)
  })

  it('is reported, although the schema was also evaluated as a condition', () => {
    const item = { type: 'object', properties: { id: { type: 'string' } }, unevaluatedProperties: false }
    const check = validator.compile({ $defs: { item }, properties: { list: { items: { $ref: '#/$defs/item' } } } })
    expect(check({ list: [{ id: 'a' }, { id: 1 }, { id: 'b', x: 1 }] }, 'arguments')).toEqual({
      valid: false,
      problems: [{ path: 'arguments.list[1].id', message: 'expected string, got number' }],
    })
    expect(check({ list: [{ id: 'b', x: 1 }] }, 'arguments')).toEqual({
      valid: false,
      problems: [{ path: 'arguments.list[0].x', message: 'unexpected property' }],
    })
  })
})
