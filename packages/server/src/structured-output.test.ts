import { createJsonSchemaValidator } from '@mcpx/json-schema'
import type { AnySchema } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ResultError } from './errors.ts'
import { isPlainJson } from './json-value.ts'
import { createRegistry } from './registry.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

/** Returns the result that is sent when a tool with this output returns a value. */
async function sent(output: AnySchema, value: unknown): Promise<unknown> {
  const registry = createRegistry()
  registry.addTool('t', { output: output as never }, () => value as never)
  const result = await registry.callTool?.({ name: 't', arguments: {} }, { meta: {} } as never)
  return JSON.parse(JSON.stringify(result))
}

const plain = (value: unknown) => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
})

const mean = { type: 'object', properties: { mean: { type: 'number' } }, required: ['mean'] } as const
class Mean {
  get mean() {
    return 1
  }
}

/** But for the sign of 0, and for members that are `undefined`. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === other
  if (typeof other !== 'object' || other === null || Array.isArray(one) !== Array.isArray(other)) return false
  const members = Object.entries(one).filter(([, member]) => member !== undefined)
  const count = Object.keys(other).length
  return (
    members.length === count && members.every(([key, member]) => isSame(member, (other as typeof one)[key as never]))
  )
}

describe('the structured content of a tool with an output schema', () => {
  it.each([
    ['NaN', mean, { mean: Number.NaN }],
    ['Infinity', mean, { mean: Number.POSITIVE_INFINITY }],
    ['a member that JSON omits', z.object({ mean: z.any() }), { mean: () => 1 }],
    ['a Date instead of an object', { type: 'object' }, new Date(0)],
    ['a Date in an array of objects', { type: 'array', items: { type: 'object' } }, [new Date(0)]],
    ['an object with another toJSON', mean, { mean: 1, toJSON: () => ({ mean: '1' }) }],
    ['an instance of a class without members', mean, new Mean()],
    ['a Map', mean, new Map([['mean', 1]])],
    ['a hole in an array', { type: 'array', items: { type: ['string'] } }, Array(1)],
  ] as const)('fits the output that is shown, or is nothing: %s [S-162]', async (_what, output, value) => {
    const failing = sent(output as AnySchema, value)
    await expect(failing).rejects.toThrow(ResultError)
    await expect(failing).rejects.toThrow(
      /^Tool "t"(?: returned a value that does not match its output schema as JSON\. result|, result: a (?:Map|Mean) would be sent empty)/,
    )
    const whole = sent(output as AnySchema, { content: [], structuredContent: value })
    await expect(whole).rejects.toThrow(ResultError)
  })

  it.each([
    ['a Date for a string', { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }],
    ['a Date for any value, in a schema of a library', z.object({ at: z.any() })],
  ])('is the JSON of the value, if that matches: %s [S-162]', async (_what, output) => {
    const at = new Date(0)
    const written = { at: at.toISOString() }
    expect(await sent(output as AnySchema, { at })).toEqual(plain(written))
    const content = [{ type: 'text', text: 'then' }]
    const whole = await sent(output as AnySchema, { content, structuredContent: { at } })
    expect(whole).toEqual({ content, structuredContent: written })
  })

  it('is the value itself if it is JSON, without a copy or a second check', async () => {
    let checks = 0
    const validator = createJsonSchemaValidator()
    const compile: typeof validator.compile = (schema) => {
      const compiled = validator.compile(schema)
      return (...given) => {
        checks += 1
        return compiled(...given)
      }
    }
    const registry = createRegistry({ validator: { ...validator, compile } })
    const value = { mean: 1, none: undefined, all: [{ a: null }] }
    registry.addTool('t', { output: mean as never }, () => value as never)
    registry.addTool('z', { output: z.any().meta({ type: 'object' }) as never }, () => value as never)
    for (const name of ['t', 'z']) {
      const result = await registry.callTool?.({ name, arguments: {} }, { meta: {} } as never)
      expect((result as { structuredContent?: unknown }).structuredContent).toBe(value)
    }
    expect(checks).toBe(1)
  })

  it('is absent if the value is circular', async () => {
    const circle: Record<string, unknown> = {}
    await expect(sent({ type: 'object' }, Object.assign(circle, { a: circle, b: circle }))).rejects.toThrow(TypeError)
  })

  it('is absent if the value contains a value that JSON does not support', async () => {
    await expect(sent({ type: 'object' }, { a: 1n })).rejects.toThrow(ResultError)
    await expect(sent({ type: 'object' }, { a: 1n })).rejects.toThrow('Tool "t", result.a: a bigint cannot be written')
  })
})

describe('a value', () => {
  it('equals its JSON only if it has no conversion', () => {
    const odd = fc.constantFrom<unknown>(
      Number.NaN,
      Number.POSITIVE_INFINITY,
      new Date(0),
      new Map(),
      () => 1,
      1n,
      Symbol.iterator,
    )
    const leaf = fc.oneof(fc.jsonValue({ maxDepth: 2 }), odd, fc.constant(undefined))
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(value, (given) => {
        if (isPlainJson(given)) expect(isSame(given, JSON.parse(JSON.stringify(given)))).toBe(true)
      }),
      { seed, numRuns: 1_000 },
    )
    fc.assert(
      fc.property(fc.jsonValue(), (given) => isPlainJson(given)),
      { seed, numRuns: 300 },
    )
  })
})
