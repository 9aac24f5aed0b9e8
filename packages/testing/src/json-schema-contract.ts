/** What every JsonSchemaValidator must do, whatever it is made of. */

import type { JsonSchema, JsonSchemaValidator } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { caught } from './timing.ts'

export interface ValidatorContractOptions {
  create: () => JsonSchemaValidator | Promise<JsonSchemaValidator>
}

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

export function jsonSchemaValidatorContract(name: string, { create }: ValidatorContractOptions): void {
  describe(`${name} as a JSON Schema validator`, () => {
    it('accepts what fits, as often as it is asked', async () => {
      const check = (await create()).compile(person)
      for (let n = 0; n < 3; n++) expect(check({ name: 'a', age: 3, tags: ['x'] }).valid).toBe(true)
    })

    it.each([
      [{}, 'name'],
      [{ name: 5 }, 'name'],
      [{ name: 'a', age: -1 }, 'age'],
      [{ name: 'a', age: 1.5 }, 'age'],
      [{ name: 'a', tags: ['x', 7] }, 'tags[1]'],
      [{ name: 'a', other: 1 }, 'other'],
    ])('refuses %j and names the place', async (value, place) => {
      const verdict = (await create()).compile(person)(value, 'arguments')
      expect(verdict.valid).toBe(false)
      expect(JSON.stringify(verdict)).toContain(place)
    })

    it('never repeats a value', async () => {
      const verdict = (await create()).compile(person)({ name: ['hunter2'], age: 'hunter2' })
      expect(JSON.stringify(verdict)).not.toContain('hunter2')
    })

    it('takes both dialects, and refuses others by name', async () => {
      const validator = await create()
      for (const $schema of [
        'https://json-schema.org/draft/2020-12/schema',
        'http://json-schema.org/draft-07/schema#',
      ]) {
        expect(validator.compile({ $schema, type: 'string' })('x').valid).toBe(true)
      }
      const error = await caught(() =>
        validator.compile({ $schema: 'http://json-schema.org/draft-04/schema#', type: 'string' }),
      )
      expect(error).toMatchObject({ message: expect.stringContaining('draft-04') })
    })

    it('follows references within the schema, and refuses those that lead out of it', async () => {
      const validator = await create()
      const check = validator.compile({ $ref: '#/$defs/word', $defs: { word: { type: 'string' } } })
      expect([check('x').valid, check(5).valid]).toEqual([true, false])
      for (const $ref of ['https://example.com/schema.json', '#/$defs/missing']) {
        expect(await caught(() => validator.compile({ $ref }))).toBeInstanceOf(Error)
      }
    })

    it('refuses a schema that is none, and neither hangs nor overflows on one without end', async () => {
      const validator = await create()
      const cyclic: Record<string, unknown> = { type: 'object' }
      cyclic.properties = { self: cyclic }
      const bad = [{ type: 5 }, { pattern: '(' }, { $ref: '#' }]
      for (const schema of bad)
        expect(await caught(() => validator.compile(schema as JsonSchema))).toBeInstanceOf(Error)
      await caught(() => validator.compile(cyclic as JsonSchema)({ self: {} }))
    })

    it('does not change the schema, which may be frozen', async () => {
      const schema = Object.freeze({
        type: 'object',
        properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
      })
      const before = JSON.stringify(schema)
      expect((await create()).compile(schema)({ a: 'x' }).valid).toBe(true)
      expect(JSON.stringify(schema)).toBe(before)
    })
  })
}
