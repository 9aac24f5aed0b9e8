import { connect } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { createRawServer, QUESTION } from './raw-server.ts'
import { KEY, MODERN, turn } from './wire.ts'

const metaOf = ({ params }: { params?: JsonObject | undefined }) => (params?._meta ?? {}) as JsonObject

/** A server whose lists have two pages, and whose calls come back with a question. */
function createPagedServer() {
  const pages = (member: string) => (params: JsonObject) => ({
    [member]: [],
    ...(params.cursor === undefined && { nextCursor: '' }),
  })
  const asking = (result: object) => (params: JsonObject) =>
    params.inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { q: QUESTION }, requestState: 's' }
      : result
  return createRawServer({
    'tools/list': pages('tools'),
    'prompts/list': pages('prompts'),
    'resources/list': pages('resources'),
    'resources/templates/list': pages('resourceTemplates'),
    'tools/call': asking({ content: [] }),
    'prompts/get': asking({ messages: [] }),
    'resources/read': asking({ contents: [] }),
    'completion/complete': () => ({ completion: { values: [] } }),
  })
}

async function callEverything(server: ReturnType<typeof createRawServer>, options: object = {}) {
  const client = await connect(server, { onElicit: () => ({ action: 'decline' }), ...options })
  await client.listTools().all()
  await client.listPrompts().all()
  await client.listResources().all()
  await client.listResourceTemplates().all()
  await client.callTool('t')
  await client.getPrompt('p')
  await client.readResource('a:b')
  await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } })
  const listening = client.listen({ toolsListChanged: true })
  await vi.waitFor(() => expect(server.asked('subscriptions/listen')).toHaveLength(1))
  listening.close()
  listening.ready.catch(() => {})
  await client.close()
}

describe('each request of a client', () => {
  it('says which version it speaks and what the client can do [C-001, C-003]', async () => {
    const server = createPagedServer()
    await callEverything(server)
    expect(server.requests.length).toBeGreaterThanOrEqual(17)
    expect(server.asked('tools/list')).toHaveLength(2)
    expect(server.asked('prompts/get')).toHaveLength(2)
    expect(server.asked('subscriptions/listen')).toHaveLength(1)
    for (const request of server.requests) {
      expect(metaOf(request)).toMatchObject({
        [`${KEY}protocolVersion`]: MODERN,
        [`${KEY}clientCapabilities`]: { elicitation: { form: {}, url: {} } },
      })
    }
  })

  it('says who asks, unless it is told not to [C-002]', async () => {
    const named = createPagedServer()
    await callEverything(named, { clientInfo: { name: 'me', version: '2' } })
    for (const request of named.requests) {
      expect(metaOf(request)[`${KEY}clientInfo`]).toEqual({ name: 'me', version: '2' })
    }
    const silent = createPagedServer()
    await callEverything(silent, { clientInfo: false })
    for (const request of silent.requests) expect(metaOf(request)).not.toHaveProperty([`${KEY}clientInfo`])
  })

  it('declares what can be done in this request, as objects [C-003]', async () => {
    const server = createRawServer({ 'tools/call': () => ({ content: [] }) })
    await using client = await connect(server, {
      onSample: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
      sampling: { tools: true },
      roots: [],
      capabilities: { extensions: { 'com.example/x': {} } },
    })
    await client.callTool('t')
    const [request] = server.asked('tools/call')
    expect(metaOf(request ?? {})[`${KEY}clientCapabilities`]).toEqual({
      sampling: { tools: {} },
      roots: {},
      extensions: { 'com.example/x': {} },
    })
    await using bare = await connect(server)
    await bare.callTool('t')
    expect(metaOf(server.asked('tools/call')[1] ?? {})[`${KEY}clientCapabilities`]).toEqual({})
  })

  it('has an id that no other has had [C-004, C-072]', async () => {
    const server = createPagedServer()
    await using client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('t')))
    const ids = server.requests.map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(100)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(typeof id === 'string' || Number.isInteger(id)).toBe(true)
  })
})

describe('what a modern server must not send', () => {
  it.each([
    ['a question', { id: 'q', method: 'elicitation/create', params: QUESTION.params }],
    ['a ping', { id: 1, method: 'ping' }],
    ['a request that nobody knows', { id: 2, method: 'x/y' }],
    ['a request that is malformed', { id: 3, method: 7 }],
    ['no message at all', { x: 1 }],
    ['an array', [{ jsonrpc: '2.0', id: 4, method: 'ping' }]],
  ])('gets no response: %s [C-005]', async (_, message) => {
    const server = createRawServer({ 'tools/call': () => ({ content: [] }) })
    const problems: string[] = []
    const onElicit = () => ({ action: 'decline' }) as const
    await using client = await connect(server, { onElicit, onWarning: ({ message }) => problems.push(message) })
    server.send(message)
    await turn()
    await client.callTool('t')
    expect(server.responses).toEqual([])
    expect(problems).toHaveLength(1)
  })

  it('gets no response before it is known which era it speaks [C-005]', async () => {
    const server = createRawServer({
      'server/discover': () => {
        server.send({ id: 1, method: 'ping' })
        return { supportedVersions: [MODERN], capabilities: {} }
      },
    })
    await using _client = await connect(server)
    await turn()
    expect(server.responses).toEqual([])
  })
})

describe('what comes from the server', () => {
  it('is told from what goes wrong on this side [C-011]', async () => {
    const server = createRawServer({
      'tools/call': ({ name }) => (name === 'no' ? { code: -32602, message: 'No such tool' } : undefined),
    })
    await using client = await connect(server)
    await expect(client.callTool('no')).rejects.toMatchObject({ name: 'RpcError', code: -32602 })
    await expect(client.callTool('slow', {}, { timeout: 20 })).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'timeout',
    })
  })

  it.each([-32602, -32002, -32001, -32019])(
    'may be an error of any code, which is handed on: %i [C-010]',
    async (code) => {
      const server = createRawServer({ 'resources/read': ({ uri }) => ({ code, message: 'gone', data: { uri } }) })
      await using client = await connect(server)
      await expect(client.readResource('a:b')).rejects.toMatchObject({ name: 'RpcError', code, data: { uri: 'a:b' } })
      expect(client.era).toBe('modern')
      expect(server.asked('resources/read')).toHaveLength(1)
    },
  )

  it('may hold what nobody knows, and lack or misstate how long it keeps [C-013]', async () => {
    const server = createRawServer({
      'server/discover': () => ({
        supportedVersions: [MODERN],
        capabilities: { tools: {}, later: { x: 1 } },
        serverInfo: { name: 'top', version: '0' },
        ttlMs: -5,
      }),
      'tools/list': () => ({ tools: [{ name: 't', inputSchema: { type: 'object' }, later: [1] }], ttlMs: -1 }),
    })
    await using client = await connect(server)
    expect(client.server.info?.name).not.toBe('top')
    expect(await client.listTools().all()).toEqual([{ name: 't', inputSchema: { type: 'object' }, later: [1] }])
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(2)
  })

  it('is dealt with in the same way, whatever the server calls itself [C-008]', async () => {
    const run = async (name: string) => {
      const server = createRawServer({
        'server/discover': () => ({
          supportedVersions: [MODERN],
          capabilities: { tools: {} },
          _meta: { [`${KEY}serverInfo`]: { name, version: '1' } },
        }),
        'tools/call': () => ({ content: [] }),
      })
      await using client = await connect(server)
      await client.callTool('t')
      return server.requests
    }
    expect(await run('trusted')).toEqual(await run('evil'))
  })
})
