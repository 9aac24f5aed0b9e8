import type { AnySchema, Context, JsonObject, ListToolsResult, Tool } from '@mcpx/protocol'
import { createJsonSchemaValidator } from '@mcpx/protocol/json-schema'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { createRegistry } from './registry.ts'
import type { RegistryOptions } from './registry.ts'
import { RegistrationError } from './errors.ts'

const ctx = { auth: undefined } as unknown as Context

function shown(options: { input?: AnySchema; output?: AnySchema }, registryOptions?: RegistryOptions): Tool {
  const registry = createRegistry(registryOptions)
  registry.addTool('it', options, () => undefined as never)
  const list = registry.listTools?.({}, ctx) as ListToolsResult
  return list.tools[0] as Tool
}

const inputOf = (input: AnySchema): JsonObject => shown({ input }).inputSchema

const sum = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'] }

const libraries: Record<string, AnySchema> = {
  zod: z.object({ a: z.number(), b: z.string().optional() }),
  'zod/mini': mini.toJSONSchema(mini.object({ a: mini.number(), b: mini.optional(mini.string()) })),
  ArkType: type({ a: 'number', 'b?': 'string' }),
  Valibot: toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.string()) })),
  'JSON Schema': sum,
}

describe.each(Object.entries(libraries))('a schema of %s', (_name, input) => {
  it('is shown as JSON Schema', () => {
    expect(inputOf(input)).toEqual(sum)
  })

  it('checks arguments, naming the place', async () => {
    const registry = createRegistry()
    registry.addTool('it', { input }, (args) => Object.keys(args as object).join())
    const call = (args: JsonObject) => registry.callTool?.({ name: 'it', arguments: args }, ctx)
    expect(await call({ a: 1, b: 'x' })).toEqual({ content: [{ type: 'text', text: 'a,b' }] })
    expect(await call({ a: 'x' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^arguments\.a: .*number/) }],
    })
  })

  it('checks results', async () => {
    const registry = createRegistry()
    registry.addTool('good', { output: input }, () => ({ a: 1 }) as never)
    registry.addTool('bad', { output: input }, () => ({ a: 'x' }) as never)
    const call = async (name: string) => registry.callTool?.({ name }, ctx)
    expect(await call('good')).toMatchObject({ structuredContent: { a: 1 } })
    await expect(call('bad')).rejects.toThrow('Tool "bad" returned what its output does not allow. result.a: ')
  })
})

describe('the schema that is shown', () => {
  it('says that there are no arguments where there is no input', () => {
    expect(shown({})).toEqual({ name: 'it', inputSchema: { type: 'object', additionalProperties: false } })
  })

  it('is that of what goes in for input, and of what comes out for output', () => {
    const schema = z.object({ a: z.string().default('x') })
    const { inputSchema, outputSchema } = shown({ input: schema, output: schema })
    expect(inputSchema).not.toHaveProperty('required')
    expect(outputSchema).toMatchObject({ required: ['a'], additionalProperties: false })
  })

  it('says object beside a union of objects, whichever library made it', () => {
    const zodUnion = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
    const tagged = z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })])
    for (const union of [zodUnion, tagged, type({ a: 'string' }).or({ b: 'number' })]) {
      expect(inputOf(union)).toMatchObject({ type: 'object' })
    }
    expect(inputOf({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { allOf: [true, { type: 'object' }] } } }).type).toBe(
      'object',
    )
    expect(inputOf({ properties: { a: { type: 'string' } } }).type).toBe('object')
    expect(inputOf({ anyOf: [{ type: 'object' }, { $ref: '#/anyOf/0' }] }).type).toBe('object')
    expect(inputOf({ $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: 'object' } } }).type).toBe('object')
  })

  it('is refused where arguments would not be an object', () => {
    const refused = [
      z.string(),
      z.array(z.string()),
      z.union([z.object({}), z.string()]),
      { oneOf: [{ type: 'object' }, { type: 'string' }] },
      { anyOf: [{ $ref: '#/anyOf/1' }, { allOf: [{ $ref: '#/anyOf/0' }, { $ref: '#/anyOf/1' }] }] },
      { type: ['object', 'null'] },
      { anyOf: [{ $ref: '#/anyOf/0' }] },
      { not: { type: 'object' } },
    ]
    for (const input of refused) expect(() => inputOf(input)).toThrow(/Tool "it", input: must be an object/)
    expect(() => inputOf({ $ref: '#/$defs/%' })).toThrow('Tool "it", input: "$ref" leads nowhere')
    expect(() => inputOf(z.string())).toThrow('it is of type "string"; put it into a property of an object')
  })

  it('may be of anything for output, unions included, but not empty', () => {
    expect(shown({ output: z.array(z.string()) }).outputSchema).toMatchObject({ type: 'array' })
    expect(shown({ output: z.union([z.string(), z.object({})]) }).outputSchema).toHaveProperty('anyOf')
    for (const output of [z.any(), z.unknown(), {}]) {
      expect(() => shown({ output })).toThrow('Tool "it", output: the schema is empty, it says nothing')
    }
    expect(() => shown({ input: {} })).toThrow('the schema is empty')
  })

  it('is a copy that later changes do not reach', () => {
    const input = { type: 'object', properties: { a: { type: 'string' } } }
    const registry = createRegistry()
    registry.addTool('it', { input }, () => '')
    input.properties.a.type = 'number'
    expect(registry.listTools?.({}, ctx)).toMatchObject({
      tools: [{ inputSchema: { properties: { a: { type: 'string' } } } }],
    })
  })

  it('names its dialect where its author does, and where a library uses another than the usual one', () => {
    for (const $schema of ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#']) {
      expect(inputOf({ ...sum, $schema })).toEqual({ ...sum, $schema })
      expect(() => inputOf({ $schema })).toThrow('the schema is empty')
    }
    expect(inputOf(z.object({ a: z.number(), b: z.string().optional() }))).not.toHaveProperty('$schema')
  })
})

