import { createJsonSchemaValidator } from '@mcpx/json-schema'
import type { JsonObject } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { schemaFault } from './schema-faults.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

const KEYWORDS = (
  'type enum const required format pattern minimum maximum exclusiveMinimum multipleOf minLength maxItems uniqueItems ' +
  'properties patternProperties additionalProperties items prefixItems additionalItems contains allOf anyOf not if else ' +
  'dependencies dependentSchemas dependentRequired $defs definitions $ref $id $anchor title description default examples x-own'
).split(' ')

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    'string',
    'integer',
    '#',
    '#/properties/a',
    '#/$defs/a',
    '#/nowhere',
    '[a-z]+',
    '(',
    '\\-',
    'https://a.b/c',
  ),
  fc.constantFrom(null, true, false, 0, -1, 1.5, 7, [], ['a'], ['string', 'null'], [true], ['a', 'a']),
)

const { schema } = fc.letrec<{ schema: unknown; held: unknown }>((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('held'), { maxKeys: 4, noNullPrototype: true }),
  held: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    value,
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '^c'), tie('schema'), { maxKeys: 2, noNullPrototype: true }),
  ),
}))

const dialects = [undefined, 'https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#']

describe('looking over a schema', () => {
  it('finds no fault in what the validator takes [S-261]', () => {
    const validator = createJsonSchemaValidator()
    let taken = 0
    const property = fc.property(schema, fc.constantFrom(...dialects), (random, $schema) => {
      const whole = { ...(random as JsonObject), ...($schema && { $schema }) }
      try {
        validator.compile(whole)
      } catch {
        return
      }
      taken += 1
      expect(schemaFault(whole, 'it')).toBeUndefined()
    })
    fc.assert(property, { seed, numRuns: 3_000 })
    expect(taken).toBeGreaterThan(300)
  })
})
