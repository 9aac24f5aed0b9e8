import { type ClientOptions, connect } from '@mcpx/client'
import { type JsonObject, REVISIONS, userRejected } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createRawServer, type Give, QUESTION } from './raw-server.ts'
import { turn } from './wire.ts'

afterEach(() => void vi.useRealTimers())

const unknown = { code: -32601, message: 'Method not found' }
const hello = (protocolVersion: string) => () => ({ protocolVersion, capabilities: {}, serverInfo: OLD })
const OLD = { name: 'old', version: '1' }

/** A server of the older era that knows no `server/discover`. */
function createOlder(answers: Readonly<Record<string, Give>> = {}, revision = '2025-11-25') {
  return createRawServer({ 'server/discover': () => unknown, initialize: hello(revision), ...answers })
}

describe('the handshake', () => {
  it('offers the latest version of its era, and says that the client is ready before anything else [C-060]', async () => {
    const server = createOlder({ 'tools/list': () => ({ tools: [] }) })
    await using client = await connect(server, { clientInfo: { name: 'me', version: '2' }, roots: [] })
    await client.listTools().all()
    expect(server.requests.slice(1)).toMatchObject([
      {
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: { roots: { listChanged: true } },
          clientInfo: { name: 'me', version: '2' },
        },
      },
      { method: 'tools/list' },
    ])
    expect(server.notifications[0]).toMatchObject({ method: 'notifications/initialized' })
  })

  it('is not cancelled, and nothing is asked before it is answered [C-060]', async () => {
    const server = createOlder({ initialize: () => undefined })
    const stop = new AbortController()
    const connecting = connect(server, { signal: stop.signal, logLevel: 'info' })
    await turn()
    expect(server.requests.map(({ method }) => method)).toEqual(['server/discover', 'initialize'])
    stop.abort()
    await expect(connecting).rejects.toMatchObject({ reason: 'cancelled' })
    await turn()
    expect(server.notifications).toEqual([])
  })

  it('ends in a disconnect when the server wants a version that is not known [C-061]', async () => {
    const server = createOlder({}, '2031-01-01')
    await expect(connect(server)).rejects.toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
    expect(server.notifications).toEqual([])
    await expect.poll(() => server.isOpen()).toBe(false)
  })

  it.each(REVISIONS.filter((each) => each < '2026'))(
    'goes on in %s, if that is what the server speaks [C-060]',
    async (revision) => {
      await using client = await connect(createOlder({}, revision))
      expect(client.revision).toBe(revision)
    },
  )
})

/** What a client with these callbacks answers to a request of the server. */
async function answered(options: ClientOptions, method: string, params: object = {}): Promise<JsonObject> {
  const server = createOlder()
  await using _client = await connect(server, options)
  server.send({ id: 'q', method, params })
  await expect.poll(() => server.responses).toHaveLength(1)
  return server.responses[0] as unknown as JsonObject
}

const said = { role: 'assistant', content: { type: 'text', text: 'y' }, model: 'm' } as const
const text = (role: string) => ({ role, content: { type: 'text', text: 'x' } })
const use = { role: 'assistant', content: { type: 'tool_use', id: '1', name: 't', input: {} } }
const visit = { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: '1' }