describe('a schema that JSON Schema cannot say', () => {
  it.each([
    ['zod', z.object({ a: z.object({ b: z.array(z.date()) }) }), 'input.a.b[]: Date cannot be represented'],
    ['zod, under a name', z.object({ a: z.record(z.string(), z.bigint()) }), 'input.a.*: BigInt cannot be represented'],
    ['ArkType', type({ a: { b: 'Date' } }), 'input.a.b: date cannot be said in JSON Schema'],
    ['Valibot', toStandardJsonSchema(v.object({ a: v.object({ b: v.date() }) })), 'input.a.b: The "date" schema'],
  ])('is refused at registration, naming tool and path: %s', (_library, input, message) => {
    expect(() => shown({ input })).toThrow(RegistrationError)
    expect(() => shown({ input })).toThrow(`Tool "it", ${message}`)
  })

  it('is refused for output when what comes out is not known', () => {
    const output = z.object({ a: z.string().transform((a) => a.length) })
    expect(() => shown({ output })).toThrow('Tool "it", output.a: Transforms cannot be represented in JSON Schema')
    expect(inputOf(output)).toMatchObject({ properties: { a: { type: 'string' } } })
  })

  it('is refused when it cannot show itself at all', () => {
    const bare = mini.object({ a: mini.string() }) as unknown as AnySchema
    expect(() => shown({ input: bare })).toThrow('Tool "it", input: the schema (of zod) cannot show itself')
    expect(() => shown({ input: v.object({}) as unknown as AnySchema })).toThrow('(of valibot) cannot show itself')
    expect(() => shown({ input: bare })).toThrow('wrap it by z.toJSONSchema of zod/mini')
  })

  it('is refused when it is no schema', () => {
    expect(() => shown({ input: 'string' as never })).toThrow('Tool "it", input: expected a schema, got string')
    const circle: JsonObject = { type: 'object' }
    circle.properties = { circle }
    expect(() => shown({ input: circle })).toThrow(RegistrationError)
  })

  it('keeps refinements, which JSON Schema can do without', () => {
    expect(inputOf(type({ a: type('string').narrow(() => true) }))).toMatchObject({
      properties: { a: { type: 'string' } },
    })
    expect(inputOf(z.object({ a: z.string().refine(() => true) }))).toMatchObject({
      properties: { a: { type: 'string' } },
    })
  })

  it('is a warning where it is empty only in places', () => {
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    shown({ input: z.object({ a: z.unknown(), b: z.any().describe('anything') }) }, { warn })
    expect(warnings).toEqual(['Tool "it", input.a: clients are told nothing about it; give it a type or a description'])
  })
})

