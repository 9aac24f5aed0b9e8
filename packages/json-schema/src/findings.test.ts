// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name

import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, type JsonSchema } from './index.ts'

const validator = createJsonSchemaValidator()

/** Returns the problems as sentences. */
function problemsOf(schema: JsonSchema, value: unknown, using = validator): string[] {
  const verdict = using.compile(schema)(value, 'arguments')
  return verdict.valid ? [] : verdict.problems.map(({ path, message }) => `${path}: ${message}`)
}

const form = {
  type: 'object',
  properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
  required: ['kind', 'radius'],
}
const other = {
  type: 'object',
  properties: { kind: { const: 'square' }, side: { type: 'number' } },
  required: ['kind', 'side'],
}

describe('a problem names the place and the error in one sentence', () => {
  it.each<[JsonSchema, unknown, string | string[]]>([
    [{ properties: { name: { type: 'string' } } }, { name: 7 }, 'arguments.name: expected string, got number'],
    [
      { type: ['string', 'null', 'integer'] },
      1.5,
      'arguments: expected string, null or integer, got a number with a fraction',
    ],
    [{ type: 'integer' }, 1.5, 'arguments: expected integer, got a number with a fraction'],
    [{ type: 'object' }, [], 'arguments: expected object, got array'],
    [{ type: 'object' }, null, 'arguments: expected object, got null'],
    [{ const: 'a' }, 'b', 'arguments: expected "a", got another string'],
    [{ const: { a: 1 } }, 5, 'arguments: expected {"a":1}, got number'],
    [{ enum: ['a', 'b', 3] }, 'c', 'arguments: expected "a", "b" or 3, got another string'],
    [{ enum: ['a', 'b'] }, null, 'arguments: expected "a" or "b", got null'],
    [
      { enum: Array.from({ length: 12 }, (_, n) => n) },
      12,
      'arguments: expected 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 2 more, got another number',
    ],
    [{ minimum: 3 }, 1, 'arguments: expected 3 or more'],
    [{ maximum: 3 }, 5, 'arguments: expected 3 or less'],
    [{ exclusiveMinimum: 3 }, 3, 'arguments: expected more than 3'],
    [{ exclusiveMaximum: 3 }, 3, 'arguments: expected less than 3'],
    [{ multipleOf: 3 }, 4, 'arguments: expected a multiple of 3'],
    [{ minLength: 2 }, '😀', 'arguments: expected at least 2 characters, got 1'],
    [{ maxLength: 1 }, 'abc', 'arguments: expected at most 1 character, got 3'],
    [{ pattern: '^\\d+$' }, 'x', 'arguments: expected text that matches /^\\d+$/'],
    [{ format: 'email' }, 'x', 'arguments: expected text in the format email'],
    [{ minItems: 2 }, [1], 'arguments: expected at least 2 items, got 1'],
    [{ maxItems: 1 }, [1, 2], 'arguments: expected at most 1 item, got 2'],
    [{ uniqueItems: true }, [1, 1], 'arguments: expected unique items'],
    [{ items: { type: 'string' } }, ['a', 1], 'arguments[1]: expected string, got number'],
    [
      { prefixItems: [{ type: 'string' }], items: false },
      [1, 2],
      ['arguments[0]: expected string, got number', 'arguments[1]: unexpected item'],
    ],
    [{ unevaluatedItems: false }, [1], 'arguments[0]: unexpected item'],
    [{ contains: { type: 'string' } }, [1], 'arguments: expected at least 1 item matching contains, got none'],
    [{ contains: { type: 'string' } }, [], 'arguments: expected at least 1 item matching contains, got none'],
    [
      { contains: { type: 'string' }, minContains: 2 },
      ['a', 1],
      'arguments: expected at least 2 items matching contains',
    ],
    [
      { contains: { type: 'string' }, maxContains: 1 },
      ['a', 'b'],
      'arguments: expected at most 1 item matching contains',
    ],
    [{ required: ['a', 'b'] }, {}, ['arguments.a: is required', 'arguments.b: is required']],
    [{ minProperties: 1 }, {}, 'arguments: expected at least 1 property, got 0'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, 'arguments: expected at most 1 property, got 2'],
    [
      { additionalProperties: false },
      { a: 1, b: 2 },
      ['arguments.a: unexpected property', 'arguments.b: unexpected property'],
    ],
    [{ additionalProperties: { type: 'string' } }, { a: 1 }, 'arguments.a: expected string, got number'],
    [{ properties: { a: false } }, { a: 1 }, 'arguments.a: unexpected property'],
    [{ patternProperties: { '^a': { type: 'string' } } }, { ab: 1 }, 'arguments.ab: expected string, got number'],
    [{ unevaluatedProperties: false }, { a: 1 }, 'arguments.a: unexpected property'],
    [
      { propertyNames: { maxLength: 2 } },
      { abc: 1 },
      'arguments: property name "abc": expected at most 2 characters, got 3',
    ],
    [{ propertyNames: false }, { abc: 1 }, 'arguments: property name "abc" is not allowed'],
    [{ dependentRequired: { a: ['b', 'c'] } }, { a: 1, c: 1 }, 'arguments.b: is required when "a" is present'],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, 'arguments.b: is required when "a" is present'],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, 'arguments.b: is required'],
    [{ dependencies: { a: { required: ['b'] } } }, { a: 1 }, 'arguments.b: is required'],
    [{ not: { type: 'string' } }, 'a', 'arguments: has a form that is not allowed'],
    [{ allOf: [{ type: 'string' }, { minLength: 2 }] }, 'a', 'arguments: expected at least 2 characters, got 1'],
    [{ if: { type: 'number' }, then: { minimum: 1 } }, 0, 'arguments: expected 1 or more'],
    [{ if: { type: 'number' }, else: { minLength: 1 } }, '', 'arguments: expected at least 1 character, got 0'],
    [{ allOf: [false] }, 1, 'arguments: is not allowed'],
    [{ $ref: '#/$defs/no', $defs: { no: false } }, 1, 'arguments: is not allowed'],
    [{ $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, 'a', 'arguments: expected number, got string'],
  ])('%j and %j', (schema, value, sentences) => {
    expect(problemsOf(schema, value)).toEqual([sentences].flat())
  })

  it('in draft-07 for lists of items', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    const schema = { $schema, items: [{ type: 'string' }], additionalItems: false }
    expect(problemsOf(schema, [1, 2])).toEqual([
      'arguments[0]: expected string, got number',
      'arguments[1]: unexpected item',
    ])
  })
})

