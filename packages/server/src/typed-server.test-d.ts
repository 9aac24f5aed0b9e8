/** Tests the types of servers with tools, resources and prompts. The compiler checks this file; it never runs. */
import type { Catalogue, Catalogued, Context, JsonObject, Responder, StandardSchema } from '@mcpx/protocol'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { image, text } from './content.ts'
import { definePrompt, defineResource, defineTool } from './define.ts'
import { defineMethod } from './extension.ts'
import type { Server } from './server.ts'
import type { RunTool, ToolOptions } from './tools.ts'
import type { Fluent, NoItems } from './typed-server.ts'

type CatalogueOf<Server> = Server extends Catalogued<infer Types extends Catalogue> ? Types : never

declare const empty: Fluent<NoItems>
const sum = z.object({ a: z.number(), b: z.number().default(2) })

const rawInput = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1 },
    tags: { type: 'array', items: { type: 'string' } },
    kind: { enum: ['a', 'b'] },
    more: { $ref: '#/$defs/more' },
  },
  required: ['id'],
} as const
const rawOutput = {
  type: 'object',
  properties: {
    found: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, note: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
        required: ['name', 'note'],
      },
    },
    total: { type: ['number', 'null'] },
    version: { const: 2 },
    rest: { type: 'object', additionalProperties: { type: 'boolean' } },
  },
  required: ['found'],
} as const

/** Arguments come as the schema gives them, from any library. */
export const server = empty
  .tool('add', { input: sum, output: z.object({ sum: z.string().transform(Number) }) }, ({ a, b }, ctx) => {
    expectTypeOf(b).toEqualTypeOf<number>()
    expectTypeOf(ctx).toEqualTypeOf<Context>()
    return { sum: `${a + b}` }
  })
  .tool('ark', { input: type({ a: 'number', 'b?': 'string' }) }, ({ a, b }) => {
    expectTypeOf(a).toEqualTypeOf<number>()
    expectTypeOf(b).toEqualTypeOf<string | undefined>()
  })
  .tool(
    'mini',
    { input: mini.toJSONSchema(mini.object({ a: mini.number(), b: mini.optional(mini.string()) })) },
    ({ b }) => expectTypeOf(b).toEqualTypeOf<string | undefined>(),
  )
  .tool(
    'valibot',
    { input: toStandardJsonSchema(v.object({ a: v.optional(v.number(), 1) })) },
    ({ a }) => `${a.toFixed()}`,
  )
  .tool('raw', { input: { type: 'object', properties: { a: { type: 'number' } } } }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
    return args.a
  })
  .tool('constant', { input: rawInput, output: rawOutput }, ({ id, tags, kind, more }) => {
    expectTypeOf(id).toEqualTypeOf<number>()
    expectTypeOf(tags).toEqualTypeOf<string[] | undefined>()
    expectTypeOf(kind).toEqualTypeOf<'a' | 'b' | undefined>()
    expectTypeOf(more).toEqualTypeOf<unknown>()
    return { found: [{ name: 'x', note: null }] }
  })
  .tool('none', {}, (args) => expectTypeOf(args).toEqualTypeOf<Record<string, never>>())
  .resource('note://{user}/{id}{?rev,lang}{/path*}', { complete: { id: ['1'] } }, (variables, ctx, uri) => {
    expectTypeOf(variables).toEqualTypeOf<{ user: string; id: string; rev?: string; lang?: string; path?: string[] }>()
    expectTypeOf(ctx).toEqualTypeOf<Context>()
    return uri
  })
  .resource('config://app', {}, { debug: true })
  .prompt('review', { args: z.object({ code: z.string(), lang: z.string().optional() }) }, ({ code, lang }) => {
    expectTypeOf(lang).toEqualTypeOf<string | undefined>()
    return `${code}`
  })

