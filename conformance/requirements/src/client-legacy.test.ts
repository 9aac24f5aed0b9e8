import { type ClientOptions, connect } from '@mcpx/client'
import { type JsonObject, REVISIONS, userRejected } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { turn } from './raw-client.ts'
import { type AnswerHandler, createRawServer, INPUT_REQUEST } from './raw-server.ts'

afterEach(() => void vi.useRealTimers())

const unknown = { code: -32601, message: 'Method not found' }
const hello = (protocolVersion: string) => () => ({ protocolVersion, capabilities: {}, serverInfo: OLD })
const OLD = { name: 'old', version: '1' }

/** A legacy server, which does not know `server/discover`. */
function createLegacyServer(answers: Readonly<Record<string, AnswerHandler>> = {}, revision = '2025-11-25') {
  return createRawServer({ 'server/discover': () => unknown, initialize: hello(revision), ...answers })
}

describe('the handshake', () => {
  it('requests the latest legacy version, and sends notifications/initialized before other messages [C-060]', async () => {
    const server = createLegacyServer({ 'tools/list': () => ({ tools: [] }) })
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

  it('is not cancelled, and no request is sent before its response [C-060]', async () => {
    const server = createLegacyServer({ initialize: () => undefined })
    const stop = new AbortController()
    const connecting = connect(server, { signal: stop.signal, logLevel: 'info' })
    await turn()
    expect(server.requests.map(({ method }) => method)).toEqual(['server/discover', 'initialize'])
    stop.abort()
    await expect(connecting).rejects.toMatchObject({ reason: 'cancelled' })
    await turn()
    expect(server.notifications).toEqual([])
  })

  it('disconnects if the server responds with an unknown version [C-061]', async () => {
    const server = createLegacyServer({}, '2031-01-01')
    await expect(connect(server)).rejects.toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
    expect(server.notifications).toEqual([])
    await expect.poll(() => server.isOpen()).toBe(false)
  })

  it.each(REVISIONS.filter((each) => each < '2026'))(
    'negotiates %s if the server supports only that version [C-060]',
    async (revision) => {
      await using client = await connect(createLegacyServer({}, revision))
      expect(client.revision).toBe(revision)
    },
  )
})

/** Returns the response of a client with these options to a request of the server. */
async function answered(options: ClientOptions, method: string, params: object = {}): Promise<JsonObject> {
  const server = createLegacyServer()
  await using _client = await connect(server, options)
  server.send({ id: 'q', method, params })
  await expect.poll(() => server.responses).toHaveLength(1)
  return server.responses[0] as unknown as JsonObject
}

const said = { role: 'assistant', content: { type: 'text', text: 'y' }, model: 'm' } as const
const text = (role: string) => ({ role, content: { type: 'text', text: 'x' } })
const use = { role: 'assistant', content: { type: 'tool_use', id: '1', name: 't', input: {} } }
const visit = { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: '1' }

describe('a request of a legacy server', () => {
  it('is answered at once if it is a ping, also while other requests are pending [C-069]', async () => {
    const server = createLegacyServer({ 'tools/call': () => undefined })
    await using client = await connect(server, { onElicit: () => new Promise(() => {}) })
    void client.callTool('t').catch(() => {})
    server.send({ id: 'a', method: 'elicitation/create', params: INPUT_REQUEST.params })
    server.send({ id: 'p', method: 'ping' })
    await turn()
    expect(server.responses).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }])
  })

  it.each([
    ['roots without roots', {}, 'roots/list', {}, -32601],
    ['forms without a callback', {}, 'elicitation/create', INPUT_REQUEST.params, -32601],
    [
      'a URL elicitation if only forms were declared',
      { onElicit: decline, elicitationModes: ['form'] },
      'elicitation/create',
      visit,
      -32602,
    ],
    [
      'sampling that the user rejects',
      { onSample: reject },
      'sampling/createMessage',
      { messages: [text('user')], maxTokens: 1 },
      -1,
    ],
    [
      'sampling with undeclared tools',
      { onSample: () => said },
      'sampling/createMessage',
      { messages: [], maxTokens: 1, tools: [] },
      -32602,
    ],
    [
      'sampling with tool uses without results',
      { onSample: () => said, sampling: { tools: true } },
      'sampling/createMessage',
      { messages: [use, text('user')], maxTokens: 1 },
      -32602,
    ],
    ['an unknown method', { onElicit: decline }, 'x/y', {}, -32601],
  ] as [string, ClientOptions, string, object, number][])(
    'for %s is rejected with its error code [C-065]',
    async (_, options, method, params, code) => {
      expect(await answered(options, method, params)).toMatchObject({ id: 'q', error: { code } })
    },
  )

  it('is answered with the result of the callback [C-065]', async () => {
    expect(await answered({ onElicit: decline }, 'elicitation/create', INPUT_REQUEST.params)).toMatchObject({
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

describe('a server of a legacy revision', () => {
  it('may send batches in 2025-03-26 [C-066]', async () => {
    const server = createLegacyServer({ 'tools/call': () => undefined }, '2025-03-26')
    await using client = await connect(server)
    const calls = [client.callTool('a'), client.callTool('b')]
    await turn()
    const answers = server
      .requestsOf('tools/call')
      .map(({ id, params }) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params?.name }] } }))
    server.send([...answers, { jsonrpc: '2.0', id: 'p', method: 'ping' }])
    expect((await Promise.all(calls)).map(({ content }) => content)).toMatchObject([[{ text: 'a' }], [{ text: 'b' }]])
    await turn()
    expect(server.responses).toEqual([[{ jsonrpc: '2.0', id: 'p', result: {} }]])
  })

  it('may send completions of unknown URL elicitations [C-067]', async () => {
    const server = createLegacyServer({ 'tools/call': () => ({ content: [] }) })
    const warnings: Error[] = []
    await using client = await connect(server, { onWarning: (warning) => warnings.push(warning) })
    server.send({ method: 'notifications/elicitation/complete', params: { elicitationId: 'of nobody' } })
    server.send({ method: 'notifications/elicitation/complete', params: {} })
    await turn()
    expect(await client.callTool('t')).toMatchObject({ content: [] })
    expect(server.responses).toEqual([])
    expect(warnings).toEqual([])
  })

  it('may require a URL elicitation by an error, and is called again after the user accepted [C-067]', async () => {
    let calls = 0
    const server = createLegacyServer({
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

  it('receives no experimental task requests [C-068]', async () => {
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
    const tool = { name: 't', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } }
    const server = createLegacyServer({
      initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tasks, tools: {} }, serverInfo: OLD }),
      'tools/list': () => ({ tools: [tool] }),
      'tools/call': () => ({ content: [] }),
    })
    await using client = await connect(server, { onElicit: decline })
    await client.listTools().all()
    await client.callTool('t')
    expect(server.requestsOf('tools/call')[0]?.params).toEqual({
      name: 't',
      arguments: {},
      _meta: { progressToken: expect.any(Number) },
    })
    expect(server.requestsOf('initialize')[0]?.params?.capabilities).not.toHaveProperty('tasks')
  })
})