describe('problems of alternatives', () => {
  it.each<[string, JsonSchema, unknown, string[]]>([
    [
      'are combined if only the type differs',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      ['arguments: expected string or null, got number'],
    ],
    [
      'are combined if only the value differs',
      { oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }, { type: 'null' }] },
      1,
      ['arguments: expected "a", "b" or "c" or null, got number'],
    ],
    [
      'are reported for the one with the matching type',
      { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
      'a',
      ['arguments: expected at least 2 characters, got 1'],
    ],
    [
      'are reported for the one with the matching discriminator',
      { oneOf: [form, other] },
      { kind: 'square', side: 'x' },
      ['arguments.side: expected number, got string'],
    ],
    [
      'are reported for the one with the matching discriminator, through references',
      { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }], $defs: { a: form, b: other } },
      { kind: 'circle' },
      ['arguments.radius: is required'],
    ],
    [
      'are counted if none is close',
      { anyOf: [{ minLength: 2 }, { pattern: '^x' }] },
      'a',
      ['arguments: fits none of the 2 allowed forms'],
    ],
    [
      'are counted if several match',
      { oneOf: [{ minLength: 1 }, { maxLength: 5 }, { minLength: 9 }] },
      'a',
      ['arguments: fits 2 of the allowed forms, and must fit exactly 1'],
    ],
    [
      'are reported if nested',
      {
        anyOf: [
          { type: 'null' },
          { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 1 }] } },
        ],
      },
      [null, 'ab'],
      ['arguments[1]: expected at most 1 character, got 2'],
    ],
    [
      'are reported for each item',
      { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      [1, 'a', true],
      ['arguments[0]: expected string or null, got number', 'arguments[2]: expected string or null, got boolean'],
    ],
  ])('%s', (_name, schema, value, sentences) => {
    expect(problemsOf(schema, value)).toEqual(sentences)
  })

  it('with names like keywords are not confused with them', () => {
    const schema = {
      properties: { anyOf: { type: 'string' }, contains: { properties: { items: { type: 'number' } } } },
    }
    const value = { anyOf: 1, contains: { items: 'x' } }
    expect(problemsOf(schema, value)).toEqual([
      'arguments.anyOf: expected string, got number',
      'arguments.contains.items: expected number, got string',
    ])
  })
})

