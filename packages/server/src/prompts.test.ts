import { type Context, check, GetPromptResult, type ListPromptsResult, type Prompt, RpcError } from '@mcpx/protocol'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { image, text } from './content.ts'
import { ResultError } from './errors.ts'
import { createRegistry, type Registry } from './registry.ts'

const ctx = { auth: undefined } as unknown as Context
const get = (registry: Registry, name: string, args?: Record<string, string>): unknown =>
  registry.getPrompt?.({ name, ...(args && { arguments: args }) }, ctx)
async function list(registry: Registry): Promise<Prompt[]> {
  const page = (await registry.listPrompts?.({}, ctx)) as ListPromptsResult
  return page.prompts
}

function giving(value: unknown): unknown {
  const registry = createRegistry()
  registry.addPrompt('it', { description: 'Does it' }, () => value as string)
  return get(registry, 'it')
}

describe('a prompt', () => {
  it.each([
    ['zod', z.object({ code: z.string().describe('The code'), lang: z.enum(['ts', 'js']).optional() })],
    ['ArkType', type({ code: type('string').describe('The code'), 'lang?': "'ts' | 'js'" })],
    [
      'Valibot',
      toStandardJsonSchema(
        v.object({ code: v.pipe(v.string(), v.description('The code')), lang: v.optional(v.picklist(['ts', 'js'])) }),
      ),
    ],
    [
      'JSON Schema',
      {
        type: 'object',
        properties: { code: { type: 'string', description: 'The code' }, lang: { enum: ['ts', 'js'] } },
        required: ['code'],
      },
    ],
  ])('lists the arguments of its schema: %s', async (_library, args) => {
    const registry = createRegistry()
    registry.addPrompt('review', { args, title: 'Review' }, () => '')
    const [prompt] = await list(registry)
    expect(prompt).toMatchObject({ name: 'review', title: 'Review' })
    expect(prompt?.arguments?.map(({ name, required }) => [name, required])).toEqual([
      ['code', true],
      ['lang', undefined],
    ])
    expect(prompt?.arguments?.[0]).toMatchObject({ description: 'The code' })
  })

  it('converts its arguments by z.coerce', async () => {
    const registry = createRegistry()
    const args = z.object({
      nights: z.coerce.number(),
      rooms: z.coerce.number().int().default(1),
      from: z.coerce.date().optional(),
    })
    expect(() => registry.addPrompt('dates', { args }, () => '')).toThrow('Date cannot be represented')
    registry.addPrompt('it', { args: args.omit({ from: true }) }, ({ nights, rooms }) =>
      JSON.stringify([nights, rooms]),
    )
    expect((await list(registry))[0]?.arguments).toEqual([{ name: 'nights', required: true }, { name: 'rooms' }])
    expect(await get(registry, 'it', { nights: '3' })).toMatchObject({ messages: [{ content: { text: '[3,1]' } }] })
    expect(await get(registry, 'it', { nights: '3', rooms: '2' })).toMatchObject({
      messages: [{ content: { text: '[3,2]' } }],
    })
    await expect(get(registry, 'it', { nights: 'three' })).rejects.toThrow('arguments.nights')
    await expect(get(registry, 'it', {})).rejects.toThrow('Missing argument: "nights"')
  })

  it('lists no arguments if it has none', async () => {
    const registry = createRegistry()
    registry.addPrompt('it', {}, () => 'words')
    expect(await list(registry)).toEqual([{ name: 'it' }])
    expect(await get(registry, 'it', { stray: 'x' })).toMatchObject({ messages: [{ role: 'user' }] })
  })

  it('receives the parsed arguments of its schema', async () => {
    const registry = createRegistry()
    const args = z.object({ count: z.string().transform(Number) })
    registry.addPrompt('count', { args }, async ({ count }) => `${count + 1}`)
    expect(await get(registry, 'count', { count: '1' })).toEqual({ messages: [{ role: 'user', content: text('2') }] })
  })

  it('rejects missing or invalid arguments by name', async () => {
    const registry = createRegistry()
    registry.addPrompt('review', { args: z.object({ code: z.string().min(2) }) }, () => '')
    await expect(get(registry, 'review')).rejects.toThrow(new RpcError(-32602, 'Missing argument: "code"'))
    await expect(get(registry, 'review', { code: 'x' })).rejects.toThrow(/^arguments\.code: Too small/)
    await expect(get(registry, 'x')).rejects.toThrow(new RpcError(-32602, 'Unknown prompt: "x"'))
  })

  it('cannot have arguments that do not accept strings', () => {
    const registry = createRegistry()
    const add = (args: Parameters<typeof registry.addPrompt>[1]) => registry.addPrompt('it', args, () => '')
    expect(() => add({ args: z.object({ n: z.number() }) })).toThrow(
      'Prompt "it", args.n: prompt arguments are strings',
    )
    expect(() => add({ args: z.record(z.string(), z.string()) })).toThrow('an object schema with properties')
    expect(() => add({ args: z.string() })).toThrow('Prompt "it", args: must be an object')
    expect(() => add({ complete: { x: [] } } as never)).toThrow('Prompt "it", complete: there is no argument "x"')
  })
})

describe('the result of a prompt', () => {
  it('becomes messages', async () => {
    const picture = image('AAAA', 'image/png')
    expect(await giving('Hello')).toEqual({
      description: 'Does it',
      messages: [{ role: 'user', content: text('Hello') }],
    })
    expect(await giving(picture)).toMatchObject({ messages: [{ role: 'user', content: picture }] })
    expect(
      await giving([
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: picture },
      ]),
    ).toMatchObject({
      messages: [
        { role: 'assistant', content: text('Hi') },
        { role: 'user', content: picture },
      ],
    })
    const whole = { description: 'Other', messages: [{ role: 'user', content: 'x' }], _meta: { a: 1 } }
    expect(await giving(whole)).toEqual({ ...whole, messages: [{ role: 'user', content: text('x') }] })
    expect(check(GetPromptResult, await giving(whole)).problem).toBeUndefined()
  })

  it('is passed on if it is an input request', async () => {
    const asking = { resultType: 'input_required', requestState: 'x' }
    expect(await giving(asking)).toBe(asking)
  })

  it.each([
    [undefined],
    [null],
    [7],
    [{}],
    [['a']],
    [[{ role: 'system', content: 'x' }]],
    [[{ role: 'user' }]],
    [[null]],
  ])('is reported as an error if it is %j', async (value) => {
    await expect(giving(value)).rejects.toThrow(ResultError)
  })
})