/** Callers see what goes in and what comes out. */
type Tools = CatalogueOf<typeof server>['tools']
expectTypeOf<keyof Tools>().toEqualTypeOf<'add' | 'ark' | 'mini' | 'valibot' | 'raw' | 'constant' | 'none'>()
expectTypeOf<Tools['add']['input']>().toEqualTypeOf<{ a: number; b?: number | undefined }>()
expectTypeOf<Tools['add']['output']>().toEqualTypeOf<{ sum: number }>()
expectTypeOf<Tools['ark']['output']>().toEqualTypeOf<unknown>()
expectTypeOf<Tools['raw']['input']>().toEqualTypeOf<Record<string, unknown>>()
expectTypeOf<Tools['constant']['input']>().toEqualTypeOf<{
  id: number
  tags?: string[] | undefined
  kind?: 'a' | 'b' | undefined
  more?: unknown
}>()
expectTypeOf<Tools['constant']['output']>().toEqualTypeOf<{
  found: { name: string; note: string | null }[]
  total?: number | null | undefined
  version?: 2 | undefined
  rest?: { [name: string]: boolean } | undefined
}>()
expectTypeOf<Tools['mini']['input']>().toEqualTypeOf<{ a: number; b?: string | undefined }>()
type Prompts = CatalogueOf<typeof server>['prompts']
expectTypeOf<Prompts['review']>().toEqualTypeOf<{ code: string; lang?: string | undefined }>()

/** A tool with output may also give a whole result; one without may give anything. */
export const returns = empty
  .tool('whole', { output: sum }, () => ({ content: [text('no')], isError: true }))
  .tool('structured', { output: sum }, () => ({ content: [text('one')], structuredContent: { a: 1 } }))
  .tool('constant', { output: rawOutput }, () => ({ content: [], structuredContent: { found: [] } }))
  .tool('later', { output: sum }, async () => ({ a: 1 }))
  .tool('content', {}, () => [text('see'), image('AAAA', 'image/png')])
  .tool('value', {}, async () => 7)
  .tool('promise', {}, () => new Promise((resolve) => resolve('text')))
  .tool('promised', { output: sum }, () => new Promise((resolve) => resolve({ a: 1 })))

/** An interface that extends `Fluent` keeps its own methods in a chain of calls. */
interface Extended extends Fluent<NoItems> {
  use(): this
}
declare const extended: Extended
export const chain = extended
  .tool('a', {}, () => '')
  .use()
  .tool('b', {}, () => '')
  .use()
expectTypeOf<keyof CatalogueOf<typeof chain>['tools']>().toEqualTypeOf<'a' | 'b'>()

export function misused(raw: JsonObject): void {
  // @ts-expect-error: `c` is no argument
  empty.tool('x', { input: sum }, ({ c }) => c)
  // @ts-expect-error: the result is a number
  empty.tool('x', { output: sum }, () => ({ a: '1' }))
  // @ts-expect-error: the result has no `a`
  empty.tool('x', { output: sum }, async () => ({ b: 1 }))
  // @ts-expect-error: the result is a number, later as well
  empty.tool('x', { output: sum }, () => new Promise((resolve) => resolve({ a: '1' })))
  // @ts-expect-error: the result is an object, not words
  empty.tool('x', { output: sum }, () => 'words')
  // @ts-expect-error: the structured content is no number
  empty.tool('x', { output: sum }, () => ({ content: [], structuredContent: { a: '1' } }))
  // @ts-expect-error: the structured content has no `a`
  empty.tool('x', { output: sum }, async () => ({ content: [text('one')], structuredContent: { b: 1 } }))
  // @ts-expect-error: the structured content is not of the JSON Schema
  empty.tool('x', { output: rawOutput }, () => ({ content: [], structuredContent: { found: [{ name: 1 }] } }))
  // @ts-expect-error: the value is not of the JSON Schema
  empty.tool('x', { output: rawOutput }, () => ({ found: 'none' }))
  // @ts-expect-error: `ID` is no argument of the JSON Schema
  empty.tool('x', { input: rawInput }, ({ ID }) => ID)
  // @ts-expect-error: `descripton`
  empty.tool('x', { descripton: 'x' }, () => '')
  // @ts-expect-error: a schema that cannot show itself as JSON Schema
  empty.tool('x', { input: mini.object({ a: mini.string() }) }, () => '')
  // @ts-expect-error: nor can a schema of Valibot without its converter
  empty.tool('x', { input: v.object({}) }, () => '')
  empty.tool('x', { input: raw }, () => '')
  // @ts-expect-error: there is no variable `ID`
  empty.resource('note://{id}', { complete: { ID: [] } }, () => '')
  // @ts-expect-error: there is no argument `x`
  empty.prompt('x', { args: z.object({ code: z.string() }), complete: { x: [] } }, () => '')
  // @ts-expect-error: a prompt gives no numbers
  empty.prompt('x', {}, () => 7)
  // `visible` may return undefined, which hides the tool, but not a promise.
  empty.tool('x', { visible: (auth) => auth?.scopes.includes('admin') }, () => '')
  // @ts-expect-error: a promise is not awaited
  empty.tool('x', { visible: async () => true }, () => '')
}

