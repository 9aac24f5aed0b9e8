import {
  type Connector,
  type Exchange,
  eraOf,
  type JsonObject,
  REVISIONS,
  type RequestOptions,
  type Responder,
  RpcError,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { META, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'

const add = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }

describe.each(REVISIONS)('a server of %s', (revision) => {
  const era = eraOf(revision)

  it('is used in its own revision', async () => {
    const server = scriptedServer(revision)
    await using client = await connect(server)
    expect(client.revision).toBe(revision)
    expect(client.era).toBe(era)
    expect(client.server).toMatchObject({
      info: { name: 'scripted', version: '1.0.0' },
      capabilities: { tools: {} },
      instructions: 'Be kind.',
    })
    expect(server.asked('initialize')).toHaveLength(era === 'legacy' ? 1 : 0)
    expect(server.heard.some(({ method }) => method === 'notifications/initialized')).toBe(era === 'legacy')
  })

  it('returns lists page by page [C-103]', async () => {
    const server = scriptedServer(revision, {
      answers: {
        'tools/list': ({ params }) =>
          params.cursor === undefined
            ? { tools: [add], nextCursor: '' }
            : { tools: [{ ...add, name: `second${params.cursor}` }] },
        'prompts/list': () => ({ prompts: [{ name: 'review' }] }),
        'resources/list': () => ({ resources: [{ uri: 'a:b', name: 'b' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'a:{b}', name: 'b' }] }),
      },
    })
    await using client = await connect(server)
    const names: string[] = []
    for await (const tool of client.listTools()) names.push(tool.name)
    expect(names).toEqual(['add', 'second'])
    expect(await client.listPrompts().all()).toEqual([{ name: 'review' }])
    expect(await client.listResources().all()).toEqual([{ uri: 'a:b', name: 'b' }])
    expect(await client.listResourceTemplates().all()).toEqual([{ uriTemplate: 'a:{b}', name: 'b' }])
  })

  it('returns results of calls', async () => {
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params.arguments ?? null) }] }),
        'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, text: 'hello' }] }),
        'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }] }),
        'completion/complete': () => ({ completion: { values: ['a'] } }),
      },
    })
    await using client = await connect(server)
    expect((await client.callTool('add', { a: 1 })).content).toEqual([{ type: 'text', text: '{"a":1}' }])
    expect((await client.callTool('add')).content).toEqual([{ type: 'text', text: '{}' }])
    expect((await client.readResource('a:b')).contents).toEqual([{ uri: 'a:b', text: 'hello' }])
    expect((await client.getPrompt('review', { code: 'x' })).messages).toHaveLength(1)
    const ref = { type: 'ref/prompt', name: 'review' } as const
    expect((await client.complete({ ref, argument: { name: 'code', value: '' } })).completion.values).toEqual(['a'])
    await client.getPrompt('review')
    expect(server.asked('prompts/get')[1]?.params).toMatchObject({ name: 'review', arguments: {} })
    expect(server.asked('prompts/get')[0]?.params).toMatchObject({ name: 'review', arguments: { code: 'x' } })
  })

  it('receives the facts about the client that its era has a place for [C-002]', async () => {
    const server = scriptedServer(revision, { answers: { 'tools/call': () => ({ content: [] }) } })
    const clientInfo = { name: 'tester', version: '2.0.0' }
    await using client = await connect(server, { clientInfo, roots: [{ uri: 'file:///work' }], logLevel: 'error' })
    await client.callTool('add', {}, { meta: { 'com.example/trace': 'abc' } })
    const meta = server.asked('tools/call')[0]?.params?._meta
    if (era === 'legacy') {
      expect(meta).toEqual({ 'com.example/trace': 'abc', progressToken: expect.any(Number) })
      expect(server.asked('initialize')[0]?.params).toEqual({
        protocolVersion: '2025-11-25',
        capabilities: { roots: { listChanged: true } },
        clientInfo,
      })
    } else {
      expect(meta).toEqual({
        'com.example/trace': 'abc',
        progressToken: expect.any(Number),
        [`${META}protocolVersion`]: revision,
        [`${META}clientCapabilities`]: { roots: {}, extensions: { [`${META}tasks`]: {} } },
        [`${META}clientInfo`]: clientInfo,
        [`${META}logLevel`]: 'error',
      })
    }
  })

  it('can reject a call with an error for the caller', async () => {
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': () => {
          throw new RpcError(-32602, 'Unknown tool', { data: { name: 'nope' } })
        },
      },
    })
    await using client = await connect(server)
    await expect(client.callTool('nope')).rejects.toMatchObject({
      name: 'RpcError',
      code: -32602,
      message: 'Unknown tool',
      data: { name: 'nope' },
    })
  })

  it('cannot return a result of the wrong shape', async () => {
    const server = scriptedServer(revision, {
      answers: { 'tools/call': () => ({ content: [{ type: 'text', text: 7 }] }), 'tools/list': () => ({ tools: 1 }) },
    })
    await using client = await connect(server)
    await expect(client.callTool('add')).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'invalid-message',
      message: 'The response to tools/call "add" was refused. result.content[0].text: expected string, got number',
    })
    await expect(client.listTools().all()).rejects.toMatchObject({ reason: 'invalid-message' })
  })

  it('can send unknown members [C-013]', async () => {
    const server = scriptedServer(revision, {
      answers: { 'tools/call': () => ({ content: [], 'x-extra': { deep: [1] } }) },
    })
    await using client = await connect(server)
    expect(await client.callTool('add')).toMatchObject({ 'x-extra': { deep: [1] } })
  })

  it('reports progress and logs before the result', async () => {
    const server = scriptedServer(revision, {
      capabilities: { tools: {}, logging: {} },
      answers: {
        'logging/setLevel': () => ({}),
        'tools/call': async ({ params, exchange }) => {
          const progressToken = (params._meta as { progressToken?: number }).progressToken
          await exchange.notify('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' })
          await exchange.notify('notifications/message', { level: 'info', data: { n: 1 } })
          return { content: [] }
        },
      },
    })
    const logs: unknown[] = []
    const progress: unknown[] = []
    await using client = await connect(server, { onLog: (entry) => logs.push(entry) })
    await client.callTool('add', {}, { onProgress: (each) => progress.push(each) })
    expect(progress).toEqual([{ progress: 1, total: 2, message: 'half' }])
    expect(logs).toEqual([{ level: 'info', data: { n: 1 } }])
  })

  it('may return a tool result without content', async () => {
    const server = scriptedServer(revision, { answers: { 'tools/call': () => ({ structuredContent: { sum: 3 } }) } })
    await using client = await connect(server)
    expect(await client.callTool('add')).toMatchObject({ content: [], structuredContent: { sum: 3 } })
  })

  it('may take longer than the timeout while it sends progress, also to a call without callbacks', async () => {
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': async ({ params, exchange }) => {
          const { progressToken } = params._meta as { progressToken?: number }
          for (let progress = 1; progress <= 8; progress++) {
            await new Promise((resolve) => setTimeout(resolve, 50))
            await exchange.notify('notifications/progress', { progressToken, progress })
          }
          return { content: [] }
        },
      },
    })
    await using client = await connect(server)
    expect(await client.callTool('add', {}, { timeout: 200 })).toMatchObject({ content: [] })
  })

  it('receives no call after the client was closed', async () => {
    const server = scriptedServer(revision, { answers: { 'tools/call': () => new Promise(() => {}) } })
    const client = await connect(server)
    const waiting = client.callTool('add')
    await client.close()
    await client.close()
    await expect(waiting).rejects.toMatchObject({ reason: 'closed' })
    await expect(client.callTool('add')).rejects.toMatchObject({ reason: 'closed' })
  })

  it('is notified of a cancelled call [C-101]', async () => {
    let given: AbortSignal | undefined
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': ({ exchange }) => {
          given = exchange.signal
          return new Promise(() => {})
        },
      },
    })
    await using client = await connect(server)
    const stop = new AbortController()
    const waiting = client.callTool('add', {}, { signal: stop.signal })
    await expect.poll(() => given).toBeDefined()
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' })
    await expect.poll(() => given?.aborted).toBe(true)
  })
})

