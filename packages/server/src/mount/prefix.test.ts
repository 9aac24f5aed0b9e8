import {
  type Change,
  type Context,
  type Handler,
  internalError,
  invalidParams,
  type ListToolsResult,
  RpcError,
  resourceNotFound,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { combine } from './combine.ts'
import { mounted } from './prefix.ts'

const ctx = {} as Context
const failureOf = async (run: () => unknown): Promise<RpcError> => {
  try {
    await run()
  } catch (error) {
    return error as RpcError
  }
  throw new Error('It did not fail')
}

function library(overrides: Handler = {}): Handler {
  return {
    listTools: () => ({ tools: [{ name: 'search', inputSchema: { type: 'object' } }] }),
    callTool: ({ name }) => ({ content: [{ type: 'text', text: name }] }),
    listPrompts: () => ({ prompts: [{ name: 'review' }] }),
    getPrompt: ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
    listResources: () => ({ resources: [{ name: 'app', uri: 'config://app' }] }),
    listResourceTemplates: () => ({ resourceTemplates: [{ name: 'note', uriTemplate: 'note://{id}' }] }),
    readResource: ({ uri }) => ({ contents: [{ uri, text: uri }] }),
    ...overrides,
  }
}

describe('a prefix', () => {
  it.each(['', '1a', 'a b', 'a.b', 'ä', 'a/b', '-a', '_a', 'a+b'])('must not be %j', (prefix) => {
    expect(() => mounted(prefix, {})).toThrow(RangeError)
    expect(() => mounted(prefix, {})).toThrow(`mount: ${JSON.stringify(prefix)}`)
  })

  it('may have letters, digits, hyphens and underscores', async () => {
    expect(() => mounted('Git-Hub2', {})).not.toThrow()
    const handler = mounted('git_hub', library())
    expect(await handler.listTools?.({}, ctx)).toMatchObject({ tools: [{ name: 'git_hub.search' }] })
    expect(await handler.callTool?.({ name: 'git_hub.search' }, ctx)).toMatchObject({ content: [{ text: 'search' }] })
    const list = (await handler.listResources?.({}, ctx)) as { resources: { uri: string }[] }
    const [uri = ''] = list.resources.map((resource) => resource.uri)
    expect(uri).toBe('git+hub.config://app')
    expect(URL.canParse(uri)).toBe(true)
    expect(await handler.readResource?.({ uri }, ctx)).toMatchObject({ contents: [{ uri }] })
    expect(await failureOf(() => handler.readResource?.({ uri: 'git_hub.config://app' }, ctx))).toBeInstanceOf(Error)
  })
})

describe('a mounted handler', () => {
  it('has the methods of the handler, also those that come later', () => {
    const target: Handler = {}
    const handler = mounted('github', target)
    expect(handler.listTools).toBeUndefined()
    Object.assign(target, library())
    expect(handler.listTools).toBeTypeOf('function')
    expect(handler.complete).toBeUndefined()
  })

  it('may be the handler of something else', async () => {
    const handler = mounted('github', { handler: library() })
    expect(await handler.callTool?.({ name: 'github.search' }, ctx)).toEqual({
      content: [{ type: 'text', text: 'search' }],
    })
  })

  it('adds the prefix to names and URIs in lists, synchronously if the handler does not wait', async () => {
    const handler = mounted('github', library())
    expect(await handler.listTools?.({}, ctx)).toMatchObject({ tools: [{ name: 'github.search' }] })
    expect(await handler.listPrompts?.({}, ctx)).toEqual({ prompts: [{ name: 'github.review' }] })
    expect(await handler.listResources?.({}, ctx)).toEqual({ resources: [{ name: 'app', uri: 'github.config://app' }] })
    expect(await handler.listResourceTemplates?.({}, ctx)).toEqual({
      resourceTemplates: [{ name: 'note', uriTemplate: 'github.note://{id}' }],
    })
    expect(new URL('github.config://app').protocol).toBe('github.config:')
  })

  it('removes the prefix in requests, and adds it in results', async () => {
    const handler = mounted('github', library())
    expect(await handler.getPrompt?.({ name: 'github.review' }, ctx)).toMatchObject({
      messages: [{ content: { text: 'review' } }],
    })
    const read = { contents: [{ uri: 'github.config://app', text: 'config://app' }] }
    expect(await handler.readResource?.({ uri: 'github.config://app' }, ctx)).toEqual(read)
    expect(await mounted('GitHub', library()).readResource?.({ uri: 'github.config://app' }, ctx)).toMatchObject({
      contents: [{ uri: 'GitHub.config://app' }],
    })
  })

  it('passes on all other parameters and the context', async () => {
    const heard: unknown[] = []
    const target = library({
      callTool: (...args) => {
        heard.push(...args)
        return { content: [] }
      },
    })
    const params = { name: 'github.search', arguments: { a: 1 }, _meta: { progressToken: 7 } }
    await mounted('github', target).callTool?.(params, ctx)
    expect(heard).toEqual([{ ...params, name: 'search' }, ctx])
    expect(heard[1]).toBe(ctx)
  })

  it('keeps its cursors', async () => {
    const target = library({
      listTools: ({ cursor }) => (cursor === 'é' ? { tools: [] } : { tools: [], nextCursor: 'é' }),
    })
    const handler = combine([mounted('a', target), mounted('b', target)])
    const pages: ListToolsResult[] = []
    for (let cursor: string | undefined; pages.length < 9; ) {
      pages.push((await handler.listTools?.(cursor === undefined ? {} : { cursor }, ctx)) as ListToolsResult)
      cursor = pages.at(-1)?.nextCursor
      if (cursor === undefined) break
    }
    expect(pages).toHaveLength(3)
  })

  it('owns names with its prefix that the handler owns', () => {
    const handler = mounted('github', { ...library(), owns: (_: string, name: string) => name === 'search' } as Handler)
    expect(handler.owns?.('tool', 'github.search')).toBe(true)
    expect(handler.owns?.('tool', 'github.other')).toBe(false)
    expect(handler.owns?.('tool', 'search')).toBe(false)
    expect(handler.owns?.('tool', 'GITHUB.search')).toBe(false)
    expect(mounted('github', library()).owns?.('resource', 'GITHUB.a:b')).toBe(true)
  })

  it('can be mounted again', async () => {
    const handler = mounted('outer', mounted('inner', library()))
    expect(await handler.listTools?.({}, ctx)).toMatchObject({ tools: [{ name: 'outer.inner.search' }] })
    expect(await handler.callTool?.({ name: 'outer.inner.search' }, ctx)).toMatchObject({
      content: [{ text: 'search' }],
    })
    const contents = [{ uri: 'outer.inner.a:b', text: 'a:b' }]
    expect(await handler.readResource?.({ uri: 'outer.inner.a:b' }, ctx)).toEqual({ contents })
  })

  it('rejects names without its prefix', async () => {
    const handler = mounted('github', library())
    expect(await failureOf(() => handler.callTool?.({ name: 'search' }, ctx))).toMatchObject({ code: -32602 })
    expect(await failureOf(() => handler.readResource?.({ uri: 'config://app' }, ctx))).toMatchObject({
      code: -32602,
      data: { uri: 'config://app' },
    })
  })
})

describe('results of a mounted handler', () => {
  it('contain outer URIs of resources, and unchanged web URLs', async () => {
    const content = [
      { type: 'resource_link' as const, name: 'a', uri: 'config://app' },
      { type: 'resource_link' as const, name: 'b', uri: 'https://example.com/' },
      { type: 'resource' as const, resource: { uri: 'config://app', text: 'x' } },
      { type: 'resource' as const, resource: { uri: 'HTTP://example.com/', text: 'x' } },
      { type: 'text' as const, text: 'config://app' },
    ]
    const handler = mounted(
      'github',
      library({
        callTool: () => ({ content }),
        getPrompt: () => ({ messages: content.map((each) => ({ role: 'user' as const, content: each })) }),
      }),
    )
    const expected = [
      { uri: 'github.config://app' },
      { uri: 'https://example.com/' },
      { resource: { uri: 'github.config://app', text: 'x' } },
      { resource: { uri: 'HTTP://example.com/' } },
      { text: 'config://app' },
    ]
    expect(await handler.callTool?.({ name: 'github.search' }, ctx)).toMatchObject({ content: expected })
    expect(await handler.getPrompt?.({ name: 'github.review' }, ctx)).toMatchObject({
      messages: expected.map((each) => ({ content: each })),
    })
    expect(content[0]).toMatchObject({ uri: 'config://app' })
  })

  it('are unchanged if they contain no names', async () => {
    const tool = { content: [{ type: 'text' as const, text: 'x' }] }
    const prompt = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'x' } }] }
    const asks = { resultType: 'input_required' as const, inputRequests: { a: { method: 'roots/list' as const } } }
    const target = library({ callTool: () => tool, getPrompt: async () => prompt, readResource: () => asks })
    const handler = mounted('github', target)
    expect(await handler.callTool?.({ name: 'github.search' }, ctx)).toEqual(tool)
    expect(await handler.getPrompt?.({ name: 'github.review' }, ctx)).toEqual(prompt)
    expect(await handler.readResource?.({ uri: 'github.a:b' }, ctx)).toEqual(asks)
    target.callTool = () => asks
    expect(await handler.callTool?.({ name: 'github.search' }, ctx)).toEqual(asks)
  })

  it('keep URI schemes with a meaning for hosts, in lists and in metadata of tools', async () => {
    const target = library({
      listTools: () => ({
        tools: [
          {
            name: 'a',
            inputSchema: { type: 'object' },
            _meta: { ui: { resourceUri: 'ui://view', visibility: ['app'] }, x: 1 },
          },
          { name: 'b', inputSchema: { type: 'object' }, _meta: { 'ui/resourceUri': 'ui://view' } },
          { name: 'c', inputSchema: { type: 'object' }, _meta: { ui: 3 } },
        ],
      }),
      listResources: () => ({ resources: [{ name: 'view', uri: 'ui://view' }] }),
    })
    const handler = mounted('github', target)
    expect(await handler.listTools?.({}, ctx)).toMatchObject({
      tools: [
        { _meta: { ui: { resourceUri: 'ui://github/view', visibility: ['app'] }, x: 1 } },
        { _meta: { 'ui/resourceUri': 'ui://github/view' } },
        { _meta: { ui: 3 } },
      ],
    })
    expect(await handler.listResources?.({}, ctx)).toMatchObject({ resources: [{ uri: 'ui://github/view' }] })
    expect(handler.owns?.('resource', 'ui://github/view')).toBe(true)
    expect(handler.owns?.('resource', 'ui://other/view')).toBe(false)
    expect(await handler.readResource?.({ uri: 'ui://github/view' }, ctx)).toEqual({
      contents: [{ uri: 'ui://github/view', text: 'ui://view' }],
    })
  })
})

