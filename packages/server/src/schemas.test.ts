import { createJsonSchemaValidator } from '@mcpx/json-schema'
import type { AnySchema, Context, JsonObject, ListToolsResult, Tool } from '@mcpx/protocol'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { RegistrationError } from './errors.ts'
import type { RegistryOptions } from './registry.ts'
import { createRegistry } from './registry.ts'

const ctx = { auth: undefined } as unknown as Context

function shown(options: { input?: AnySchema; output?: AnySchema }, registryOptions?: RegistryOptions): Promise<Tool> {
  const registry = createRegistry(registryOptions)
  registry.addTool('it', options, () => undefined as never)
  const listing = Promise.resolve(registry.listTools?.({}, ctx) as Promise<ListToolsResult>)
  return listing.then(({ tools }) => tools[0] as Tool)
}

const inputOf = (input: AnySchema): Promise<JsonObject> => shown({ input }).then(({ inputSchema }) => inputSchema)

const sum = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'] }

const libraries: Record<string, AnySchema> = {
  zod: z.object({ a: z.number(), b: z.string().optional() }),
  'zod/mini': mini.toJSONSchema(mini.object({ a: mini.number(), b: mini.optional(mini.string()) })),
  ArkType: type({ a: 'number', 'b?': 'string' }),
  Valibot: toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.string()) })),
  'JSON Schema': sum,
}

describe.each(Object.entries(libraries))('a schema of %s', (_name, input) => {
  it('is converted to JSON Schema', async () => {
    expect(await inputOf(input)).toEqual(sum)
  })

  it('validates arguments and names the place', async () => {
    const registry = createRegistry()
    registry.addTool('it', { input }, (args) => Object.keys(args as object).join())
    const call = (args: JsonObject) => registry.callTool?.({ name: 'it', arguments: args }, ctx)
    expect(await call({ a: 1, b: 'x' })).toEqual({ content: [{ type: 'text', text: 'a,b' }] })
    expect(await call({ a: 'x' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^arguments\.a: .*number/) }],
    })
  })

  it('validates results', async () => {
    const registry = createRegistry()
    registry.addTool('good', { output: input }, () => ({ a: 1 }) as never)
    registry.addTool('bad', { output: input }, () => ({ a: 'x' }) as never)
    const call = async (name: string) => registry.callTool?.({ name }, ctx)
    expect(await call('good')).toMatchObject({ structuredContent: { a: 1 } })
    await expect(call('bad')).rejects.toThrow(
      'Tool "bad" returned a value that does not match its output schema. result.a: ',
    )
  })
})

describe('the listed schema', () => {
  it('allows no arguments without an input schema', async () => {
    expect(await shown({})).toEqual({ name: 'it', inputSchema: { type: 'object', additionalProperties: false } })
  })

  it('describes the input type for input, and the output type for output', async () => {
    const schema = z.object({ a: z.string().default('x') })
    const { inputSchema, outputSchema } = await shown({ input: schema, output: schema })
    expect(inputSchema).not.toHaveProperty('required')
    expect(outputSchema).toMatchObject({ required: ['a'], additionalProperties: false })
  })

  it('has the type object for a union of objects of any library', async () => {
    const zodUnion = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
    const tagged = z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })])
    for (const union of [zodUnion, tagged, type({ a: 'string' }).or({ b: 'number' })]) {
      expect(await inputOf(union)).toMatchObject({ type: 'object' })
    }
    expect(
      (await inputOf({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { allOf: [true, { type: 'object' }] } } })).type,
    ).toBe('object')
    expect((await inputOf({ properties: { a: { type: 'string' } } })).type).toBe('object')
    expect((await inputOf({ anyOf: [{ type: 'object' }, { $ref: '#/anyOf/0' }] })).type).toBe('object')
    expect((await inputOf({ $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: 'object' } } })).type).toBe('object')
  })

  it('is rejected if arguments are not an object', () => {
    const refused = [
      z.string(),
      z.array(z.string()),
      z.union([z.object({}), z.string()]),
      { oneOf: [{ type: 'object' }, { type: 'string' }] },
      { type: ['object', 'null'] },
      { not: { type: 'object' } },
    ]
    for (const input of refused) expect(() => inputOf(input)).toThrow(/Tool "it", input: must be an object/)
    expect(() => inputOf({ $ref: '#/$defs/%' })).toThrow('Tool "it", input: JSON Schema, at #/$ref: ')
    const circles = [
      { anyOf: [{ $ref: '#/anyOf/1' }, { allOf: [{ $ref: '#/anyOf/0' }, { $ref: '#/anyOf/1' }] }] },
      { anyOf: [{ $ref: '#/anyOf/0' }] },
    ]
    for (const input of circles) expect(() => inputOf(input)).toThrow(/^Tool "it", input: JSON Schema, at #/)
    expect(() => inputOf(z.string())).toThrow('it is of type "string"; put it into a property of an object')
  })

  it('may have any type for output, but must not be empty', async () => {
    expect((await shown({ output: z.array(z.string()) })).outputSchema).toMatchObject({ type: 'array' })
    expect((await shown({ output: z.union([z.string(), z.object({})]) })).outputSchema).toHaveProperty('anyOf')
    for (const output of [z.any(), z.unknown(), {}]) {
      expect(() => shown({ output })).toThrow('Tool "it", output: the schema is empty; describe the value')
    }
    expect(() => shown({ input: {} })).toThrow('the schema is empty')
  })

  it('is a copy', async () => {
    const input = { type: 'object', properties: { a: { type: 'string' } } }
    const registry = createRegistry()
    registry.addTool('it', { input }, () => '')
    input.properties.a.type = 'number'
    expect(await registry.listTools?.({}, ctx)).toMatchObject({
      tools: [{ inputSchema: { properties: { a: { type: 'string' } } } }],
    })
  })

  it('names its dialect if the author does, or if a library uses another dialect', async () => {
    for (const $schema of ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#']) {
      expect(await inputOf({ ...sum, $schema })).toEqual({ ...sum, $schema })
      expect(() => inputOf({ $schema })).toThrow('the schema is empty')
    }
    expect(await inputOf(z.object({ a: z.number(), b: z.string().optional() }))).not.toHaveProperty('$schema')
  })
})

