import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator, type JsonSchema } from './index.ts'
import { workOf } from './work.fixture.ts'

const validator = createJsonSchemaValidator()
const check = (schema: JsonSchema, value: unknown) => validator.compile(schema)(value)
const problem = (message: string) => ({ valid: false, problems: [{ path: 'value', message }] })
const list = <T>(length: number, item: (index: number) => T) => Array.from({ length }, (_, index) => item(index))

describe('the work of a check is bounded', () => {
  const tooMany = problem('takes more than 3000000 steps to check')

  it('when references multiply', () => {
    const $defs: Record<string, JsonSchema> = { d25: {} }
    for (let index = 0; index < 25; index++) {
      const next = { $ref: `#/$defs/d${index + 1}` }
      $defs[`d${index}`] = { allOf: [next, next] }
    }
    expect(check({ $ref: '#/$defs/d0', $defs }, 1)).toEqual(tooMany)
  })

  it('when forms multiply with the depth of the value', () => {
    const child = { properties: { child: { $ref: '#' } } }
    let value: unknown = {}
    for (let depth = 0; depth < 40; depth++) value = { child: value }
    expect(check({ allOf: [child, child] }, value)).toEqual(tooMany)
  })

  it('when many values are compared with long lists', () => {
    const required = list(10_000, (index) => `p${index}`)
    const complete = Object.fromEntries(required.map((name) => [name, 1]))
    const values = list(10_000, () => complete)
    expect(workOf(() => expect(check({ items: { required } }, values)).toEqual(tooMany))).toBeLessThan(1000)
  })

  it('when every property is tested with every pattern', () => {
    const patternProperties = Object.fromEntries(list(1000, (index) => [`^x${index}`, {}]))
    const value = (properties: number) => Object.fromEntries(list(properties, (index) => [`p${index}`, 1]))
    expect(check({ patternProperties }, value(2900))).toEqual({ valid: true })
    expect(check({ patternProperties }, value(3001))).toEqual(tooMany)
    expect(
      check(
        { items: { patternProperties } },
        list(10, () => value(301)),
      ),
    ).toEqual(tooMany)
  }, 30_000)

  it('by an option', () => {
    const few = createJsonSchemaValidator({ maxSteps: 10 }).compile({ items: { type: 'number' } })
    expect(few([1, 2, 3])).toEqual({ valid: true })
    expect(few(list(20, () => 1))).toEqual(problem('takes more than 10 steps to check'))
    expect(few([1, 2, 3])).toEqual({ valid: true })
  })

  it('when a value is nested too deeply for the stack', () => {
    let value: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) value = [value]
    expect(check({ items: { $ref: '#' } }, value)).toEqual(problem('is nested too deeply or too large to be checked'))
  })

  it('when a value has very many problems, of which only the first is reported', () => {
    const values = list(200_000, () => 1)
    const verdict = { valid: false, problems: [{ path: 'value[0]', message: 'expected string, got number' }] }
    expect(workOf(() => expect(check({ items: { type: 'string' } }, values)).toEqual(verdict))).toBeLessThan(1000)
    const object = Object.fromEntries(values.map((_, index) => [`k${index}`, 1]))
    const closed = { allOf: [{ additionalProperties: false }] }
    expect(workOf(() => expect(check(closed, object).valid).toBe(false))).toBeLessThan(2000)
  })

  it('when very many properties are missing', () => {
    const required = list(10_000, (index) => `p${index}`)
    const schema = { unevaluatedProperties: { required } }
    expect(workOf(() => expect(check(schema, { a: {} })).toMatchObject({ valid: false }))).toBeLessThan(1000)
  })

  it('when a string is tested with a pattern', () => {
    expect(workOf(() => expect(check({ pattern: 'a+b$' }, 'a'.repeat(16_384)).valid).toBe(false))).toBeLessThan(2000)
    expect(check({ pattern: '^a+$' }, 'a'.repeat(16_384))).toEqual({ valid: true })
    expect(check({ pattern: '^a+$' }, 'a'.repeat(16_385))).toEqual(
      problem('is too long to be tested against a pattern'),
    )
    expect(check({ properties: { a: { pattern: '^a+$' } } }, { b: 'a'.repeat(16_385) })).toEqual({ valid: true })
    expect(check({ patternProperties: { '^a+$': {} } }, { ['a'.repeat(16_385)]: 1 }).valid).toBe(false)
  })
})

describe('a value that is not JSON', () => {
  it.each([
    [undefined, 'expected a JSON value, got nothing'],
    [() => 1, 'expected a JSON value, got function that JSON cannot represent'],
    [Symbol('a'), 'expected a JSON value, got symbol that JSON cannot represent'],
    [10n, 'expected a JSON value, got bigint that JSON cannot represent'],
    [{ a: 10n }, 'expected a JSON value, got object that JSON cannot represent'],
  ])('%o is a problem, not an exception', (value, message) => {
    expect(check({ additionalProperties: { type: 'string' } }, value)).toEqual(problem(message))
  })

  it('that contains itself is a problem, not an exception', () => {
    const value: Record<string, unknown> = {}
    value.self = value
    expect(check({ additionalProperties: { $ref: '#' } }, value).valid).toBe(false)
    expect(check({ additionalProperties: { $ref: '#' }, patternProperties: { a: {} } }, value).valid).toBe(false)
  })

  it('is checked as JSON: undefined properties are absent', () => {
    const schema = { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] }
    expect(check(schema, { a: 'x', b: undefined })).toEqual({ valid: true })
    expect(check(schema, { a: undefined })).toEqual({
      valid: false,
      problems: [{ path: 'value.a', message: 'is required' }],
    })
  })

  it('has a name with invalid Unicode', () => {
    expect(check({ additionalProperties: { type: 'number' } }, JSON.parse('{"\\ud800":1}'))).toEqual(
      problem('has a property name that is not well-formed Unicode'),
    )
  })
})