describe('log messages', () => {
  const message = (data: string) =>
    ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } }) as const

  it('reach the call that the transport names; without a name, none of several calls', async () => {
    const finish: (() => void)[] = []
    const sent = new Map<unknown, RequestOptions>()
    let responder: Responder | undefined
    const connector: Connector = {
      connect(options) {
        responder = options.responder
        return {
          async request(method, params = {}, call = {}) {
            if (method === 'server/discover') return { supportedVersions: ['2026-07-28'], capabilities: {} }
            sent.set((params as JsonObject).name, call)
            await new Promise<void>((resolve) => void finish.push(resolve))
            return { content: [] }
          },
          notify() {},
          async close() {},
          closed: new Promise(() => {}),
        }
      },
    }
    const heard: [string, unknown][] = []
    const record = (who: string) => (entry: { data: unknown }) => void heard.push([who, entry.data])
    const problems: string[] = []
    await using client = await connect(connector, {
      onLog: record('client'),
      onWarning: (problem) => problems.push(problem.message),
    })
    const first = client.callTool('a', {}, { onLog: record('first') })
    const second = client.callTool('b', {}, { onLog: record('second') })
    const third = client.callTool('c', {}, { onProgress: () => {} })
    await expect.poll(() => finish).toHaveLength(3)
    sent.get('a')?.onNotification?.(message('1'))
    const exchange = {} as Exchange
    await responder?.respond(message('2'), exchange)
    for (const end of finish) end()
    await Promise.all([first, second, third])
    await responder?.respond(message('3'), exchange)
    await responder?.respond({ ...message('4'), params: { level: 'loud', data: 1 } }, exchange)
    expect(heard).toEqual([
      ['first', '1'],
      ['client', '2'],
      ['client', '3'],
    ])
    expect(problems).toEqual([expect.stringContaining('A log message was ignored. params.level')])
  })
})

