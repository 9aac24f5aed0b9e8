import { describe, expect, test } from 'vitest'
import type { Dialect } from './dialects.ts'
import { fitSchema } from './fit-schema.ts'

const inner = (schema: object, dialect: Dialect) => {
  const fitted = fitSchema({ type: 'object', properties: { a: schema }, required: ['a'] }, dialect)
  return (fitted.schema as { properties?: { a?: unknown } }).properties?.a
}
const changesOf = (schema: object, dialect: Dialect) =>
  fitSchema(schema, dialect).changes.map(({ path, keyword, effect }) => `${path} ${keyword} ${effect}`)

const tree = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      type: 'object',
      description: 'A node',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
    },
  },
}

test('a schema that an API accepts as it is stays the same, without its dialect', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^a', format: 'uri' }, b: { not: { const: 1 } } },
    required: ['a'],
  }
  for (const dialect of ['openai', 'anthropic', 'common'] as const) {
    const { schema: fitted, changes } = fitSchema(
      { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema },
      dialect,
    )
    expect(fitted).toEqual(schema)
    expect(changes).toEqual([])
  }
})

describe('references', () => {
  test('are replaced, and a recursive one is cut where it repeats', () => {
    const outline = { type: 'object', description: 'A node' }
    expect(fitSchema(tree, 'common').schema).toEqual({
      type: 'object',
      properties: { root: { ...outline, properties: { name: { type: 'string' }, next: outline } } },
    })
    expect(changesOf(tree, 'gemini')).toEqual(['#/properties/root/properties/next $ref wider'])
  })

  test('stay where an API accepts them', () => {
    expect(fitSchema(tree, 'openai').schema).toEqual(tree)
    expect(changesOf(tree, 'anthropic')).toEqual([])
  })

  test('that are recursive cannot be expressed in a strict mode', () => {
    const { schema, strict, changes } = fitSchema(tree, 'openai-strict')
    expect(strict).toBe(false)
    expect(schema).toEqual(tree)
    expect(changes).toEqual([
      {
        path: '#/properties/root/properties/next',
        keyword: '$ref',
        effect: 'same',
        message: 'not offered in strict mode, because #/$defs/node is recursive',
      },
    ])
  })

  test('to nothing, and to other documents, accept any value', () => {
    for (const $ref of ['#/$defs/none', 'https://example.com/a.json', '#anchor', '#/%E0%A4%A']) {
      expect(inner({ $ref, description: 'd' }, 'common')).toEqual({ description: 'd' })
    }
  })

  test('of the root are replaced', () => {
    const schema = { $ref: '#/$defs/args', $defs: { args: { type: 'object', properties: { a: { type: 'string' } } } } }
    expect(fitSchema(schema, 'openai').schema).toMatchObject({ type: 'object', properties: { a: { type: 'string' } } })
  })

  test('that multiply are limited', () => {
    const doubled = (keyword: string) => {
      const levels = Array.from({ length: 40 }, (_, level) => {
        const next = { $ref: `#/$defs/l${level + 1}` }
        return [`l${level}`, { [keyword]: keyword === 'properties' ? { a: next, b: next } : [next, next] }] as const
      })
      const $defs = { ...Object.fromEntries(levels), l40: { type: 'object' } }
      return { type: 'object', properties: { a: { $ref: '#/$defs/l0' } }, allOf: [{ $ref: '#/$defs/l0' }], $defs }
    }
    for (const keyword of ['allOf', 'anyOf', 'properties']) {
      for (const dialect of ['common', 'openai-strict', 'gemini', 'anthropic'] as const) {
        const { schema } = fitSchema(doubled(keyword), dialect)
        expect(JSON.stringify(schema).length).toBeLessThan(1_000_000)
      }
    }
  })
})

describe('the root', () => {
  const either = {
    type: 'object',
    properties: { id: { type: 'string' } },
    anyOf: [{ required: ['id'] }, { properties: { name: { type: 'string' } }, required: ['name'] }],
  }

  test('becomes one object of its alternatives', () => {
    for (const dialect of ['openai', 'anthropic', 'common', 'gemini'] as const) {
      expect(fitSchema(either, dialect).schema).toEqual({
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: 'string' } },
      })
    }
    expect(changesOf(either, 'openai')).toEqual(['# anyOf wider', '# anyOf narrower'])
  })

  test('has names that the API accepts, which lead back', () => {
    const schema = {
      type: 'object',
      properties: { 'filter[id]': {}, 'filter(id)': {}, 'a.b': {}, ['x'.repeat(80)]: {} },
      required: ['a.b', 'filter[id]'],
    }
    const { schema: fitted, restore } = fitSchema(schema, 'anthropic')
    const names = ['filter_id_', 'filter_id__2', 'a.b', 'x'.repeat(60)]
    expect(Object.keys(fitted.properties as object)).toEqual(names)
    expect(fitted.required).toEqual(['a.b', 'filter_id_'])
    expect(Object.keys(restore(Object.fromEntries(names.map((name) => [name, 1]))))).toEqual(
      Object.keys(schema.properties),
    )
  })
})

