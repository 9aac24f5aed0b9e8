import type { AuthInfo } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectLegacyRawClient, connectRawClient } from './raw-client.ts'

afterEach(closeAll)

const CACHEABLE = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]
const forms = { elicitation: { form: {} } }
const admin: AuthInfo = { subject: 'ann', scopes: ['admin'] } as unknown as AuthInfo

describe('the cache hints of a result', () => {
  it.each(EVERY_REQUEST)('are present for %s only if it is cacheable [S-040]', async (method, params) => {
    const { result } = await connectRawClient(createFullServer()).call(method, params)
    if (CACHEABLE.includes(method)) {
      expect(result?.ttlMs).toSatisfy((ttl: unknown) => Number.isInteger(ttl) && (ttl as number) >= 0)
      expect(result?.cacheScope).toMatch(/^(?:public|private)$/)
    } else {
      expect(result).not.toHaveProperty('ttlMs')
      expect(result).not.toHaveProperty('cacheScope')
    }
  })

  it('are ttl 0 and private by default [S-044]', async () => {
    for (const [method, params] of EVERY_REQUEST.filter(([name]) => CACHEABLE.includes(name))) {
      const { result } = await connectRawClient(createFullServer()).call(method, params)
      expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    }
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const generous = createServer({ name: 's', version: '1' }, { cache: { resources: hints } })
    const client = connectRawClient(generous.resource('a:b', { cache: hints }, 'x'))
    expect((await client.call('resources/list')).result).toMatchObject(hints)
    expect((await client.call('resources/read', { uri: 'a:b' })).result).toMatchObject(hints)
    expect((await client.call('resources/templates/list')).result).toMatchObject({ ttlMs: 0 })
  })

  it('are absent in an input_required result [S-041]', async () => {
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const server = createServer({ name: 's', version: '1' }).resource('a:b', { cache: hints }, async (_, ctx) => {
      await ctx.roots()
      return 'x'
    })
    const wires = connectRawClient(server)
    const { result } = await wires.call('resources/read', { uri: 'a:b' }, { roots: {} })
    expect(result?.resultType).toBe('input_required')
    expect(result).not.toHaveProperty('ttlMs')
    expect(result).not.toHaveProperty('cacheScope')
    const requestsOf = await connectRawClient(createFullServer()).call('tools/call', { name: 'ask' }, forms)
    expect(requestsOf.result).not.toHaveProperty('ttlMs')
  })

  it.each([true, false])('have the same scope on all pages, restricted: %s [S-042]', async (isRestricted) => {
    const cache = { tools: { ttlMs: 9, cacheScope: 'public' } } as const
    const server = createServer({ name: 's', version: '1' }, { cache, pageSize: 2 })
    for (let n = 0; n < 7; n++) server.tool(`t${n}`, n === 5 && isRestricted ? { scopes: ['admin'] } : {}, () => '')
    const mounting = createServer({ name: 'm', version: '1' }, { pageSize: 2 }).mount('a', server)
    for (const each of [server, mounting]) {
      const client = connectRawClient(each)
      const scopes: unknown[] = []
      for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
        const { result } = await client.call('tools/list', cursor === undefined ? {} : { cursor })
        scopes.push(result?.cacheScope)
        cursor = result?.nextCursor
      }
      expect(scopes.length).toBeGreaterThan(1)
      expect(new Set(scopes)).toEqual(new Set([isRestricted ? 'private' : 'public']))
    }
  })

  it('are never public for restricted items and lists that contain them [S-043]', async () => {
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const cache = { tools: hints, resources: hints, prompts: hints, resourceTemplates: hints }
    const make = () =>
      createServer({ name: 's', version: '1' }, { cache })
        .tool('t', { scopes: ['admin'] }, () => 'x')
        .resource('a:b', { scopes: ['admin'], cache: hints }, 'x')
        .resource('a:{id}', { scopes: ['admin'], cache: hints }, () => 'x')
        .prompt('p', { visible: (auth) => auth !== undefined }, () => 'x')
    const some = connectRawClient(make(), { auth: admin })
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      expect((await some.call(method)).result).toMatchObject({ ttlMs: 5_000, cacheScope: 'private' })
    }
    expect((await some.call('resources/read', { uri: 'a:b' })).result).toMatchObject({ cacheScope: 'private' })
    const anonymous = connectRawClient(make())
    expect((await anonymous.call('tools/call', { name: 't' })).error?.code).toBe(403)
    expect((await anonymous.call('resources/read', { uri: 'a:b' })).error?.code).toBe(403)
    expect((await anonymous.call('prompts/get', { name: 'p' })).error?.code).toBe(-32602)
  })

  it('do not depend on change notifications [S-045]', async () => {
    const tools = { ttlMs: 9, cacheScope: 'public' } as const
    const server = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [], ...tools }), callTool: () => ({ content: [] }) },
    )
    const client = connectRawClient(server)
    expect((await client.call('server/discover')).result?.capabilities).toEqual({ tools: {} })
    expect((await client.call('tools/list')).result).toMatchObject(tools)
    expect((await connectRawClient(createFullServer()).call('tools/list')).result).toMatchObject({ ttlMs: 0 })
  })
})

describe('lists', () => {
  const lists = EVERY_REQUEST.filter(([method]) => method.endsWith('/list'))

  it('are the same on every connection and differ only by authorization [S-046]', async () => {
    const server = createFullServer().tool('secret', { scopes: ['admin'] }, () => '')
    const one = connectRawClient(server)
    const before = await Promise.all(lists.map(async ([method]) => (await one.call(method)).result))
    for (const [method, params] of EVERY_REQUEST) await one.call(method, params)
    await one.call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    const other = connectRawClient(server)
    for (const [index, [method]] of lists.entries()) {
      for (const client of [one, other]) expect((await client.call(method, {}, forms)).result).toEqual(before[index])
    }
    const names = async (client: typeof one) =>
      (((await client.call('tools/list')).result?.tools ?? []) as { name: string }[]).map(({ name }) => name)
    expect(await names(connectRawClient(server, { auth: admin }))).toEqual([...(await names(one)), 'secret'])
  })

  it('of tools keep their order [S-047]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    const first = (await client.call('tools/list')).result?.tools
    for (let n = 0; n < 3; n++) expect((await client.call('tools/list')).result?.tools).toEqual(first)
    const older = await connectLegacyRawClient(server)
    const names = (tools: unknown) => (tools as { name: string }[]).map(({ name }) => name)
    expect(names((await older.ask('tools/list', {})).result?.tools)).toEqual(names(first))
  })
})