describe('a mounted handler passes on', () => {
  it('completions of its prompts and templates', async () => {
    const refs: unknown[] = []
    const target = library({
      complete: ({ ref }) => {
        refs.push(ref)
        return { completion: { values: ['v'] } }
      },
    })
    const handler = mounted('github', target)
    const argument = { name: 'a', value: '' }
    await handler.complete?.({ ref: { type: 'ref/prompt', name: 'github.review' }, argument }, ctx)
    await handler.complete?.({ ref: { type: 'ref/resource', uri: 'github.note://{id}' }, argument }, ctx)
    expect(refs).toEqual([
      { type: 'ref/prompt', name: 'review' },
      { type: 'ref/resource', uri: 'note://{id}' },
    ])
  })

  it('subscriptions, log levels and changes', async () => {
    const heard: unknown[] = []
    let tell: (change: Change) => void = () => {}
    const target = library({
      subscribe: ({ uri }) => void heard.push(uri),
      unsubscribe: async ({ uri }) => void heard.push(uri),
      setLogLevel: ({ level }) => void heard.push(level),
      changes: (listener) => {
        tell = listener
        return () => void heard.push('stopped')
      },
    })
    const handler = mounted('github', target)
    await handler.subscribe?.({ uri: 'github.config://app' }, ctx)
    await handler.unsubscribe?.({ uri: 'github.config://app' }, ctx)
    await handler.setLogLevel?.({ level: 'error' }, ctx)
    const stop = handler.changes?.((change) => void heard.push(change))
    tell({ kind: 'resource', uri: 'config://app' })
    tell({ kind: 'tools' })
    stop?.()
    expect(heard).toEqual([
      'config://app',
      'config://app',
      'error',
      { kind: 'resource', uri: 'github.config://app' },
      { kind: 'tools' },
      'stopped',
    ])
  })

  it.each([true, false])('errors, with the outer names (async: %s)', async (isAsync) => {
    const fail = (error: Error) => {
      if (isAsync) return Promise.reject(error)
      throw error
    }
    const fault = new Error('search')
    const broken = internalError('"search" broke')
    const handler = mounted(
      'github',
      library({
        readResource: ({ uri }) => fail(resourceNotFound(uri, 'modern')),
        callTool: ({ name, arguments: args }) =>
          fail(
            args?.how === 'fault' ? fault : args?.how === 'broken' ? broken : invalidParams(`Unknown tool: "${name}"`),
          ),
      }),
    )
    expect(await failureOf(() => handler.readResource?.({ uri: 'github.a:b' }, ctx))).toMatchObject({
      code: -32602,
      message: 'Resource not found: "github.a:b"',
      data: { uri: 'github.a:b' },
    })
    const call = (how: string) =>
      failureOf(() => handler.callTool?.({ name: 'github.search', arguments: { how } }, ctx))
    expect(await call('unknown')).toMatchObject({ code: -32602, message: 'Unknown tool: "github.search"' })
    expect(await call('unknown')).toBeInstanceOf(RpcError)
    expect(await call('fault')).toBe(fault)
    expect(await call('broken')).toBe(broken)
  })
})