describe('keywords', () => {
  test('that are removed stay readable in the description', () => {
    expect(inner({ type: 'string', description: 'A code', minLength: 2, pattern: '^a' }, 'gemini')).toEqual({
      type: 'string',
      description: 'A code (minLength: 2, pattern: "^a")',
    })
    expect(inner({ type: 'string', format: 'uri' }, 'gemini')).toEqual({
      type: 'string',
      description: '(format: "uri")',
    })
  })

  test('are expressed by others where a dialect does not have them', () => {
    expect(inner({ const: 'a' }, 'gemini')).toEqual({ type: 'string', enum: ['a'] })
    expect(inner({ type: ['string', 'null'] }, 'gemini')).toEqual({ type: ['string', 'null'] })
    expect(inner({ enum: ['a', null] }, 'gemini')).toEqual({
      anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }],
    })
    expect(inner({ type: ['string', 'array'], items: { type: 'string' }, maxItems: 2 }, 'gemini')).toEqual({
      anyOf: [
        { type: 'string', items: { type: 'string' }, maxItems: 2 },
        { type: 'array', items: { type: 'string' }, maxItems: 2 },
      ],
    })
    expect(inner({ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'openai-strict')).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
    })
    const parts = [
      { properties: { x: { type: 'string' } } },
      { properties: { y: { type: 'string' } }, required: ['y'] },
    ]
    expect(inner({ type: 'object', allOf: parts }, 'gemini')).toEqual({
      type: 'object',
      properties: { x: { type: 'string' }, y: { type: 'string' } },
      required: ['y'],
    })
  })

  test('of arrays are those that all APIs accept', () => {
    expect(inner({ type: 'array' }, 'openai')).toEqual({ type: 'array', items: {} })
    expect(inner({ type: 'array', items: [{ type: 'string' }], additionalItems: false }, 'anthropic')).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }],
      items: false,
    })
  })

  test('below `not` stay exact, or `not` is removed', () => {
    const schema = { type: 'object', properties: { a: { not: { $ref: '#/none' } } } }
    expect(fitSchema(schema, 'common').schema.properties).toEqual({ a: {} })
    expect(changesOf(schema, 'common')).toEqual(['#/properties/a not wider'])
  })
})