/** Items as values: their types reach the server that adds them. */
const search = defineTool('search', { input: sum, output: z.object({ hits: z.number() }) }, ({ a, b }) => {
  expectTypeOf(b).toEqualTypeOf<number>()
  return { hits: a }
})
const plan = definePrompt('plan', { args: z.object({ to: z.string(), nights: z.coerce.number() }) }, ({ nights }) => {
  expectTypeOf(nights).toEqualTypeOf<number>()
  return 'Go.'
})
const note = defineResource('note://{id}', {}, ({ id }) => {
  expectTypeOf(id).toEqualTypeOf<string>()
  return id
})
expectTypeOf(search.run).parameter(0).toEqualTypeOf<{ a: number; b: number }>()
declare const adding: Server
export const added = adding
  .tool('first', {}, () => '')
  .add(search, note, plan)
  .tool('last', {}, () => '')
type Added = CatalogueOf<typeof added>
expectTypeOf<keyof Added['tools']>().toEqualTypeOf<'first' | 'search' | 'last'>()
expectTypeOf<Added['tools']['search']>().toEqualTypeOf<{
  readonly input: { a: number; b?: number | undefined }
  readonly output: { hits: number }
}>()
// A client sends strings; the schema of the prompt converts them.
expectTypeOf<Added['prompts']['plan']>().toEqualTypeOf<{ to: string; nights: string }>()

/** A mounted server adds its types with its prefix. A handler adds none, and keeps the others. */
declare const handler: { listTools(): never; callTool(): never }
export const outer = adding
  .tool('own', {}, () => '')
  .mount('git', added)
  .mount('far', handler)
expectTypeOf<keyof CatalogueOf<typeof outer>['tools']>().toEqualTypeOf<
  'own' | 'git.first' | 'git.search' | 'git.last'
>()
expectTypeOf<CatalogueOf<typeof outer>['tools']['git.search']['output']>().toEqualTypeOf<{ hits: number }>()
expectTypeOf<keyof CatalogueOf<typeof outer>['prompts']>().toEqualTypeOf<'git.plan'>()
export const twice = adding.mount('a', outer)
expectTypeOf<CatalogueOf<typeof twice>['tools']['a.git.search']['output']>().toEqualTypeOf<{ hits: number }>()

/** A name that the compiler does not know has no types, and does not change those of other tools. */
declare const anyName: string
export const named = empty
  .tool(anyName, { input: sum }, () => '')
  .tool(`get_${anyName}`, { input: sum }, () => '')
  .tool('known', { input: z.object({ id: z.string() }) }, () => '')
expectTypeOf<keyof CatalogueOf<typeof named>['tools']>().toEqualTypeOf<'known'>()
expectTypeOf<CatalogueOf<typeof named>['tools']['known']['input']>().toEqualTypeOf<{ id: string }>()

/** A schema of one of several libraries, and one whose type is not known, are usable. */
declare const one: z.ZodObject<{ a: z.ZodString }> | { type: 'object' }
declare const unknownSchema: StandardSchema
// biome-ignore lint/suspicious/noExplicitAny: users pass such schemas
declare const looseSchema: Record<string, any>
export const loose = empty
  .tool('one', { input: one, output: one }, () => ({ a: '' }))
  .tool('unknown', { input: unknownSchema, output: unknownSchema }, () => '')
  .tool('loose', { input: looseSchema }, () => '')
  .tool('union', { input: z.union([sum, z.object({ c: z.string() })]) }, () => '')
  .tool('maybe', { input: anyName === '' ? undefined : sum }, () => '')
  .prompt('loose', { args: looseSchema }, () => '')
  .prompt('choice', { args: z.object({ mode: z.enum(['a', 'b']), note: z.string().nullish() }) }, () => '')

/** A function around the registration keeps the types. */
export function register<Input, Output>(options: ToolOptions<Input, Output>, run: RunTool<Input, Output>) {
  return empty.tool('x', options, run)
}

