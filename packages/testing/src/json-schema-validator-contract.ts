/** The contract of JSON Schema validators. */

import type { JsonSchema, JsonSchemaValidator } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, type ContractOptions, defineContract } from './contract.ts'
import { catchError } from './timing.ts'

const person: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name'],
  additionalProperties: false,
}

/** Invalid values for `person`, and the place that the problem must name. */
const invalidPersons: readonly (readonly [unknown, string])[] = [
  [{}, 'name'],
  [{ name: 5 }, 'name'],
  [{ name: 'a', age: -1 }, 'age'],
  [{ name: 'a', age: 1.5 }, 'age'],
  [{ name: 'a', tags: ['x', 7] }, 'tags[1]'],
  [{ name: 'a', other: 1 }, 'other'],
]

/**
 * The cases that every JSON Schema validator must pass.
 *
 * @param create Called for each try of a case.
 */
export function jsonSchemaValidatorContract(
  create: () => JsonSchemaValidator | Promise<JsonSchemaValidator>,
  options: ContractOptions = {},
): readonly ContractCase[] {
  return defineContract('A JSON Schema validator', options, {
    async 'accepts a valid value each time'() {
      const validate = (await create()).compile(person)
      for (let n = 1; n <= 3; n++) {
        checkEqual(`verdict number ${n}`, validate({ name: 'a', age: 3, tags: ['x'] }), { valid: true })
      }
    },

    async 'refuses invalid values and names the place of the problem'() {
      const validate = (await create()).compile(person)
      for (const [value, place] of invalidPersons) {
        const verdict = validate(value, 'arguments')
        const where = `the verdict on ${JSON.stringify(value)}`
        checkEqual(`valid of ${where}`, verdict.valid, false)
        check(where, JSON.stringify(verdict).includes(place), `a problem that names ${place}`, verdict)
      }
    },

    async 'does not repeat values in problems'() {
      const verdict = (await create()).compile(person)({ name: ['hunter2'], age: 'hunter2' })
      check('the verdict', !JSON.stringify(verdict).includes('hunter2'), 'no "hunter2"', verdict)
    },

    async 'supports the dialects 2020-12 and draft-07, and names one that it does not support'() {
      const validator = await create()
      const dialects = ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#']
      for (const $schema of dialects) {
        checkEqual(`a string under ${$schema}`, validator.compile({ $schema, type: 'string' })('x'), { valid: true })
      }
      const old = { $schema: 'http://json-schema.org/draft-04/schema#', type: 'string' }
      const { message } = await checkError('compile() of a draft-04 schema', () => validator.compile(old))
      check('the message', message.includes('draft-04'), 'a message that names draft-04', message)
    },

    async 'follows references within the schema, and throws for others'() {
      const validator = await create()
      const validate = validator.compile({ $ref: '#/$defs/word', $defs: { word: { type: 'string' } } })
      checkEqual('valid of a string and a number', [validate('x').valid, validate(5).valid], [true, false])
      for (const $ref of ['https://example.com/schema.json', '#/$defs/missing']) {
        await checkError(`compile() with $ref ${$ref}`, () => validator.compile({ $ref }))
      }
    },

    async 'throws for an invalid schema, and ends for an infinite one'() {
      const validator = await create()
      const invalid: unknown[] = [{ type: 5 }, { pattern: '(' }, { $ref: '#' }]
      for (const schema of invalid) {
        await checkError(`compile(${JSON.stringify(schema)})`, () => validator.compile(schema as JsonSchema))
      }
      const infinite: Record<string, unknown> = { type: 'object' }
      infinite.properties = { self: infinite }
      const error = await catchError(() => validator.compile(infinite as JsonSchema)({ self: {} }))
      const overflowed = error instanceof RangeError && /stack|recursion/i.test(error.message)
      check('a schema that contains itself', !overflowed, 'a verdict or a named error', error)
    },

    async 'does not change a schema, which may be frozen'() {
      const properties = Object.freeze({ a: Object.freeze({ type: 'string' }) })
      const schema = Object.freeze({ type: 'object', properties })
      const before = JSON.stringify(schema)
      checkEqual('the verdict', (await create()).compile(schema)({ a: 'x' }), { valid: true })
      checkEqual('the schema', JSON.stringify(schema), before)
    },
  })
}
