import { describe, expect, it } from 'vitest'
import { type Field, fieldOf, initialValue, memberPath, problemsOf } from './form-model.ts'

/** The kind of a field, and those of its members. */
function outline(field: Field): unknown {
  if (field.kind === 'object')
    return Object.fromEntries(field.fields.map(({ name, field: inner }) => [name, outline(inner)]))
  if (field.kind === 'array') return [outline(field.items)]
  return field.kind
}

describe('fieldOf', () => {
  it('reads the types that a form can show, and leaves the rest to JSON', () => {
    const field = fieldOf({
      type: 'object',
      properties: {
        text: { type: 'string', format: 'email' },
        count: { type: 'integer' },
        flag: { type: 'boolean' },
        color: { enum: ['red', 3, null] },
        fixed: { const: 'x' },
        titled: {
          oneOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
        colors: { type: 'array', items: { enum: ['red', 'blue'] } },
        tags: { type: 'array', items: { type: 'string' } },
        nested: {
          type: 'object',
          properties: { rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'number' } } } } },
        },
        nullable: { type: ['string', 'null'] },
        optional: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        reference: { $ref: '#/$defs/Point' },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
        any: {},
        all: true,
        tuple: { type: 'array', prefixItems: [{ type: 'string' }] },
      },
      $defs: { Point: { type: 'object', properties: { x: { type: 'number' } } } },
    })
    expect(outline(field)).toEqual({
      text: 'string',
      count: 'number',
      flag: 'boolean',
      color: 'choice',
      fixed: 'choice',
      titled: 'choice',
      colors: 'choices',
      tags: ['string'],
      nested: { rows: [{ a: 'number' }] },
      nullable: 'string',
      optional: 'number',
      reference: { x: 'number' },
      map: 'json',
      either: 'json',
      any: 'json',
      all: 'json',
      tuple: 'json',
    })
  })

  it('ends at schemas that refer to themselves, and at hostile ones', () => {
    const tree = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(JSON.stringify(outline(fieldOf(tree)))).toContain('"json"')
    expect(fieldOf({ $ref: '#' }).kind).toBe('json')
    expect(fieldOf({ type: 'object', properties: { a: { $ref: '#/properties/a' } } }).kind).toBe('object')
    expect(fieldOf({ $ref: '#/__proto__/polluted' }).kind).toBe('json')
    for (const schema of [null, 7, 'text', [], { type: 7, properties: 'none' }, { enum: Array(1_000).fill('a') }])
      expect(fieldOf(schema).kind).toBe('json')
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, {}])),
    }
    expect(fieldOf(wide).kind).toBe('json')
  })
})

it('begins with the defaults, and with false for required flags', () => {
  const field = fieldOf({
    type: 'object',
    properties: {
      limit: { type: 'integer', default: 10 },
      on: { type: 'boolean' },
      maybe: { type: 'boolean' },
      size: { type: 'object', properties: { unit: { type: 'string', default: 'cm' } } },
      more: { type: 'object', properties: { a: { type: 'string' } } },
    },
    required: ['on'],
  })
  expect(initialValue(field)).toEqual({ limit: 10, on: false, size: { unit: 'cm' } })
})

it('finds problems at the paths of the fields', () => {
  const schema = {
    type: 'object',
    properties: { 'a b': { type: 'array', items: { type: 'object', required: ['z'], properties: { z: {} } } } },
  }
  const [problem] = problemsOf(schema, { 'a b': [{}] })
  expect(problem?.path).toBe(memberPath(memberPath(memberPath('arguments', 'a b'), 0), 'z'))
  expect(problemsOf({ type: 'nonsense' }, {})).toEqual([])
})
