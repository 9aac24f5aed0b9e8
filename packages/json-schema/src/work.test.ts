/** The work of a check is limited by its steps, which suffice for large valid values. */

import { describe, expect, it } from 'vitest'
import { createJsonSchemaValidator } from './index.ts'

const check = (schema: object, value: unknown, limits = {}) =>
  createJsonSchemaValidator(limits).compile(schema as Record<string, unknown>)(value)

const list = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index))
const record = (length: number) => Object.fromEntries(list(length, (index) => [`k${index}`, index]))

/** The limit of CPU time, in milliseconds. */
function costOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Applies the same keyword to the same value many times. */
const often = (schema: object, times = 1000) => ({
  $defs: { it: schema },
  allOf: list(times, () => ({ $ref: '#/$defs/it' })),
})

describe('the steps of a check grow with the value', () => {
  const members = record(50_000)
  const names = Object.keys(members).slice(0, 5000)
  const text = 'a'.repeat(1_000_000)

  it.each<[string, object, unknown]>([
    ['objects that are compared with others', { enum: list(1000, (a) => ({ a })) }, members],
    ['lists that are compared with others', often({ const: list(100_000, () => 0) }), list(100_000, () => 0)],
    ['properties that are counted', often({ minProperties: 1 }), members],
    ['properties that are skipped', often({ additionalProperties: true }), members],
    ['names that are checked', often({ propertyNames: true }), members],
    ['names that are required beside another', often({ dependentRequired: { k0: names } }, 9000), members],
    [
      'names that are tested with patterns',
      often({ patternProperties: { '^a*$': true } }, 9000),
      { [text.slice(0, 16_000)]: 1 },
    ],
    ['items that are skipped', often({ contains: true }), list(1_000_000, () => 0)],
    ['items that must not repeat', often({ uniqueItems: true }), list(5000, String)],
    ['large items that must not repeat', { uniqueItems: true }, list(120, (last) => [list(10_000, () => 0), last])],
    ['characters', often({ minLength: 1 }), '😀'.repeat(200_000)],
    ['texts with a format', often({ format: 'uri-reference' }), text],
    ['texts with a pattern', often({ pattern: '^a*$' }, 9000), text.slice(0, 16_000)],
    ['regular expressions', { format: 'regex' }, '[\\p{L}]'.repeat(50_000)],
  ])('%s', (_, schema, value) => {
    expect(costOf(() => check(schema, value, { maxSteps: 300_000 }))).toBeLessThan(900)
  })

  it('and messages are created once', () => {
    const constant = { items: { const: record(50_000) } }
    const cost = costOf(() =>
      expect(
        check(
          { anyOf: [constant, constant] },
          list(1000, () => 1),
        ).valid,
      ).toBe(false),
    )
    expect(cost).toBeLessThan(1500)
  })
})

describe('long strings of equal length', () => {
  const texts = (length: number) => list(length, (index) => `${'x'.repeat(16_400)}${String(index).padStart(6, '0')}`)

  it('cost steps for uniqueItems and enum', () => {
    const limits = { maxSteps: 50_000 }
    const message = 'takes more than 50000 steps to check'
    expect(check({ uniqueItems: true }, texts(100), limits)).toMatchObject({ problems: [{ message }] })
    expect(check({ items: { enum: texts(100) } }, texts(100), limits)).toMatchObject({ problems: [{ message }] })
  })

  /** Returns the ratio of the time for eight times as many strings; quadratic work would take 64 times as long. */
  function growth(work: (texts: readonly string[]) => unknown): number {
    const [few = 0, many = 0] = [150, 1200].map((length) => {
      return Math.min(...list(3, () => texts(length)).map((made) => costOf(() => work(made))))
    })
    return many / few
  }

  it.each<[string, (texts: readonly string[]) => unknown]>([
    ['compared with each other', (made) => check({ uniqueItems: true }, made)],
    [
      'compared with each other inside lists',
      (made) =>
        check(
          { uniqueItems: true },
          made.map((text) => [text]),
          { maxSteps: 2 ** 30 },
        ),
    ],
    ['looked up', (made) => check({ items: { enum: made } }, made)],
    ['looked up inside lists', (made) => check({ enum: made.map((text) => [text]) }, ['a'], { maxSteps: 2 ** 30 })],
  ])('take time in proportion to their number when %s', (_, work) => {
    expect(growth(work)).toBeLessThan(24)
  })

  it('differ by every part', () => {
    const long = 'x'.repeat(40_000)
    const others = [
      `${long}y`,
      `y${long}`,
      `${long.slice(20_000)}y${long.slice(20_000)}`,
      long.slice(1),
      long.slice(0, 16_383),
    ]
    expect(check({ uniqueItems: true }, [long, ...others, [long], ...others.map((text) => [text])])).toEqual({
      valid: true,
    })
    for (const text of [long, ...others]) {
      expect(check({ uniqueItems: true }, [long, ...others, text]).valid).toBe(false)
      expect(check({ uniqueItems: true }, [[long], ...others.map((other) => [other]), [text]]).valid).toBe(false)
      expect(check({ enum: others }, text).valid).toBe(text !== long)
      expect(check({ enum: others }, text).valid).toBe(text !== long)
      expect(check({ enum: others.map((other) => [other]) }, [text]).valid).toBe(text !== long)
    }
  })
})

describe('a large valid value is checked', () => {
  it('when it is a list of many objects', () => {
    const row = {
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string' }, ok: { type: 'boolean' } },
      required: ['id', 'name', 'ok'],
      additionalProperties: false,
    }
    const rows: unknown[] = list(150_000, (id) => ({ id, name: 'abc', ok: true }))
    expect(check({ type: 'array', items: row }, rows)).toEqual({ valid: true })
    rows[149_999] = { id: 1, name: 'abc', ok: 1 }
    expect(check({ type: 'array', items: row }, rows)).toEqual({
      valid: false,
      problems: [{ path: 'value[149999].ok', message: 'expected boolean, got number' }],
    })
  })

  it('when each item is one of many strings', () => {
    const zones = list(600, (index) => `zone ${index}`)
    expect(
      check(
        { items: { enum: zones } },
        list(10_000, (index) => zones[index % 600]),
      ),
    ).toEqual({ valid: true })
  })

  it('when its items must be unique', () => {
    const unique = { uniqueItems: true }
    expect(
      check(
        unique,
        list(20_000, (id) => ({ id })),
      ),
    ).toEqual({ valid: true })
    expect(
      check(
        unique,
        list(20_000, (id) => `text ${id}`),
      ),
    ).toEqual({ valid: true })
    const twice = [...list(20_000, (a) => ({ a, b: null })), { b: null, a: 19_999 }]
    const problems = [{ path: 'value', message: 'expected unique items' }]
    expect(check(unique, twice)).toEqual({ valid: false, problems })
    expect(check(unique, ['1', 1, [1], ['1'], '[1]', { a: 1 }, '{"a":1}', null, 'null', false, 0, []])).toEqual({
      valid: true,
    })
  })
})

it('a schema may have more alternatives than a call has arguments', () => {
  const forms = list(200_000, () => true)
  expect(check({ anyOf: forms }, 1, { maxSubschemas: 300_000 })).toEqual({ valid: true })
})

it('a problem with very many alternatives is short', () => {
  const { problems = [] } = check({ anyOf: list(5000, (index) => ({ const: `value ${index}` })) }, 'x') as never
  expect(problems).toEqual([{ path: 'value', message: expect.stringMatching(/"value 9" or 4990 more, got string$/) }])
})
