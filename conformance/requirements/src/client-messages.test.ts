import { connect } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { KEY, MODERN, turn } from './raw-client.ts'
import { createRawServer, INPUT_REQUEST } from './raw-server.ts'

const metaOf = ({ params }: { params?: JsonObject | undefined }) => (params?._meta ?? {}) as JsonObject

/** A server whose lists have two pages, and whose calls return an input request. */
function createPagedServer() {
  const pages = (member: string) => (params: JsonObject) => ({
    [member]: [],
    ...(params.cursor === undefined && { nextCursor: '' }),
  })
  const asking = (result: object) => (params: JsonObject) =>
    params.inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { q: INPUT_REQUEST }, requestState: 's' }
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
  await vi.waitFor(() => expect(server.requestsOf('subscriptions/listen')).toHaveLength(1))
  listening.close()
  listening.ready.catch(() => {})
  await client.close()
}

describe('each request of a client', () => {
  it('contains the protocol version and the client capabilities [C-001, C-003]', async () => {
    const server = createPagedServer()
    await callEverything(server)
    expect(server.requests.length).toBeGreaterThanOrEqual(17)
    expect(server.requestsOf('tools/list')).toHaveLength(2)
    expect(server.requestsOf('prompts/get')).toHaveLength(2)
    expect(server.requestsOf('subscriptions/listen')).toHaveLength(1)
    for (const request of server.requests) {
      expect(metaOf(request)).toMatchObject({
        [`${KEY}protocolVersion`]: MODERN,
        [`${KEY}clientCapabilities`]: { elicitation: { form: {}, url: {} } },
      })
    }
  })

  it('contains the client info, unless it is turned off [C-002]', async () => {
    const named = createPagedServer()
    await callEverything(named, { clientInfo: { name: 'me', version: '2' } })
    for (const request of named.requests) {
      expect(metaOf(request)[`${KEY}clientInfo`]).toEqual({ name: 'me', version: '2' })
    }
    const silent = createPagedServer()
    await callEverything(silent, { clientInfo: false })
    for (const request of silent.requests) expect(metaOf(request)).not.toHaveProperty([`${KEY}clientInfo`])
  })

  it('declares capabilities as objects [C-003]', async () => {
    const server = createRawServer({ 'tools/call': () => ({ content: [] }) })
    await using client = await connect(server, {
      onSample: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
      sampling: { tools: true },
      roots: [],
      capabilities: { extensions: { 'com.example/x': {} } },
    })
    await client.callTool('t')
    const [request] = server.requestsOf('tools/call')
    expect(metaOf(request ?? {})[`${KEY}clientCapabilities`]).toEqual({
      sampling: { tools: {} },
      roots: {},
      extensions: { 'com.example/x': {}, [`${KEY}tasks`]: {} },
    })
    await using bare = await connect(server)
    await bare.callTool('t')
    const declared = { extensions: { [`${KEY}tasks`]: {} } }
    expect(metaOf(server.requestsOf('tools/call')[1] ?? {})[`${KEY}clientCapabilities`]).toEqual(declared)
    await using without = await connect(server, { tasks: false })
    await without.callTool('t')
    expect(metaOf(server.requestsOf('tools/call')[2] ?? {})[`${KEY}clientCapabilities`]).toEqual({})
  })

  it('has a unique id [C-004, C-072]', async () => {
    const server = createPagedServer()
    await using client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('t')))
    const ids = server.requests.map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(100)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(typeof id === 'string' || Number.isInteger(id)).toBe(true)
  })
})

describe('an invalid message of a modern server', () => {
  it.each([
    ['an input request', { id: 'q', method: 'elicitation/create', params: INPUT_REQUEST.params }],
    ['a ping', { id: 1, method: 'ping' }],
    ['an unknown request', { id: 2, method: 'x/y' }],
    ['a malformed request', { id: 3, method: 7 }],
    ['an object that is not a message', { x: 1 }],
    ['an array', [{ jsonrpc: '2.0', id: 4, method: 'ping' }]],
  ])('gets no response: %s [C-005]', async (_, message) => {
    const server = createRawServer({ 'tools/call': () => ({ content: [] }) })
    const warnings: string[] = []
    const onElicit = () => ({ action: 'decline' }) as const
    await using client = await connect(server, { onElicit, onWarning: ({ message }) => warnings.push(message) })
    server.send(message)
    await turn()
    await client.callTool('t')
    expect(server.responses).toEqual([])
    expect(warnings).toHaveLength(1)
  })

  it('gets no response before the era is known [C-005]', async () => {
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

describe('a response of a server', () => {
  it('with an error is distinguished from local errors [C-011]', async () => {
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

  it.each([-32602, -32002, -32001, -32019])('may have any error code, which is passed on: %i [C-010]', async (code) => {
    const server = createRawServer({ 'resources/read': ({ uri }) => ({ code, message: 'gone', data: { uri } }) })
    await using client = await connect(server)
    await expect(client.readResource('a:b')).rejects.toMatchObject({ name: 'RpcError', code, data: { uri: 'a:b' } })
    expect(client.era).toBe('modern')
    expect(server.requestsOf('resources/read')).toHaveLength(1)
  })

  it('may have unknown members and an invalid or missing ttl [C-013]', async () => {
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
    expect(server.requestsOf('tools/list')).toHaveLength(2)
  })

  it('is handled independently of the name of the server [C-008]', async () => {
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
