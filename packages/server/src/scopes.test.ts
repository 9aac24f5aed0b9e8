import { type AuthInfo, type Context, insufficientScope, type RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRegistry } from './registry.ts'

const as = (...scopes: string[]): Context => ({ auth: { subject: 'ann', scopes } }) as unknown as Context
const nobody = { auth: undefined } as unknown as Context
const args = z.object({ lang: z.string() })

const everybody = () => true
const named = (auth: AuthInfo | undefined) => auth?.subject === 'ann'

const registry = createRegistry()
registry.addTool('wipe', { scopes: ['write', 'admin'] }, () => 'wiped')
registry.addTool('shown', { scopes: ['write'], visible: everybody }, () => 'done')
registry.addTool('anns', { scopes: ['write'], visible: named }, () => 'done')
registry.addPrompt('secret', { scopes: ['write'], args, complete: { lang: ['x'] } }, () => 'words')
registry.addResource('a:b', { scopes: ['write'], subscribe: true }, 'text')
registry.addResource('n://{id}', { scopes: ['write'], complete: { id: ['1'] } }, () => 'text')

/** The error that a use of something ends with. */
async function failureOf(use: () => unknown): Promise<RpcError | undefined> {
  try {
    await use()
    return undefined
  } catch (error) {
    return error as RpcError
  }
}

const uses: Record<string, (ctx: Context) => unknown> = {
  'tools/call': (ctx) => registry.callTool?.({ name: 'shown' }, ctx),
  'prompts/get': (ctx) => registry.getPrompt?.({ name: 'secret', arguments: { lang: 'x' } }, ctx),
  'resources/read': (ctx) => registry.readResource?.({ uri: 'a:b' }, ctx),
  'resources/read of a template': (ctx) => registry.readResource?.({ uri: 'n://1' }, ctx),
  'resources/subscribe': (ctx) => registry.subscribe?.({ uri: 'a:b' }, ctx),
  'completion of a prompt': (ctx) =>
    registry.complete?.({ ref: { type: 'ref/prompt', name: 'secret' }, argument: { name: 'lang', value: '' } }, ctx),
  'completion of a template': (ctx) =>
    registry.complete?.({ ref: { type: 'ref/resource', uri: 'n://{id}' }, argument: { name: 'id', value: '' } }, ctx),
}

describe('an item with scopes', async () => {
  it.each(Object.keys(uses))(
    'is rejected with all its scopes for callers without some of them, in %s [S-274]',
    async (use) => {
      for (const ctx of [as(), as('other'), nobody]) {
        const error = await failureOf(() => uses[use]?.(ctx))
        expect(error).toEqual(insufficientScope(['write']))
        expect(error?.data).toEqual({ requiredScopes: ['write'] })
      }
      expect(await failureOf(() => uses[use]?.(as('other', 'write')))).toBeUndefined()
    },
  )

  it('names all scopes in the challenge, including those of the caller [S-274]', async () => {
    const error = await failureOf(() => registry.callTool?.({ name: 'wipe' }, as('write')))
    expect(error).toMatchObject({ code: 403, data: { requiredScopes: ['write', 'admin'] } })
    expect(error?.message).toContain('"write", "admin"')
  })

  it('is listed for callers with the scopes, unless `visible` decides', async () => {
    const names = async (ctx: Context) => (await registry.listTools?.({}, ctx)) as { tools: { name: string }[] }
    const listed = async (ctx: Context) => (await names(ctx)).tools.map(({ name }) => name)
    expect(await listed(nobody)).toEqual(['shown'])
    expect(await listed(as())).toEqual(['shown', 'anns'])
    expect(await listed(as('write', 'admin'))).toEqual(['wipe', 'shown', 'anns'])
  })

  it('is visible only if `visible` returns exactly true', async () => {
    const odd = createRegistry()
    odd.addTool('unsaid', { visible: (auth) => auth?.scopes.includes('admin') }, () => 'done')
    // The types reject an async function; a promise does not grant visibility.
    odd.addTool('later', { visible: (async () => false) as never }, () => 'done')
    odd.addTool('later-scoped', { scopes: ['admin'], visible: (async () => false) as never }, () => 'done')
    const namesFor = async (ctx: Context) => {
      const listed = (await odd.listTools?.({}, ctx)) as { tools: { name: string }[] } | undefined
      return listed?.tools.map(({ name }) => name)
    }
    expect([await namesFor(nobody), await namesFor(as('admin'))]).toEqual([[], ['unsaid']])
    for (const name of ['later', 'later-scoped']) {
      expect((await failureOf(() => odd.callTool?.({ name }, as('admin'))))?.message).toBe(`Unknown tool: "${name}"`)
    }
  })

  it('does not exist for callers that `visible` excludes', async () => {
    const error = await failureOf(() => registry.callTool?.({ name: 'anns' }, nobody))
    expect(error).toMatchObject({ code: -32602, message: 'Unknown tool: "anns"' })
  })
})