describe('pagination', () => {
  it('reads a page of more items than a function can have arguments', async () => {
    const tools = Array.from({ length: 150_000 }, (_, index) => ({
      name: `t${index}`,
      inputSchema: { type: 'object' },
    }))
    await using client = await connect(scriptedServer('2026-07-28', { answers: { 'tools/list': () => ({ tools }) } }))
    expect(await client.listTools().all()).toHaveLength(150_000)
  })

  it('ends when the empty cursor repeats', async () => {
    const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
    const pages: Record<string, string> = { first: 'a', '': 'b' }
    const names = async (nameOf: (cursor: string) => string) => {
      const server = scriptedServer('2026-07-28', {
        answers: {
          'tools/list': ({ params }) => ({ tools: [tool(nameOf(String(params.cursor ?? 'first')))], nextCursor: '' }),
        },
      })
      await using client = await connect(server)
      return (await client.listTools().all()).map(({ name }) => name)
    }
    expect(await names((cursor) => pages[cursor] ?? 'none')).toEqual(['a', 'b'])
    expect(await names(() => 'a')).toEqual(['a'])
  })

  it('rejects when a cursor repeats [C-103]', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: { 'tools/list': () => ({ tools: [], nextCursor: 'again' }) },
    })
    await using client = await connect(server)
    await expect(client.listTools().all()).rejects.toMatchObject({ reason: 'invalid-message' })
    expect(server.asked('tools/list')).toHaveLength(2)
  })

  it('stops at maxPages', async () => {
    let page = 0
    const server = scriptedServer('2026-07-28', {
      answers: { 'tools/list': () => ({ tools: [], nextCursor: `${++page}` }) },
    })
    await using client = await connect(server, { maxPages: 3 })
    await expect(client.listTools().all()).rejects.toMatchObject({ reason: 'limit' })
    expect(page).toBe(3)
  })

  it('rejects a list that is too large as a whole, and iterates over it', async () => {
    let page = 0
    const description = 'x'.repeat(8 * 1024 * 1024)
    const server = scriptedServer('2026-07-28', {
      answers: { 'tools/list': () => ({ tools: [{ ...add, description }], nextCursor: `${++page}` }) },
    })
    await using client = await connect(server, { maxPages: 20 })
    await expect(client.listTools().all()).rejects.toMatchObject({
      reason: 'limit',
      message: expect.stringMatching(/characters/),
    })
    expect(page).toBeLessThan(12)
    let count = 0
    for await (const _ of client.listTools()) if (++count === 15) break
    expect(count).toBe(15)
  })

  it('requests only pages that are read', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: { 'tools/list': () => ({ tools: [add], nextCursor: 'next' }) },
    })
    await using client = await connect(server)
    for await (const _ of client.listTools()) break
    expect(server.asked('tools/list')).toHaveLength(1)
  })

  it('starts again when the server refuses its own cursor [C-085]', async () => {
    let isFirst = true
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/list': ({ params }) => {
          if (params.cursor === undefined)
            return { tools: [add], nextCursor: 'next', ttlMs: 60_000, cacheScope: 'private' }
          if (isFirst) {
            isFirst = false
            throw new RpcError(-32602, 'Unknown cursor')
          }
          return { tools: [add] }
        },
      },
    })
    await using client = await connect(server)
    expect(await client.listTools().all()).toHaveLength(2)
    expect(server.asked('tools/list')).toHaveLength(4)
  })
})
