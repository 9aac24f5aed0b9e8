import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRegistry } from './registry.ts'
import { headerProblem } from './schemas.ts'

const annotated = (header: unknown, type: unknown = 'string'): JsonObject => ({ type, 'x-mcp-header': header })
const object = (properties: JsonObject, more?: JsonObject): JsonObject => ({ type: 'object', properties, ...more })

describe('a header annotation of an argument', () => {
  it('is allowed for strings, integers and booleans that are reached through properties only', () => {
    const inner = object({ c: annotated('Deep', 'boolean') })
    expect(
      headerProblem(object({ a: annotated('Region'), b: annotated("x!#$%&'*+-.^_`|~", 'integer'), inner }), 'input'),
    ).toBeUndefined()
  })

  it('is found among more properties than a call has arguments', () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`p${index}`, true]))
    expect(headerProblem(object({ ...many, last: annotated('a b') }), 'input')).toContain('input.last')
  })

  it('is not a property with that name, nor data', () => {
    const data = { 'x-mcp-header': '' }
    const named = object({
      'x-mcp-header': { type: 'number' },
      a: { default: data, enum: [data], const: data, examples: [data] },
    })
    expect(headerProblem(named, 'input')).toBeUndefined()
  })

  it.each([
    ['a value that is not a string', object({ a: annotated(7) }), 'input.a: x-mcp-header must be the name of a header'],
    ['empty', object({ a: annotated('') }), 'must be the name of a header'],
    ['an invalid header name', object({ a: annotated('My Region') }), 'must be the name of a header'],
    ['line breaks', object({ a: annotated('A\r\nB') }), 'must be the name of a header'],
    ['a number', object({ a: annotated('A', 'number') }), 'needs a "type" of "string", "integer" or "boolean"'],
    ['several types', object({ a: annotated('A', ['string', 'null']) }), 'needs a "type"'],
    ['no type', object({ a: { 'x-mcp-header': 'A' } }), 'needs a "type"'],
    [
      'twice, other case',
      object({ a: annotated('region'), b: annotated('REGION') }),
      '"REGION" is used by input.a already',
    ],
    ['twice', object({ a: annotated('Region'), b: annotated('region') }), '"region" is used by input.a already'],
    [
      'twice, deep',
      object({ a: object({ x: annotated('R') }), b: annotated('r') }),
      'input.b: x-mcp-header "r" is used by input.a.x',
    ],
    ['the root', object({}, { 'x-mcp-header': 'A' }), 'input: x-mcp-header is allowed only on a property'],
  ])('is rejected for %s', (_name, schema, message) => {
    expect(headerProblem(schema, 'input')).toContain(message)
  })

  const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
  const maps = ['$defs', 'definitions', 'patternProperties', 'dependentSchemas']
  const singles = [
    'items',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
  ]
  it.each([
    ...lists.map((keyword) => [keyword, [object({ b: annotated('A') })]] as const),
    ...maps.map((keyword) => [keyword, { x: object({ b: annotated('A') }) }] as const),
    ...singles.map((keyword) => [keyword, object({ b: annotated('A') })] as const),
  ])('is rejected below %s', (keyword, value) => {
    expect(headerProblem(object({ a: { [keyword]: value } }), 'input')).toContain('reached through "properties" alone')
    expect(headerProblem({ type: 'object', [keyword]: value }, 'input')).toContain('reached through "properties" alone')
  })

  it('is checked when a tool is registered', () => {
    const registry = createRegistry()
    const region = z.string().meta({ 'x-mcp-header': 'Region' })
    registry.addTool('good', { input: z.object({ region }) }, () => '')
    const input = z.object({ region, list: z.array(z.object({ region })) })
    expect(() => registry.addTool('bad', { input }, () => '')).toThrow(
      'Tool "bad", input.list[].region: x-mcp-header is allowed only',
    )
  })
})
