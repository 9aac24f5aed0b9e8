import { describe, expect, it } from 'vitest'
import { assertObjectRoot } from './schema-error.ts'

describe('assertObjectRoot', () => {
  it.each([[{ type: 'object' }], [{ type: 'object', properties: {}, anyOf: [] }]])('accepts %o', (schema) => {
    expect(() => assertObjectRoot(schema)).not.toThrow()
  })

  it.each([
    [undefined, '#: must be an object with "type": "object"'],
    [true, '#: must be an object with "type": "object"'],
    [[], '#: must be an object with "type": "object"'],
    [{}, '#/type: must be "object", but is missing; wrap other values in a property'],
    [{ type: 'string' }, '#/type: must be "object", but is a different one; wrap other values in a property'],
    [{ type: ['object'] }, '#/type: must be "object", but is a different one; wrap other values in a property'],
    [Object.create({ type: 'object' }), '#/type: must be "object", but is missing; wrap other values in a property'],
  ])('rejects %o', (schema, problem) => {
    expect(() => assertObjectRoot(schema)).toThrow(
      expect.objectContaining({ name: 'JsonSchemaError', reason: 'malformed', message: `JSON Schema, at ${problem}` }),
    )
  })
})
