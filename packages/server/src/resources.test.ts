import type { AuthInfo, Context, ListResourcesResult, Resource } from '@mcpx/protocol'
import { check, ListResourcesResult as ListShape, ReadResourceResult, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { RegistrationError } from './errors.ts'
import type { VisibilityOptions } from './named-items.ts'
import { createRegistry, type Registry } from './registry.ts'

const as = (...scopes: string[]): Context => {
  const auth: AuthInfo | undefined = scopes.length > 0 ? { subject: 'ada', scopes } : undefined
  return { auth } as unknown as Context
}
const ctx = as()

const read = (registry: Registry, uri: string, by = ctx): unknown => registry.readResource?.({ uri }, by)
const list = async (registry: Registry, cursor?: string, by = ctx) =>
  (await registry.listResources?.({ cursor }, by)) as ListResourcesResult

function giving(value: unknown, mimeType?: string): unknown {
  const registry = createRegistry()
  registry.addResource('a:b', mimeType === undefined ? {} : { mimeType }, () => value as string)
  return read(registry, 'a:b')
}

describe('reading a resource', () => {
  it.each([
    ['a string', 'hi', { uri: 'a:b', mimeType: 'text/plain', text: 'hi' }],
    ['an object', { a: 1 }, { uri: 'a:b', mimeType: 'application/json', text: '{"a":1}' }],
    ['an array', [], { uri: 'a:b', mimeType: 'application/json', text: '[]' }],
    ['bytes', new Uint8Array([1, 2]), { uri: 'a:b', mimeType: 'application/octet-stream', blob: 'AQI=' }],
    ['contents', { uri: 'a:c', text: '' }, { uri: 'a:c', text: '' }],
  ])('returns %s', async (_name, value, contents) => {
    expect(await giving(value)).toEqual({ contents: [contents] })
    expect(check(ReadResourceResult, await giving(value)).problem).toBeUndefined()
  })

  it('returns several contents, and complete results with other members', async () => {
    const several = [
      { uri: 'a:1', text: 'x' },
      { uri: 'a:2', blob: 'AQ==' },
    ]
    expect(await giving(several)).toEqual({ contents: several })
    expect(await giving({ contents: several, ttlMs: 5 })).toEqual({ contents: several, ttlMs: 5 })
    expect(await giving({ contents: ['a'] })).toMatchObject({ contents: [{ text: '{"contents":["a"]}' }] })
    const asking = { resultType: 'input_required', requestState: 'x' }
    expect(await giving(asking)).toBe(asking)
  })

  it('has the registered MIME type', async () => {
    expect(await giving('<p>', 'text/html')).toMatchObject({ contents: [{ mimeType: 'text/html', text: '<p>' }] })
    expect(await giving(new Uint8Array(), 'image/png')).toMatchObject({
      contents: [{ mimeType: 'image/png', blob: '' }],
    })
  })

  it('accepts values without a function', async () => {
    const registry = createRegistry()
    registry.addResource('a:value', {}, { debug: true })
    registry.addResource('a:text', {}, 'words')
    expect(await read(registry, 'a:value')).toMatchObject({ contents: [{ text: '{"debug":true}' }] })
    expect(await read(registry, 'a:text')).toMatchObject({ contents: [{ text: 'words' }] })
  })

  it('awaits the handler', async () => {
    expect(await giving(Promise.resolve('late'))).toMatchObject({ contents: [{ text: 'late' }] })
    await expect(giving(Promise.resolve(undefined))).rejects.toThrow('Resource not found')
  })

  it('fails for missing resources', async () => {
    const registry = createRegistry()
    registry.addResource('other:b', {}, 'x')
    const gone = new RpcError(-32602, 'Resource not found: "a:b"', { data: { uri: 'a:b' } })
    await expect(read(registry, 'a:b')).rejects.toThrow(gone)
    await expect(giving(undefined)).rejects.toThrow(gone)
    await expect(giving(null)).rejects.toThrow(gone)
  })

  it('has the cache hints of the resource', async () => {
    const registry = createRegistry()
    const cache = { ttlMs: 1000, cacheScope: 'public' } as const
    registry.addResource('a:b', { cache }, 'x')
    registry.addResource('a:c', { cache, scopes: ['admin'] }, 'x')
    expect(await read(registry, 'a:b')).toMatchObject(cache)
    expect(await read(registry, 'a:c', as('admin'))).toMatchObject({ ttlMs: 1000, cacheScope: 'private' })
  })
})

describe('a resource template', () => {
  it('passes its variables and the URI', async () => {
    const registry = createRegistry()
    registry.addResource('note://{user}/{id}{?rev}', {}, ({ user, id, rev }, _ctx, uri) => ({ user, id, rev, uri }))
    expect(await read(registry, 'note://ada/a%20b?rev=2')).toMatchObject({
      contents: [{ text: '{"user":"ada","id":"a b","rev":"2","uri":"note://ada/a%20b?rev=2"}' }],
    })
    await expect(read(registry, 'note://ada')).rejects.toThrow('Resource not found')
  })

  it('does not find a value that leads out of its segment', async () => {
    const registry = createRegistry()
    registry.addResource('file:///notes/{name}', {}, ({ name }) => `read ${name}`)
    for (const name of ['..%2F..%2Fetc%2Fpasswd', '..%5Cb', 'a%00.txt', '..', '%2E%2E']) {
      await expect(read(registry, `file:///notes/${name}`)).rejects.toThrow('Resource not found')
    }
    registry.addResource('file:///{+path}', {}, ({ path }) => `read ${path}`)
    expect(await read(registry, 'file:///a%2Fb')).toMatchObject({ contents: [{ text: 'read a/b' }] })
  })

  it('is matched after fixed URIs, in the order of registration', async () => {
    const registry = createRegistry()
    registry.addResource('note://{id}', {}, () => 'first')
    registry.addResource('note://{+rest}', {}, () => 'second')
    registry.addResource('note://1', {}, 'exact')
    const textOf = (uri: string) => read(registry, uri)
    expect(await textOf('note://1')).toMatchObject({ contents: [{ text: 'exact' }] })
    expect(await textOf('note://2')).toMatchObject({ contents: [{ text: 'first' }] })
    expect(await textOf('note://2/3')).toMatchObject({ contents: [{ text: 'second' }] })
  })

  it('lists its resources after fixed ones', async () => {
    const registry = createRegistry({ pageSize: 2 })
    let notes = ['1', '2', '3']
    const listNotes = async () => notes.map((id) => ({ uri: `note://${id}` }))
    registry.addResource('note://{id}', { list: listNotes, mimeType: 'text/markdown' }, ({ id }) => id)
    registry.addResource('config://app', { name: 'config' }, '')
    const first = await list(registry)
    expect(first.resources).toEqual([
      { uri: 'config://app', name: 'config' },
      { uri: 'note://1', name: 'note://1', mimeType: 'text/markdown' },
    ])
    notes = ['0', ...notes]
    const second = await list(registry, first.nextCursor)
    expect(second.resources.map(({ uri }) => uri)).toEqual(['note://2', 'note://3'])
    expect(second).not.toHaveProperty('nextCursor')
    expect(check(ListShape, first).problem).toBeUndefined()
  })

  it('is listed as a template and not as a resource', async () => {
    const registry = createRegistry()
    registry.addResource('note://{id}', { name: 'note', title: 'Note', description: 'One note' }, () => '')
    expect(await registry.listResourceTemplates?.({}, ctx)).toEqual({
      resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note', title: 'Note', description: 'One note' }],
    })
    expect((await list(registry)).resources).toEqual([])
  })

  it('fails to list resources without a URI', async () => {
    const registry = createRegistry()
    registry.addResource('note://{id}', { list: () => [{ name: 'x' } as Resource] }, () => '')
    await expect(list(registry)).rejects.toThrow('lists an item without a `uri`')
  })
})

describe('registering a resource', () => {
  const register = (uri: string, options = {}, source: unknown = () => '') => {
    const registry = createRegistry()
    registry.addResource(uri as string, options, source as string)
    return registry
  }

  it.each([
    ['app', 'expected a URI with a scheme'],
    ['config app', 'expected a URI with a scheme'],
    ['config://a b', 'expected a URI with a scheme'],
    ['note://{id', 'URI template'],
    ['note://{a}{b}', 'put a literal between them'],
  ])('rejects %j', (uri, message) => {
    expect(() => register(uri)).toThrow(RegistrationError)
    expect(() => register(uri)).toThrow(message)
  })

  it('rejects invalid combinations', async () => {
    expect(() => register('note://{id}', {}, 'x')).toThrow('a template needs a function')
    expect(() => register('a:b', { list: () => [] })).toThrow('only templates have `list`')
    expect(() => register('note://{id}', { complete: { ID: [] } })).toThrow('there is no variable "ID"')
    const registry = register('a:b')
    expect(() => registry.addResource('a:b', {}, '')).toThrow('Resource "a:b" is already registered')
    registry.addResource('a:b', { replace: true }, 'new')
    expect(await read(registry, 'a:b')).toMatchObject({ contents: [{ text: 'new' }] })
  })
})

describe('subscribing to resources', () => {
  it('is supported as soon as one resource allows it', async () => {
    const registry = createRegistry()
    registry.addResource('a:1', {}, '')
    expect(registry.subscribe).toBeUndefined()
    registry.addResource('note://{id}', { subscribe: true }, () => '')
    expect(await registry.subscribe?.({ uri: 'note://1' }, ctx)).toBeUndefined()
    expect(await registry.unsubscribe?.({ uri: 'gone:1' }, ctx)).toBeUndefined()
    await expect(registry.subscribe?.({ uri: 'gone:1' }, ctx)).rejects.toThrow('Resource not found: "gone:1"')
  })

  it('delivers updates at once', () => {
    const registry = createRegistry()
    const heard: unknown[] = []
    registry.changes((change) => heard.push(change))
    registry.resourceUpdated('a:1')
    expect(heard).toEqual([{ kind: 'resource', uri: 'a:1' }])
  })
})

describe('a restricted resource', () => {
  const registry = createRegistry({ cache: { resources: { ttlMs: 9, cacheScope: 'public' } } })
  registry.addResource('a:open', {}, '')
  const visible: VisibilityOptions['visible'] = (auth) => auth?.scopes.includes('admin') === true
  registry.addResource('note://secret', { visible, subscribe: true }, 'secret')
  registry.addResource('note://{id}', {}, ({ id }) => id)

  it('does not exist for other callers, also not through a template', async () => {
    await expect(read(registry, 'note://secret')).rejects.toThrow('Resource not found')
    await expect(registry.subscribe?.({ uri: 'note://secret' }, ctx)).rejects.toThrow('Resource not found')
    expect((await list(registry)).resources.map(({ uri }) => uri)).toEqual(['a:open'])
    expect((await list(registry, undefined, as('admin'))).resources).toHaveLength(2)
    expect(await read(registry, 'note://secret', as('admin'))).toMatchObject({ contents: [{ text: 'secret' }] })
  })

  it('makes the list private', async () => {
    expect(await list(registry)).toMatchObject({ ttlMs: 9, cacheScope: 'private' })
  })
})