describe('a schema that cannot be converted', () => {
  it.each([
    ['zod', z.object({ a: z.object({ b: z.array(z.date()) }) }), 'input.a.b[]: Date cannot be represented'],
    ['zod, under a name', z.object({ a: z.record(z.string(), z.bigint()) }), 'input.a.*: BigInt cannot be represented'],
    ['ArkType', type({ a: { b: 'Date' } }), 'input.a.b: date cannot be expressed in JSON Schema'],
    ['Valibot', toStandardJsonSchema(v.object({ a: v.object({ b: v.date() }) })), 'input.a.b: The "date" schema'],
  ])('is rejected at registration with the tool and the path: %s', (_library, input, message) => {
    expect(() => shown({ input })).toThrow(RegistrationError)
    expect(() => shown({ input })).toThrow(`Tool "it", ${message}`)
  })

  it('is rejected for output if the output type is unknown', async () => {
    const output = z.object({ a: z.string().transform((a) => a.length) })
    expect(() => shown({ output })).toThrow('Tool "it", output.a: Transforms cannot be represented in JSON Schema')
    expect(await inputOf(output)).toMatchObject({ properties: { a: { type: 'string' } } })
  })

  it('is rejected if it has no conversion', () => {
    const bare = mini.object({ a: mini.string() }) as unknown as AnySchema
    expect(() => shown({ input: bare })).toThrow(
      'Tool "it", input: the zod schema cannot be converted to JSON Schema; wrap a schema of zod/mini with z.toJSONSchema',
    )
    expect(() => shown({ input: v.object({}) as unknown as AnySchema })).toThrow(
      'the valibot schema cannot be converted to JSON Schema; wrap it with toStandardJsonSchema(schema)',
    )
  })

  it.each([
    [
      'zod 3.25',
      { _def: { typeName: 'ZodObject' }, '~standard': { version: 1, vendor: 'zod', validate: () => ({}) } },
      'zod 4.2 or newer is needed, found zod 3; run npm install zod@latest',
    ],
    ['zod 3.22', { _def: { typeName: 'ZodObject' } }, 'zod 4.2 or newer is needed, found zod 3'],
    [
      'zod 4.1',
      { _zod: { version: { major: 4, minor: 1, patch: 13 } }, '~standard': { vendor: 'zod', validate: () => ({}) } },
      'zod 4.2 or newer is needed, found 4.1; run npm install zod@latest',
    ],
    [
      'effect',
      Object.assign(() => {}, { ast: {}, pipe: () => {} }),
      'wrap it with Schema.toStandardSchemaV1(Schema.toStandardJSONSchemaV1(schema))',
    ],
    ['another library', { '~standard': { vendor: 'runtypes', validate: () => ({}) } }, 'pass a JSON Schema'],
  ])('is rejected with the remedy for its library: %s', (_library, input, message) => {
    expect(() => shown({ input: input as unknown as AnySchema })).toThrow(RegistrationError)
    expect(() => shown({ input: input as unknown as AnySchema })).toThrow(message)
  })

  it('is rejected if it is not a schema', () => {
    expect(() => shown({ input: 'string' as never })).toThrow('Tool "it", input: expected a schema, got string')
    expect(() => shown({ input: null as never })).toThrow('Tool "it", input: expected a schema, got null')
    const circle: JsonObject = { type: 'object' }
    circle.properties = { circle }
    expect(() => shown({ input: circle })).toThrow(RegistrationError)
  })

  it('may use `this` in the functions of a library', async () => {
    const json = { type: 'object', properties: { a: { type: 'number' } } }
    const standard = {
      version: 1,
      vendor: 'own',
      accepted: { a: 1 },
      validate(this: { accepted: object }) {
        return { value: this.accepted }
      },
      jsonSchema: {
        json,
        input(this: { json: object }) {
          return { ...this.json }
        },
        output: () => ({}),
      },
    } as const
    const registry = createRegistry()
    registry.addTool('it', { input: { '~standard': standard } as AnySchema }, (args) => JSON.stringify(args))
    expect(await inputOf({ '~standard': standard } as AnySchema)).toEqual(json)
    expect(await registry.callTool?.({ name: 'it' }, ctx)).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] })
  })

  it('may have refinements', async () => {
    expect(await inputOf(type({ a: type('string').narrow(() => true) }))).toMatchObject({
      properties: { a: { type: 'string' } },
    })
    expect(await inputOf(z.object({ a: z.string().refine(() => true) }))).toMatchObject({
      properties: { a: { type: 'string' } },
    })
  })

  it('causes a warning if only parts of it are empty', () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => warnings.push(message)
    void shown({ input: z.object({ a: z.unknown(), b: z.any().describe('anything') }) }, { onWarning })
    expect(warnings).toEqual(['Tool "it", input.a: the schema is empty; add a type or a description'])
  })
})