describe('problems', () => {
  it('are bounded in number', () => {
    const value = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, 1]))
    expect(problemsOf({ additionalProperties: false }, value)).toHaveLength(8)
    expect(
      problemsOf({ additionalProperties: false }, value, createJsonSchemaValidator({ maxProblems: 2 })),
    ).toHaveLength(2)
    expect(problemsOf({ required: Array.from({ length: 20 }, (_, index) => `p${index}`) }, {})).toHaveLength(8)
  })

  it('never contain the value', () => {
    const secret = 'hunter2'.repeat(10_000)
    const schemas: JsonSchema[] = [
      { type: 'number' },
      { const: 'a' },
      { enum: ['a'] },
      { maxLength: 1 },
      { pattern: '^a$' },
      { format: 'email' },
      { anyOf: [{ const: 'a' }, { minLength: 100_000 }] },
      { not: {} },
    ]
    for (const schema of schemas) {
      const text = problemsOf({ properties: { a: schema }, items: schema }, { a: secret }).join()
      expect(text).toContain('arguments.a: ')
      expect(text).not.toContain('hunter2')
    }
  })

  it('quote unusual names, and shorten long ones', () => {
    const schema = { additionalProperties: { additionalProperties: { type: 'string' } } }
    expect(problemsOf(schema, { 'a "b"/~%#': { größe: 1 } })).toEqual([
      'arguments["a \\"b\\"/~%#"].größe: expected string, got number',
    ])
    const [long = ''] = problemsOf(schema, { ['x'.repeat(100)]: { '': 1 } })
    expect(long).toBe(`arguments["${'x'.repeat(60)}..."][""]: expected string, got number`)
  })

  it('are shortened if the path is long', () => {
    let value: unknown = 1
    for (let depth = 0; depth < 60; depth++) value = { propertyWithALongName: value }
    const [problem = ''] = problemsOf({ type: ['object', 'string'], additionalProperties: { $ref: '#' } }, value)
    expect(problem.length).toBeLessThan(300)
    expect(problem).toMatch(/\.\.\.: expected object or string, got number$/)
  })

  it('that only follow from others are omitted', () => {
    const schema = { allOf: [{ properties: { a: { type: 'string' } } }], unevaluatedProperties: false }
    expect(problemsOf(schema, { a: 1 })).toEqual(['arguments.a: expected string, got number'])
  })

  it('are reported once, even if several keywords find them', () => {
    const schema = { allOf: [{ type: 'string' }, { type: 'string' }, { $ref: '#/allOf/0' }] }
    expect(problemsOf(schema, 1)).toEqual(['arguments: expected string, got number'])
  })

  it('are all reported, not only the first', () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { minimum: 5 } },
      required: ['c'],
      additionalProperties: false,
    }
    expect(problemsOf(schema, { a: 1, b: 2, d: 3 })).toEqual([
      'arguments.c: is required',
      'arguments.a: expected string, got number',
      'arguments.b: expected 5 or more',
      'arguments.d: unexpected property',
    ])
  })
})