describe('a request of a server of the older era', () => {
  it('is answered at once when it is a ping, also while everything else waits [C-069]', async () => {
    const server = createOlder({ 'tools/call': () => undefined })
    await using client = await connect(server, { onElicit: () => new Promise(() => {}) })
    void client.callTool('t').catch(() => {})
    server.send({ id: 'a', method: 'elicitation/create', params: QUESTION.params })
    server.send({ id: 'p', method: 'ping' })
    await turn()
    expect(server.responses).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }])
  })

  it.each([
    ['roots without roots', {}, 'roots/list', {}, -32601],
    ['forms without a callback', {}, 'elicitation/create', QUESTION.params, -32601],
    [
      'a visit where only forms were declared',
      { onElicit: decline, elicitationModes: ['form'] },
      'elicitation/create',
      visit,
      -32602,
    ],
    [
      'a model that the user keeps back',
      { onSample: reject },
      'sampling/createMessage',
      { messages: [text('user')], maxTokens: 1 },
      -1,
    ],
    [
      'a model with tools, undeclared',
      { onSample: () => said },
      'sampling/createMessage',
      { messages: [], maxTokens: 1, tools: [] },
      -32602,
    ],
    [
      'a model with uses of tools that have no results',
      { onSample: () => said, sampling: { tools: true } },
      'sampling/createMessage',
      { messages: [use, text('user')], maxTokens: 1 },
      -32602,
    ],
    ['what nobody knows', { onElicit: decline }, 'x/y', {}, -32601],
  ] as [string, ClientOptions, string, object, number][])(
    'that asks for %s is refused with its code [C-065]',
    async (_, options, method, params, code) => {
      expect(await answered(options, method, params)).toMatchObject({ id: 'q', error: { code } })
    },
  )

  it('is answered with what the callback gives [C-065]', async () => {
    expect(await answered({ onElicit: decline }, 'elicitation/create', QUESTION.params)).toMatchObject({
      result: { action: 'decline' },
    })
    expect(await answered({ roots: [{ uri: 'file:///a' }] }, 'roots/list')).toMatchObject({
      result: { roots: [{ uri: 'file:///a' }] },
    })
  })
})

function decline() {
  return { action: 'decline' } as const
}

function reject(): never {
  throw userRejected()
}

describe('a server of one older revision', () => {
  it('may answer by an array of messages in 2025-03-26 [C-066]', async () => {
    const server = createOlder({ 'tools/call': () => undefined }, '2025-03-26')
    await using client = await connect(server)
    const calls = [client.callTool('a'), client.callTool('b')]
    await turn()
    const answers = server
      .asked('tools/call')
      .map(({ id, params }) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params?.name }] } }))
    server.send([...answers, { jsonrpc: '2.0', id: 'p', method: 'ping' }])
    expect((await Promise.all(calls)).map(({ content }) => content)).toMatchObject([[{ text: 'a' }], [{ text: 'b' }]])
    await turn()
    expect(server.responses).toEqual([[{ jsonrpc: '2.0', id: 'p', result: {} }]])
  })

  it('may tell that visits are over which nobody made [C-067]', async () => {
    const server = createOlder({ 'tools/call': () => ({ content: [] }) })
    const reports: Error[] = []
    await using client = await connect(server, { onWarning: (report) => reports.push(report) })
    server.send({ method: 'notifications/elicitation/complete', params: { elicitationId: 'of nobody' } })
    server.send({ method: 'notifications/elicitation/complete', params: {} })
    await turn()
    expect(await client.callTool('t')).toMatchObject({ content: [] })
    expect(server.responses).toEqual([])
    expect(reports).toEqual([])
  })

  it('has the user visit what a call needs, and is called again when they agreed [C-067]', async () => {
    let calls = 0
    const server = createOlder({
      'tools/call': () =>
        ++calls === 1 ? { code: -32042, message: 'Visit', data: { elicitations: [visit] } } : { content: [] },
    })
    const visited: string[] = []
    await using client = await connect(server, {
      onElicit(ask) {
        visited.push(ask.mode === 'url' ? ask.url : ask.mode)
        return { action: 'accept' }
      },
    })
    expect(await client.callTool('t')).toMatchObject({ content: [] })
    expect(visited).toEqual(['https://a.example'])
  })

  it('is started no experimental task on, whatever it declares [C-068]', async () => {
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
    const tool = { name: 't', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } }
    const server = createOlder({
      initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tasks, tools: {} }, serverInfo: OLD }),
      'tools/list': () => ({ tools: [tool] }),
      'tools/call': () => ({ content: [] }),
    })
    await using client = await connect(server, { onElicit: decline })
    await client.listTools().all()
    await client.callTool('t')
    expect(server.asked('tools/call')[0]?.params).toEqual({ name: 't' })
    expect(server.asked('initialize')[0]?.params?.capabilities).not.toHaveProperty('tasks')
  })
})