export function unusableSchemas(z3: { readonly _def: object; parse(): void }, effect: { readonly ast: object }): void {
  const shape = { a: z.number() }
  // @ts-expect-error: "input: expected one schema, got an object of schemas; write z.object({ … }) around the properties"
  empty.tool('x', { input: shape }, () => '')
  // @ts-expect-error: "output: expected one schema, got an object of schemas; …"
  empty.tool('x', { output: shape }, () => ({ a: 1 }))
  // @ts-expect-error: "args: expected one schema, got an object of schemas; …"
  empty.prompt('x', { args: { a: z.string() } }, () => '')
  // @ts-expect-error: "input: expected a schema of an object, such as z.object({ … })"
  empty.tool('x', { input: z.string() }, () => '')
  // @ts-expect-error: "input: expected a schema of an object, …"
  empty.tool('x', { input: { type: 'string' } as const }, () => '')
  // @ts-expect-error: "input: zod 4.2 or newer is needed; …"
  empty.tool('x', { input: z3 }, () => '')
  // @ts-expect-error: "input: zod 4.2 or newer is needed; wrap a schema of zod/mini with z.toJSONSchema(schema)"
  empty.tool('x', { input: mini.object({}) }, () => '')
  // @ts-expect-error: "input: wrap a schema of Effect: …"
  empty.tool('x', { input: effect }, () => '')
  // @ts-expect-error: "input: expected a schema, such as z.object({ … })"
  empty.tool('x', { input: 5 }, () => '')
  // @ts-expect-error: "args: n must accept a string; convert it with z.coerce.number() or z.string().transform(…)"
  empty.prompt('x', { args: z.object({ n: z.number() }) }, () => '')
  // @ts-expect-error: the same, of a value
  definePrompt('x', { args: z.object({ n: z.number() }) }, () => '')
  // @ts-expect-error: "input: expected a schema of an object, …"
  defineTool('x', { input: z.string() }, () => '')
  // @ts-expect-error: a tool is not made by hand
  empty.add({ name: 'x' })
}

export async function forms(ctx: Context): Promise<void> {
  const form = z.object({ n: z.number().int(), s: z.email().optional(), on: z.boolean().default(true) })
  const answer = await ctx.elicit('k', { message: 'm', schema: form })
  if (answer.action === 'accept') expectTypeOf(answer.content.on).toEqualTypeOf<boolean>()
  await ctx.elicit('k', { message: 'm', schema: z.object({}) })
  await ctx.elicit('k', { message: 'm', schema: z.object({ c: z.array(z.enum(['a', 'b'])), n: z.coerce.number() }) })
  await ctx.elicit('k', { message: 'm', schema: { type: 'object', properties: { a: { type: 'string' } } } })
  // @ts-expect-error: "schema: at must be a string, a number, a boolean or a list of choices, because forms are flat"
  await ctx.elicit('k', { message: 'm', schema: z.object({ at: z.object({ x: z.number() }) }) })
  // @ts-expect-error: the same, of a list
  await ctx.elicit('k', { message: 'm', schema: z.object({ at: z.array(z.number()) }) })
  // @ts-expect-error: "schema: expected a schema of an object, …"
  await ctx.elicit('k', { message: 'm', schema: z.string() })
}

/** Editors propose the members that users call. A server is accepted where a transport needs a responder. */
type Members = Exclude<keyof Server, '~catalogue'>
expectTypeOf<Members>().toEqualTypeOf<
  | 'tool'
  | 'resource'
  | 'prompt'
  | 'add'
  | 'mount'
  | 'use'
  | 'removeTool'
  | 'removeResource'
  | 'removePrompt'
  | 'resourceUpdated'
  | 'close'
  | 'handler'
  | 'respond'
>()
expectTypeOf<Server>().toExtend<Responder>()

/** A method of an extension returns the input of its `result` schema. */
const params = z.object({ id: z.string().transform(Number) })
const result = z.object({ n: z.number(), unit: z.string().default('km') })
defineMethod({ params, result }, ({ id }) => ({ n: id }))
defineMethod({ params }, () => ({ anything: true }))
// @ts-expect-error: n is a number
defineMethod({ result }, () => ({ n: 'x' }))
