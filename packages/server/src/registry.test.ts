import type { AuthInfo, Change, Context, ListToolsResult } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRegistry, type Registry } from './registry.ts'

const as = (...scopes: string[]): Context => {
  const auth: AuthInfo | undefined = scopes.length > 0 ? { subject: 'ada', scopes } : undefined
  return { auth } as unknown as Context
}
const ctx = as()
const list = async (registry: Registry, by = ctx, cursor?: string) =>
  (await registry.listTools?.({ cursor }, by)) as ListToolsResult
const names = async (registry: Registry, by = ctx) => (await list(registry, by)).tools.map(({ name }) => name)

describe('a registry', () => {
  it('has only the methods of registered items', () => {
    const registry = createRegistry()
    expect(Object.keys(registry).filter((key) => /^(list|call|read|get|complete|subscribe)/.test(key))).toEqual([])
    registry.addTool('a', {}, () => '')
    expect(registry.callTool).toBeDefined()
    expect(registry.listPrompts).toBeUndefined()
    registry.addPrompt('a', {}, () => '')
    expect(registry.getPrompt).toBeDefined()
    expect(registry.listResources).toBeUndefined()
    registry.addResource('a:b', {}, '')
    expect(registry.readResource).toBeDefined()
    expect(registry.complete).toBeUndefined()
  })

  it('keeps its methods after items are removed', async () => {
    const registry = createRegistry()
    registry.addTool('a', {}, () => '')
    expect(registry.removeTool('a')).toBe(true)
    expect(registry.removeTool('a')).toBe(false)
    expect(await names(registry)).toEqual([])
  })

  it('lists items in the order of registration, with all options', async () => {
    const registry = createRegistry()
    const said = {
      title: 'B',
      description: 'Does b',
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://example.com/b.png', sizes: ['48x48'] }],
      _meta: { 'com.example/x': 1 },
    }
    registry.addTool('b', said, () => '')
    registry.addTool('a', {}, () => '')
    const inputSchema = { type: 'object', additionalProperties: false }
    expect(await list(registry)).toEqual({
      tools: [
        { name: 'b', ...said, inputSchema },
        { name: 'a', inputSchema },
      ],
    })
  })

  it('rejects a duplicate name unless it replaces the item, which keeps its position', async () => {
    const registry = createRegistry()
    registry.addTool('a', {}, () => 'old')
    registry.addTool('b', {}, () => '')
    expect(() => registry.addTool('a', {}, () => '')).toThrow(
      'Tool "a" is already registered; remove it first, or pass `replace: true`',
    )
    registry.addTool('a', { replace: true }, () => 'new')
    expect(await names(registry)).toEqual(['a', 'b'])
    expect(await registry.callTool?.({ name: 'a' }, ctx)).toMatchObject({ content: [{ text: 'new' }] })
    registry.addPrompt('a', {}, () => '')
    expect(() => registry.addPrompt('a', {}, () => '')).toThrow('Prompt "a" is already registered')
  })

  it('warns about names that clients may reject', async () => {
    const warnings: string[] = []
    const registry = createRegistry({ onWarning: ({ message }) => warnings.push(message) })
    for (const name of ['', 'with blank', 'ü', 'x'.repeat(129)]) registry.addTool(name, {}, () => '')
    for (const name of ['a', 'A.b-c_9', 'x'.repeat(128)]) registry.addTool(name, {}, () => '')
    expect(warnings).toHaveLength(4)
    expect(warnings[1]).toBe(
      'Tool "with blank": clients may refuse this name; use 1 to 128 characters of A-Z a-z 0-9 _ . -',
    )
    expect(await names(registry)).toHaveLength(7)
  })

  it('is unchanged after a rejected registration', async () => {
    const registry = createRegistry()
    // @ts-expect-error: the compiler refuses it, too
    expect(() => registry.addTool('a', { input: z.string() }, () => '')).toThrow()
    expect(registry.callTool).toBeUndefined()
    registry.addTool('a', {}, () => '')
    expect(await names(registry)).toEqual(['a'])
  })

  it('rejects an invalid page size', () => {
    for (const pageSize of [0, -1, 1.5, Number.NaN]) expect(() => createRegistry({ pageSize })).toThrow(RangeError)
  })
})

