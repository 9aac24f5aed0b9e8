import type { AuthInfo } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectLegacy, connectWire } from './wire.ts'

afterEach(closeAll)

const KEPT = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]
const forms = { elicitation: { form: {} } }
const admin: AuthInfo = { subject: 'ann', scopes: ['admin'] } as unknown as AuthInfo

describe('how long an answer keeps', () => {
  it.each(EVERY_REQUEST)('is said of %s, if it may be kept at all [S-040]', async (method, params) => {
    const { result } = await connectWire(createFullServer()).call(method, params)
    if (KEPT.includes(method)) {
      expect(result?.ttlMs).toSatisfy((ttl: unknown) => Number.isInteger(ttl) && (ttl as number) >= 0)
      expect(result?.cacheScope).toMatch(/^(?:public|private)$/)
    } else {
      expect(result).not.toHaveProperty('ttlMs')
      expect(result).not.toHaveProperty('cacheScope')
    }
  })

  it('is not at all, for one caller, unless the author says more [S-044]', async () => {
    for (const [method, params] of EVERY_REQUEST.filter(([name]) => KEPT.includes(name))) {
      const { result } = await connectWire(createFullServer()).call(method, params)
      expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    }
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const generous = createServer({ name: 's', version: '1' }, { cache: { resources: hints } })
    const wire = connectWire(generous.resource('a:b', { cache: hints }, 'x'))
    expect((await wire.call('resources/list')).result).toMatchObject(hints)
    expect((await wire.call('resources/read', { uri: 'a:b' })).result).toMatchObject(hints)
    expect((await wire.call('resources/templates/list')).result).toMatchObject({ ttlMs: 0 })
  })

  it('is never said of questions, also where the answer would keep [S-041]', async () => {
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const server = createServer({ name: 's', version: '1' }).resource('a:b', { cache: hints }, async (_, ctx) => {
      await ctx.roots()
      return 'x'
    })
    const wires = connectWire(server)
    const { result } = await wires.call('resources/read', { uri: 'a:b' }, { roots: {} })
    expect(result?.resultType).toBe('input_required')
    expect(result).not.toHaveProperty('ttlMs')
    expect(result).not.toHaveProperty('cacheScope')
    const asked = await connectWire(createFullServer()).call('tools/call', { name: 'ask' }, forms)
    expect(asked.result).not.toHaveProperty('ttlMs')
  })

  it.each([true, false])('is for the same callers on all pages, restricted: %s [S-042]', async (isRestricted) => {
    const cache = { tools: { ttlMs: 9, cacheScope: 'public' } } as const
    const server = createServer({ name: 's', version: '1' }, { cache, pageSize: 2 })
    for (let n = 0; n < 7; n++) server.tool(`t${n}`, n === 5 && isRestricted ? { scopes: ['admin'] } : {}, () => '')
    const mounting = createServer({ name: 'm', version: '1' }, { pageSize: 2 }).mount('a', server)
    for (const each of [server, mounting]) {
      const wire = connectWire(each)
      const scopes: unknown[] = []
      for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
        const { result } = await wire.call('tools/list', cursor === undefined ? {} : { cursor })
        scopes.push(result?.cacheScope)
        cursor = result?.nextCursor
      }
      expect(scopes.length).toBeGreaterThan(1)
      expect(new Set(scopes)).toEqual(new Set([isRestricted ? 'private' : 'public']))
    }
  })

  it('is never public for what is not for everybody, and no list is a way round [S-043]', async () => {
    const hints = { ttlMs: 5_000, cacheScope: 'public' } as const
    const cache = { tools: hints, resources: hints, prompts: hints, resourceTemplates: hints }
    const make = () =>
      createServer({ name: 's', version: '1' }, { cache })
        .tool('t', { scopes: ['admin'] }, () => 'x')
        .resource('a:b', { scopes: ['admin'], cache: hints }, 'x')
        .resource('a:{id}', { scopes: ['admin'], cache: hints }, () => 'x')
        .prompt('p', { visible: (auth) => auth !== undefined }, () => 'x')
    const some = connectWire(make(), { auth: admin })
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      expect((await some.call(method)).result).toMatchObject({ ttlMs: 5_000, cacheScope: 'private' })
    }
    expect((await some.call('resources/read', { uri: 'a:b' })).result).toMatchObject({ cacheScope: 'private' })
    const nobody = connectWire(make())
    expect((await nobody.call('tools/call', { name: 't' })).error?.code).toBe(403)
    expect((await nobody.call('resources/read', { uri: 'a:b' })).error?.code).toBe(403)
    expect((await nobody.call('prompts/get', { name: 'p' })).error?.code).toBe(-32602)
  })

  it('does not depend on whether changes are told [S-045]', async () => {
    const tools = { ttlMs: 9, cacheScope: 'public' } as const
    const server = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [], ...tools }), callTool: () => ({ content: [] }) },
    )
    const wire = connectWire(server)
    expect((await wire.call('server/discover')).result?.capabilities).toEqual({ tools: {} })
    expect((await wire.call('tools/list')).result).toMatchObject(tools)
    expect((await connectWire(createFullServer()).call('tools/list')).result).toMatchObject({ ttlMs: 0 })
  })
})

describe('lists', () => {
  const lists = EVERY_REQUEST.filter(([method]) => method.endsWith('/list'))

  it('are the same on every connection, whatever was called, and differ by authorization alone [S-046]', async () => {
    const server = createFullServer().tool('secret', { scopes: ['admin'] }, () => '')
    const one = connectWire(server)
    const before = await Promise.all(lists.map(async ([method]) => (await one.call(method)).result))
    for (const [method, params] of EVERY_REQUEST) await one.call(method, params)
    await one.call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    const other = connectWire(server)
    for (const [index, [method]] of lists.entries()) {
      for (const wire of [one, other]) expect((await wire.call(method, {}, forms)).result).toEqual(before[index])
    }
    const names = async (wire: typeof one) =>
      (((await wire.call('tools/list')).result?.tools ?? []) as { name: string }[]).map(({ name }) => name)
    expect(await names(connectWire(server, { auth: admin }))).toEqual([...(await names(one)), 'secret'])
  })

  it('of tools keep their order [S-047]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    const first = (await wire.call('tools/list')).result?.tools
    for (let n = 0; n < 3; n++) expect((await wire.call('tools/list')).result?.tools).toEqual(first)
    const older = await connectLegacy(server)
    const names = (tools: unknown) => (tools as { name: string }[]).map(({ name }) => name)
    expect(names((await older.ask('tools/list', {})).result?.tools)).toEqual(names(first))
  })
})
