import { type CompleteRequestParams, CompleteResult, type Context, check, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRegistry } from './registry.ts'

const ctx = { auth: undefined } as unknown as Context
const many = Array.from({ length: 250 }, (_, index) => `v${index}`)

const registry = createRegistry()
const args = z.object({
  lang: z.string(),
  style: z.string().optional(),
  count: z.string().optional(),
  code: z.string(),
})
registry.addPrompt(
  'review',
  {
    args,
    complete: {
      lang: ['TypeScript', 'Rust', 'Ruby'],
      style: (typed, known) => [`${known.lang}:${typed}`],
      count: async () => ({ values: ['1'], total: 40 }),
    },
  },
  () => '',
)
registry.addPrompt('hidden', { visible: () => false, args, complete: { lang: ['x'] } }, () => '')
registry.addResource('note://{user}/{id}', { complete: { id: () => many } }, () => '')
registry.addResource('config://app', {}, '')

const prompt = { type: 'ref/prompt', name: 'review' } as const
function complete(
  ref: CompleteRequestParams['ref'],
  name: string,
  value = '',
  known?: Record<string, string>,
): unknown {
  const context = known && { context: { arguments: known } }
  return registry.complete?.({ ref, argument: { name, value }, ...context }, ctx)
}

describe('completion', () => {
  it('exists only if an item has a completer', () => {
    const bare = createRegistry()
    bare.addPrompt('it', { args: z.object({ a: z.string() }) }, () => '')
    bare.addResource('note://{id}', {}, () => '')
    expect(bare.complete).toBeUndefined()
  })

  it('searches a list for the prefix', async () => {
    expect(await complete(prompt, 'lang', 'RU')).toEqual({
      completion: { values: ['Rust', 'Ruby'], total: 2, hasMore: false },
    })
    expect(await complete(prompt, 'lang', 'x')).toEqual({ completion: { values: [], total: 0, hasMore: false } })
  })

  it('passes on the other arguments', async () => {
    expect(await complete(prompt, 'style', 's', { lang: 'Rust' })).toMatchObject({ completion: { values: ['Rust:s'] } })
    expect(await complete(prompt, 'style', 's')).toMatchObject({ completion: { values: ['undefined:s'] } })
  })

  it('sends at most 100 values and the total [S-200]', async () => {
    const result = (await complete({ type: 'ref/resource', uri: 'note://{user}/{id}' }, 'id')) as CompleteResult
    expect(result.completion).toEqual({ values: many.slice(0, 100), total: 250, hasMore: true })
    expect(check(CompleteResult, result).problem).toBeUndefined()
    expect(await complete(prompt, 'count')).toEqual({ completion: { values: ['1'], total: 40, hasMore: true } })
  })

  it('returns no values without a completer', async () => {
    const nothing = { completion: { values: [], total: 0, hasMore: false } }
    expect(await complete(prompt, 'code')).toEqual(nothing)
    expect(await complete({ type: 'ref/resource', uri: 'note://{user}/{id}' }, 'user')).toEqual(nothing)
  })

  it('accepts a URI that matches a template', async () => {
    expect(await complete({ type: 'ref/resource', uri: 'note://ada/1' }, 'id')).toMatchObject({
      completion: { total: 250 },
    })
  })

  it('rejects references that do not exist for this caller', async () => {
    const unknown = (message: string) => new RpcError(-32602, message)
    await expect(complete({ type: 'ref/prompt', name: 'x' }, 'a')).rejects.toThrow(unknown('Unknown prompt: "x"'))
    await expect(complete({ type: 'ref/prompt', name: 'hidden' }, 'lang')).rejects.toThrow(
      unknown('Unknown prompt: "hidden"'),
    )
    await expect(complete({ type: 'ref/resource', uri: 'x:y' }, 'a')).rejects.toThrow(
      unknown('Unknown resource template: "x:y"'),
    )
    await expect(complete(prompt, 'constructor')).rejects.toThrow(unknown('Unknown argument: "constructor"'))
    await expect(complete({ type: 'ref/resource', uri: 'config://app' }, 'a')).rejects.toThrow(
      unknown('Unknown argument: "a"'),
    )
  })
})