describe('changes of a registry', () => {
  it('are sent once per kind for a burst', async () => {
    const registry = createRegistry()
    const heard: Change[] = []
    registry.changes((change) => heard.push(change))
    for (const name of ['a', 'b', 'c']) registry.addTool(name, {}, () => '')
    registry.addPrompt('a', {}, () => '')
    registry.removeTool('a')
    expect(heard).toEqual([])
    await Promise.resolve()
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'prompts' }])
    registry.addResource('a:b', {}, '')
    registry.removeTool('nobody')
    await Promise.resolve()
    expect(heard.slice(2)).toEqual([{ kind: 'resources' }])
  })

  it('are not sent to later listeners', async () => {
    const registry = createRegistry()
    registry.addTool('a', {}, () => '')
    const heard: Change[] = []
    registry.changes((change) => heard.push(change))
    await Promise.resolve()
    expect(heard).toEqual([])
    registry.removeTool('a')
    await Promise.resolve()
    expect(heard).toEqual([{ kind: 'tools' }])
  })
})

describe('lists of a registry', () => {
  it('contain added and replaced items', async () => {
    const registry = createRegistry()
    registry.addTool('a', {}, () => '')
    registry.addTool('b', {}, () => '')
    expect((await list(registry)).tools).toHaveLength(2)
    registry.addTool('b', { replace: true, title: 'B' }, () => '')
    expect((await list(registry)).tools[1]).toMatchObject({ title: 'B' })
  })

  it('have pages with the configured cache hints', async () => {
    const registry = createRegistry({ pageSize: 2, cache: { tools: { ttlMs: 60_000, cacheScope: 'public' } } })
    for (const name of ['a', 'b', 'c']) registry.addTool(name, {}, () => '')
    const first = await list(registry)
    expect(first).toMatchObject({ tools: [{ name: 'a' }, { name: 'b' }], ttlMs: 60_000, cacheScope: 'public' })
    const second = await list(registry, ctx, first.nextCursor)
    expect(second).toMatchObject({ tools: [{ name: 'c' }], ttlMs: 60_000, cacheScope: 'public' })
    expect(second).not.toHaveProperty('nextCursor')
    await expect(list(registry, ctx, 'x')).rejects.toThrow('Invalid cursor')
  })

  it('have 1,000 items per page by default', async () => {
    const registry = createRegistry()
    for (let index = 0; index < 1_001; index += 1) registry.addTool(`t${index}`, {}, () => '')
    expect((await list(registry)).tools).toHaveLength(1_000)
    expect((await list(registry, ctx, (await list(registry)).nextCursor)).tools).toHaveLength(1)
  })
})

describe('a restricted item', () => {
  const registry = createRegistry({ cache: { tools: { cacheScope: 'public' } } })
  registry.addTool('open', {}, () => '')
  registry.addTool('scoped', { scopes: ['a', 'b'] }, () => '')
  registry.addTool('ours', { visible: (auth) => auth?.subject === 'ada' }, () => '')
  registry.addTool('both', { scopes: ['a'], visible: () => false }, () => '')

  it('is listed for permitted callers, in a private list', async () => {
    expect(await names(registry)).toEqual(['open'])
    expect(await names(registry, as('a'))).toEqual(['open', 'ours'])
    expect(await names(registry, as('b', 'a'))).toEqual(['open', 'scoped', 'ours'])
    expect(await list(registry)).toMatchObject({ cacheScope: 'private' })
  })

  it('is an unknown tool for other callers', async () => {
    const call = (name: string, by: Context) => registry.callTool?.({ name }, by)
    await expect(call('both', as('a'))).rejects.toThrow('Unknown tool: "both"')
    await expect(call('ours', ctx)).rejects.toThrow('Unknown tool: "ours"')
    expect(await call('scoped', as('a', 'b'))).toMatchObject({ content: [{ type: 'text' }] })
  })

  it('makes the list public again when it is removed', async () => {
    const other = createRegistry({ cache: { tools: { cacheScope: 'public' } } })
    other.addTool('open', {}, () => '')
    other.addTool('scoped', { scopes: ['a'] }, () => '')
    expect(await list(other)).toMatchObject({ cacheScope: 'private' })
    other.removeTool('scoped')
    expect(await list(other)).toMatchObject({ cacheScope: 'public' })
  })

  it('may be a prompt', async () => {
    registry.addPrompt('secret', { visible: () => false }, () => '')
    expect(await registry.listPrompts?.({}, ctx)).toEqual({ prompts: [], cacheScope: 'private' })
    await expect(registry.getPrompt?.({ name: 'secret' }, ctx)).rejects.toThrow('Unknown prompt: "secret"')
  })
})
