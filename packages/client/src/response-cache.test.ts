import { describe, expect, it } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { createResponseCache } from './response-cache.ts'

const fresh = { ttlMs: 60_000, cacheScope: 'private' }

function listing(hints: object) {
  let count = 0
  return scriptedServer('2026-07-28', {
    answers: {
      'tools/list': ({ params }) => ({
        tools: [],
        ...(params.cursor === undefined && { nextCursor: 'next' }),
        ...hints,
        count: ++count,
      }),
      'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, text: `${++count}` }], ...hints }),
      'tools/call': () => ({ content: [], ...hints }),
    },
  })
}

describe('a response', () => {
  it('is kept as long as the server says, page by page [C-081, C-085]', async () => {
    const server = listing(fresh)
    await using client = await connect(server)
    await client.listTools().all()
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(2)
    await client.listTools({ fresh: true }).all()
    expect(server.asked('tools/list')).toHaveLength(4)
  })

  it.each([{}, { ttlMs: 0 }, { ttlMs: -5 }])('is not kept with %j [C-081]', async (hints) => {
    const server = listing(hints)
    await using client = await connect(server)
    await client.listTools().all()
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(4)
  })

  it('is requested again when it is stale [C-081]', async () => {
    const server = listing({ ttlMs: 20 })
    await using client = await connect(server)
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect(server.asked('resources/read')).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 30))
    await client.readResource('a:b')
    expect(server.asked('resources/read')).toHaveLength(2)
  })

  it('is never used for another request [C-080]', async () => {
    const server = listing(fresh)
    await using client = await connect(server)
    const [one, other] = [await client.readResource('a:1'), await client.readResource('a:2')]
    expect(one.contents[0]?.uri).toBe('a:1')
    expect(other.contents[0]?.uri).toBe('a:2')
    await client.readResource('a:1', { meta: { 'com.example/tenant': 'x' } })
    expect(server.asked('resources/read')).toHaveLength(3)
  })

  it('to a call is never kept', async () => {
    const server = listing(fresh)
    await using client = await connect(server)
    await client.callTool('a')
    await client.callTool('a')
    expect(server.asked('tools/call')).toHaveLength(2)
  })

  it('is not kept when the cache is off', async () => {
    const server = listing(fresh)
    await using client = await connect(server, { cache: false })
    await client.readResource('a:1')
    await client.readResource('a:1')
    expect(server.asked('resources/read')).toHaveLength(2)
  })

  it('to server/discover is kept [C-012]', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: {}, ...fresh }) },
    })
    await using client = await connect(server)
    await client.discover()
    expect(server.asked('server/discover')).toHaveLength(1)
    await client.discover({ fresh: true })
    expect(server.asked('server/discover')).toHaveLength(2)
  })
})

describe('the cache', () => {
  const keep = (cache: ReturnType<typeof createResponseCache>, method: string, params = {}) =>
    cache.fetching(method, params)({ ttlMs: 60_000 })

  it('drops only what a change makes stale [C-083]', () => {
    const cache = createResponseCache(10)
    const all = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const
    for (const method of all) keep(cache, method)
    const kept = () => all.filter((method) => cache.get(method, {}) !== undefined)
    cache.invalidate({ kind: 'resources' })
    expect(kept()).toEqual(['tools/list', 'prompts/list'])
    cache.invalidate({ kind: 'tools' })
    expect(kept()).toEqual(['prompts/list'])
    cache.invalidate({ kind: 'prompts' })
    expect(kept()).toEqual([])
  })

  it('drops a resource when it or a part of it is updated', () => {
    const cache = createResponseCache(10)
    for (const uri of ['a:/x', 'a:/x/y', 'a:/z']) keep(cache, 'resources/read', { uri })
    cache.invalidate({ kind: 'resource', uri: 'a:/x/y' })
    expect(cache.get('resources/read', { uri: 'a:/x' })).toBeUndefined()
    expect(cache.get('resources/read', { uri: 'a:/x/y' })).toBeUndefined()
    expect(cache.get('resources/read', { uri: 'a:/z' })).toBeDefined()
  })

  it('does not keep a response that was requested before a change and arrives after it', () => {
    const cache = createResponseCache(10)
    const store = cache.fetching('tools/list', {})
    cache.invalidate({ kind: 'tools' })
    store({ ttlMs: 60_000 })
    expect(cache.get('tools/list', {})).toBeUndefined()
  })

  it('removes the oldest entry when it is full', () => {
    const cache = createResponseCache(2)
    for (const uri of ['1', '2', '2', '3']) keep(cache, 'resources/read', { uri })
    expect(['1', '2', '3'].map((uri) => cache.get('resources/read', { uri }) !== undefined)).toEqual([
      false,
      true,
      true,
    ])
  })

  it('removes the oldest entries when all together are too large', () => {
    const cache = createResponseCache(10, 1_000)
    const sizes: Record<string, number> = { '1': 300, '2': 300, '3': 300, '4': 500, '5': 2_000 }
    for (const [uri, size] of Object.entries(sizes)) {
      cache.fetching('resources/read', { uri })({ ttlMs: 60_000, text: 'x'.repeat(size) })
    }
    const kept = () => Object.keys(sizes).filter((uri) => cache.get('resources/read', { uri }) !== undefined)
    expect(kept()).toEqual(['3', '4'])
    cache.invalidate({ kind: 'resource', uri: '4' })
    cache.fetching('resources/read', { uri: '1' })({ ttlMs: 60_000, text: 'x'.repeat(500) })
    expect(kept()).toEqual(['1', '3'])
  })

  it('removes no entry for a response that is not kept', () => {
    const cache = createResponseCache(1)
    keep(cache, 'tools/list')
    cache.fetching('prompts/list', {})({ ttlMs: 0 })
    expect(cache.get('tools/list', {})).toBeDefined()
  })

  it('ignores the order of parameters', () => {
    const cache = createResponseCache(2)
    keep(cache, 'x', { a: 1, b: 2 })
    expect(cache.get('x', { b: 2, a: 1, _meta: { z: 1 } })).toBeDefined()
  })
})