describe('a plain JSON Schema', () => {
  it('is compiled at registration when a validator is at hand', () => {
    const validator = createJsonSchemaValidator()
    const broken = { type: 'object', properties: { a: { type: 'strin' } } }
    expect(() => shown({ input: broken }, { validator })).toThrow(/^Tool "it", input: .*properties\/a\/type/)
    const registry = createRegistry({ validator })
    registry.addTool('it', { input: sum }, () => 'ok')
    expect(registry.callTool?.({ name: 'it', arguments: { a: 1 } }, ctx)).toEqual({
      content: [{ type: 'text', text: 'ok' }],
    })
  })

  it.each<[string, object, string]>([
    ['type', { properties: { a: { type: 'strin' } } }, 'input.a: "type" must be'],
    ['type, in a list', { properties: { a: { type: ['string', 'nul'] } } }, 'input.a: "type" must be'],
    ['properties', { properties: ['a'] }, 'input: "properties" must be an object of schemas'],
    ['property', { properties: { a: 'string' } }, 'input.a: must be a schema'],
    ['definition', { $defs: { a: null } }, 'input: "$defs/a" must be a schema'],
    ['items', { properties: { a: { type: 'array', items: 'string' } } }, 'input.a[]: must be a schema'],
    ['anyOf', { properties: { a: { anyOf: [] } } }, 'input.a: "anyOf" must be a list of schemas'],
    ['allOf', { properties: { a: { allOf: [{ not: 7 }] } } }, 'input.a: "not" must be a schema'],
    ['required', { properties: { a: {} }, required: 'a' }, 'input: "required" must be a list of strings'],
    ['enum', { properties: { a: { enum: 'x' } } }, 'input.a: "enum" must be a list'],
    ['minLength', { properties: { a: { minLength: -1 } } }, 'input.a: "minLength" must be a whole number'],
    ['maximum', { properties: { a: { maximum: '7' } } }, 'input.a: "maximum" must be a number'],
    ['pattern', { properties: { a: { pattern: '(' } } }, 'input.a: "pattern" must be a regular expression'],
    ['$ref', { properties: { a: { $ref: '#/$defs/no' } } }, 'input.a: "$ref" leads nowhere: "#/$defs/no"'],
  ])(
    'is refused at registration, naming tool and path, where it is wrong about %s [S-161, S-261]',
    (_, more, message) => {
      expect(() => shown({ input: { type: 'object', ...more } })).toThrow(RegistrationError)
      expect(() => shown({ input: { type: 'object', ...more } })).toThrow(`Tool "it", ${message}`)
    },
  )

  it('is taken with all that it may say', () => {
    const input = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { a: true, b: { type: ['string', 'null'], pattern: '[\\w-]+\\-', 'x-own': 7 }, 'c/d~e': {} },
      properties: { a: { $ref: '#/definitions/a' }, type: { const: 'strin' }, required: { enum: ['a'] }, b: false },
      allOf: [{ if: {}, else: { required: ['a'] } }, { $ref: '#/definitions/c~1d~0e' }, { $ref: '#' }],
      items: [{ type: 'string' }],
      additionalProperties: false,
      dependencies: { a: ['b'], b: { minProperties: 0 } },
      default: { type: 'strin' },
      examples: [{ $ref: '#/nowhere' }],
    }
    expect(inputOf(input)).toEqual(input)
  })

  it('is told of whole, and fails each call, when only the loaded validator finds it broken [S-263]', async () => {
    const errors: unknown[] = []
    const registry = createRegistry({ onError: (error) => errors.push(error) })
    registry.addTool('it', { input: { type: 'object', $ref: 'https://example.com/x' } }, () => 'ok')
    const call = async () => registry.callTool?.({ name: 'it', arguments: {} }, ctx)
    await expect(call()).rejects.toThrow(RegistrationError)
    await expect(call()).rejects.toThrow('Tool "it", input: ')
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(RegistrationError)
    expect(String(errors[0])).toContain('Tool "it", input: ')
  })

  it('answers at once when its validator is loaded', async () => {
    const registry = createRegistry()
    registry.addTool('it', { input: sum }, ({ a }) => `${a}`)
    const call = () => registry.callTool?.({ name: 'it', arguments: { a: 1 } }, ctx)
    await call()
    expect(call()).toEqual({ content: [{ type: 'text', text: '1' }] })
  })
})