describe('a strict mode', () => {
  test.each([
    ['properties of any name', { type: 'object' }],
    ['properties of any name', { type: 'object', additionalProperties: { type: 'string' } }],
    ['values of any type', {}],
    ['items have any type', { type: 'array' }],
    ['items have several', { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' } }],
    ['patternProperties', { type: 'object', patternProperties: { '^a': { type: 'string' } } }],
    ['does not declare', { type: 'object', properties: { b: { type: 'string' } }, required: ['c'] }],
    [
      'alternatives beside',
      {
        type: 'object',
        properties: { b: { type: 'string' } },
        anyOf: [{ type: 'object', properties: {}, additionalProperties: false }],
      },
    ],
  ])('is not used for %s', (reason, schema) => {
    const { strict, changes } = fitSchema({ type: 'object', properties: { a: schema } }, 'openai-strict')
    expect(strict).toBe(false)
    expect(changes[0]?.message).toContain(reason)
  })

  test('sends null only where the tool accepts it', () => {
    const item = {
      type: 'object',
      properties: { b: { type: 'string' }, c: { type: ['string', 'null'] } },
      additionalProperties: false,
    }
    const schema = { type: 'object', properties: { list: { type: 'array', items: item }, kind: { enum: ['x'] } } }
    const { schema: fitted, restore } = fitSchema(schema, 'openai-strict')
    expect(fitted.properties).toMatchObject({ kind: { anyOf: [{ enum: ['x'] }, { type: 'null' }] } })
    expect(restore({ list: [{ b: null, c: null }], kind: null })).toEqual({ list: [{ c: null }] })
  })
})

test.each(['constructor', 'toString', '__proto__'])('a property may have the name %s', (name) => {
  const own = (schema: object) => ({
    properties: JSON.parse(JSON.stringify({ a: { type: 'string' } }).replace('a', name)),
    ...schema,
  })
  const other = { properties: { b: { type: 'string' } } }
  for (const keyword of ['allOf', 'anyOf']) {
    for (const parts of [
      [own({}), other],
      [other, own({})],
    ]) {
      const fitted = fitSchema({ type: 'object', [keyword]: parts }, 'common').schema.properties as object
      expect(Object.entries(fitted).filter(([each]) => each === name)).toEqual([[name, { type: 'string' }]])
    }
  }
})

test('the path of a change is a JSON pointer', () => {
  const schema = { type: 'object', properties: { 'a/b~c': { type: 'string', maxLength: 3 } } }
  expect(changesOf(schema, 'openai-strict')).toContain('#/properties/a~1b~0c maxLength wider')
})

describe('patterns that look around', () => {
  const email = { type: 'string', format: 'email', pattern: '^(?!\\.)[a-z.]+@' }

  test.each(['openai', 'openai-strict', 'common'] as const)(
    'are removed for %s, which refuses the whole request',
    (dialect) => {
      const { pattern, ...rest } = email
      const note = `(pattern: ${JSON.stringify(pattern)})`
      expect(inner(email, dialect)).toEqual({ ...rest, description: note })
      expect(inner({ type: 'array', items: email }, dialect)).toMatchObject({ items: { description: note } })
      expect(inner({ type: 'string', pattern: '^(?:a|b)(?<c>d)$' }, dialect)).toMatchObject({
        pattern: '^(?:a|b)(?<c>d)$',
      })
      expect(changesOf({ type: 'object', properties: { a: email } }, dialect)).toContain('#/properties/a pattern wider')
    },
  )

  test('stay for Anthropic, and are removed from definitions', () => {
    expect(inner(email, 'anthropic')).toEqual(email)
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/e' } }, $defs: { e: email } }
    expect(fitSchema(schema, 'openai').schema.$defs).not.toHaveProperty('e.pattern')
  })
})

describe('the limits of structured outputs', () => {
  const values = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'x'))
  const names = (length: number) => Object.fromEntries(values(100, length).map((name) => [name, { type: 'string' }]))

  test.each([
    ['1,000 values of enum', { a: { enum: values(500, 5) }, b: { enum: values(501, 5) } }],
    ['15,000 characters in an enum of more than 250 values', { a: { enum: values(251, 60) } }],
    ['120,000 characters of names and values', names(1_201)],
  ])('are %s: a schema above them is offered without strict mode', (limit, properties) => {
    const { strict, changes } = fitSchema({ type: 'object', properties }, 'openai-strict')
    expect(strict).toBe(false)
    expect(changes[0]?.message).toBe(`not offered in strict mode, because it has more than ${limit}`)
  })

  test('are kept by large schemas', () => {
    for (const properties of [
      { a: { enum: values(500, 5) }, b: { enum: values(500, 5) } },
      { a: { enum: values(250, 100) } },
      names(1_000),
    ]) {
      expect(fitSchema({ type: 'object', properties }, 'openai-strict').strict).toBe(true)
    }
  })
})

test.each([
  ['another type', { type: 'integer' }],
  ['other values', { enum: ['a', 1] }],
  ['another value', { const: 'a' }],
  [
    'other properties',
    { type: 'object', properties: { b: { type: 'string' } }, required: ['b'], additionalProperties: false },
  ],
])('null stands for a missing value in one of several alternatives, of which one has %s', (_, other) => {
  const object = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  for (const keyword of ['anyOf', 'oneOf']) {
    for (const alternatives of [
      [object, other],
      [other, object],
    ]) {
      const schema = { type: 'object', properties: { v: { [keyword]: alternatives } }, required: ['v'] }
      const fitted = fitSchema(schema, 'openai-strict')
      expect(fitted.strict).toBe(true)
      expect(fitted.restore({ v: { a: null } })).toEqual({ v: {} })
    }
  }
})

describe('a schema that is too large', () => {
  const parts = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ properties: { [`p${n}`]: { const: n } } }))

  test.each(['common', 'openai', 'openai-strict', 'gemini', 'anthropic', 'anthropic-strict'] as const)(
    'is replaced by an object, with a change that says so, for %s',
    (dialect) => {
      const { schema, strict, changes } = fitSchema({ description: 'x'.repeat(200_000) }, dialect)
      expect(schema).toEqual({ type: 'object' })
      expect(strict).toBe(false)
      expect(changes.at(-1)).toMatchObject({
        path: '#',
        effect: 'wider',
        message: expect.stringContaining('too large'),
      })
    },
  )

  test('keeps the first 100 parts of an allOf', () => {
    const { schema, changes } = fitSchema({ allOf: parts(101) }, 'common')
    expect(Object.keys(schema.properties as object)).toHaveLength(100)
    expect(changes).toMatchObject([{ path: '#/allOf/100', effect: 'wider' }])
  })

  test('keeps the outline of what more than 100 references lead to', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`d${n}`, n === 199 ? { type: 'string' } : { $ref: `#/$defs/d${n + 1}` }]),
    )
    const { schema, changes } = fitSchema({ properties: { a: { $ref: '#/$defs/d0' } }, $defs }, 'gemini')
    expect(schema.properties).toEqual({ a: {} })
    expect(changes).toMatchObject([
      { path: '#/properties/a', message: '#/$defs/d100 is nested too deep, so any value fits' },
    ])
  })
})