describe('a plain JSON Schema', () => {
  it('is compiled at registration if there is a validator', async () => {
    const validator = createJsonSchemaValidator()
    const broken = { type: 'object', properties: { a: { type: 'strin' } } }
    expect(() => shown({ input: broken }, { validator })).toThrow(/^Tool "it", input: .*properties\/a\/type/)
    const registry = createRegistry({ validator })
    registry.addTool('it', { input: sum }, () => 'ok')
    expect(await registry.callTool?.({ name: 'it', arguments: { a: 1 } }, ctx)).toEqual({
      content: [{ type: 'text', text: 'ok' }],
    })
  })

  it.each<[string, object, string]>([
    ['type', { properties: { a: { type: 'strin' } } }, '#/properties/a/type'],
    ['type, in a list', { properties: { a: { type: ['string', 'nul'] } } }, '#/properties/a/type'],
    ['properties', { properties: ['a'] }, '#/properties'],
    ['property', { properties: { a: 'string' } }, '#/properties/a'],
    ['definition', { $defs: { a: null } }, '#/$defs/a'],
    ['items', { properties: { a: { type: 'array', items: 'string' } } }, '#/properties/a/items'],
    ['anyOf', { properties: { a: { anyOf: [] } } }, '#/properties/a/anyOf'],
    ['allOf', { properties: { a: { allOf: [{ not: 7 }] } } }, '#/properties/a/allOf/0/not'],
    ['required', { properties: { a: {} }, required: 'a' }, '#/required'],
    ['enum', { properties: { a: { enum: 'x' } } }, '#/properties/a/enum'],
    ['minLength', { properties: { a: { minLength: -1 } } }, '#/properties/a/minLength'],
    ['maximum', { properties: { a: { maximum: '7' } } }, '#/properties/a/maximum'],
    ['pattern', { properties: { a: { pattern: '(' } } }, '#/properties/a/pattern'],
    ['$ref', { properties: { a: { $ref: '#/$defs/no' } } }, '#/properties/a/$ref'],
    ['$ref, to another document', { $ref: 'https://example.com/x' }, '#/$ref'],
  ])(
    'is rejected at registration with the tool and the path if it has an invalid %s [S-161, S-261, S-263]',
    (_, more, path) => {
      expect(() => shown({ input: { type: 'object', ...more } })).toThrow(RegistrationError)
      expect(() => shown({ input: { type: 'object', ...more } })).toThrow(`Tool "it", input: JSON Schema, at ${path}: `)
    },
  )

  it('may use all keywords', async () => {
    const input = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { a: true, b: { type: ['string', 'null'], pattern: '[\\w-]+\\-', 'x-own': 7 }, 'c/d~e': {} },
      properties: {
        a: { $ref: '#/definitions/a' },
        type: { const: 'strin' },
        required: { enum: ['a'] },
        b: false,
        self: { $ref: '#' },
      },
      allOf: [{ if: {}, else: { required: ['a'] } }, { $ref: '#/definitions/c~1d~0e' }],
      items: [{ type: 'string' }],
      additionalProperties: false,
      dependencies: { a: ['b'], b: { minProperties: 0 } },
      default: { type: 'strin' },
      examples: [{ $ref: '#/nowhere' }],
    }
    expect(await inputOf(input)).toEqual(input)
  })
})
