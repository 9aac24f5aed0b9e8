import { describe, expect, it } from 'vitest'
import { parseArguments } from './arguments.ts'

const schema = {
  type: 'object',
  properties: {
    q: { type: 'string' },
    limit: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    exact: { type: 'boolean' },
    size: { enum: ['small', 'large'] },
    level: { enum: [1, 2] },
    tags: { type: 'array', items: { type: 'string' } },
    points: { type: 'array', items: { $ref: '#/$defs/point' } },
    price: { type: 'object', properties: { max: { type: 'number' }, currency: { type: 'string' } } },
    'a.b': { type: 'number' },
    either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    at: { $ref: '#/$defs/point' },
    any: {},
    free: { type: 'object', additionalProperties: { type: 'number' } },
  },
  $defs: { point: { type: 'object', properties: { x: { type: 'number' } } } },
}

it.each([
  [['q=shoes'], { q: 'shoes' }],
  [['q=123'], { q: '123' }],
  [['q='], { q: '' }],
  [['q=a=b'], { q: 'a=b' }],
  [['limit=3'], { limit: 3 }],
  [['limit=-3'], { limit: -3 }],
  [['ratio=1e-3'], { ratio: 0.001 }],
  [['ratio=null'], { ratio: null }],
  [['exact=true'], { exact: true }],
  [['size=large'], { size: 'large' }],
  [['level=2'], { level: 2 }],
  [['tags=new'], { tags: ['new'] }],
  [['tags=new', 'tags=sale'], { tags: ['new', 'sale'] }],
  [['tags=["a","b"]'], { tags: ['a', 'b'] }],
  [['tags=[not json'], { tags: ['[not json'] }],
  [['tags:=[]'], { tags: [] }],
  [['points={"x":1}', 'points={"x":2}'], { points: [{ x: 1 }, { x: 2 }] }],
  [['price.max=99', 'price.currency=NOK'], { price: { max: 99, currency: 'NOK' } }],
  [['price={"max":1}'], { price: { max: 1 } }],
  [['a.b=1'], { 'a.b': 1 }],
  [['either=5'], { either: '5' }],
  [['either:=5'], { either: 5 }],
  [['at.x=5'], { at: { x: 5 } }],
  [['any=5'], { any: 5 }],
  [['any=five'], { any: 'five' }],
  [['free.x=5', 'free.y=6'], { free: { x: 5, y: 6 } }],
])('converts %j', (words, expected) => {
  expect(parseArguments('search', words, schema)).toEqual(expected)
})

it.each([
  [['q'], 'expected key=value, got "q"', 'Write q=value.'],
  [['=x'], 'expected key=value, got "=x"', 'Example: q=value'],
  [['limt=3'], 'there is no argument "limt"', 'Did you mean limit?'],
  [['price.maxx=3'], 'there is no argument "price.maxx"', 'Did you mean price.max?'],
  [['other=3'], 'there is no argument "other"', '--args sends any JSON.'],
  [['limit=three'], 'limit: expected integer, got "three"', undefined],
  [['limit='], 'limit: expected integer, got ""', undefined],
  [['exact=yes'], 'exact: expected true or false, got "yes"', undefined],
  [['size=larg'], 'size: expected one of small, large, got "larg"', 'Did you mean large?'],
  [['q=a', 'q=b'], 'q: expected one value, got 2', undefined],
  [['limit:=x'], 'limit: expected JSON', undefined],
  [['price=1'], 'price: expected a JSON object, got "1"', undefined],
  [['price:=1', 'price.max=2'], 'price.max: price has another value already', undefined],
])('refuses %j', (words, message, hint) => {
  const error = (() => {
    try {
      return parseArguments('search', words, schema)
    } catch (caught) {
      return caught
    }
  })()
  expect(error).toMatchObject({ kind: 'usage', message: expect.stringContaining(`search: ${message}`) })
  if (hint !== undefined) expect(error).toMatchObject({ hint: expect.stringContaining(hint) })
})

describe('a schema without properties', () => {
  it('accepts any argument', () => {
    expect(parseArguments('t', ['a=1', 'b.c=x'], {})).toEqual({ a: 1, b: { c: 'x' } })
    expect(parseArguments('t', ['a=1'], { type: 'object' })).toEqual({ a: 1 })
  })

  it('refuses arguments if it accepts none', () => {
    expect(() => parseArguments('t', ['a=1'], { type: 'object', properties: {} })).toThrow('there is no argument "a"')
    expect(() => parseArguments('t', ['a=1'], { additionalProperties: false })).toThrow('there is no argument "a"')
  })
})

it('sets a member with the name __proto__, and changes no prototype', () => {
  const args = parseArguments('t', ['__proto__.polluted=1', 'constructor.prototype.polluted=1'], {})
  expect(Object.keys(args)).toEqual(['__proto__', 'constructor'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

it('ends soon for recursive schemas and those with very many alternatives', () => {
  const node = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })), properties: { a: { $ref: '#' } } }
  expect(parseArguments('t', ['a.a.a=1'], node)).toEqual({ a: { a: { a: 1 } } })
})
