import {
  ConnectionError,
  type Connector,
  claimsModern,
  type JsonObject,
  type Requester,
  RpcError,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, META, scriptedServer, speaksOnly } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { createEraMemory } from './detect-era.ts'

const answers = { 'tools/call': () => ({ content: [] }) }
const legacy = () => scriptedServer('2025-11-25', { answers })
const modern = () => scriptedServer('2026-07-28', { answers })

/** A server that answers its first request in its own way, and is legacy or modern from then on. */
function probedServer(first: (message: JsonObject) => object, then = legacy()) {
  let isFirst = true
  return {
    ...then,
    respond(...[message, exchange]: Parameters<typeof then.respond>) {
      if (!isFirst || !('id' in message)) return then.respond(message, exchange)
      isFirst = false
      then.heard.push(message)
      return { jsonrpc: '2.0', id: message.id, ...first(message as unknown as JsonObject) } as never
    },
  }
}

/** A connector whose requests are answered by a function. */
function connectorWith(request: Requester['request'], extra: Partial<Connector> = {}): Connector & { closes: number } {
  const connector = {
    ...extra,
    closes: 0,
    connect: () => ({
      request,
      notify: () => {},
      async close() {
        connector.closes += 1
      },
      closed: new Promise<undefined>(() => {}),
    }),
  }
  return connector
}

describe('detecting the era', () => {
  it.each([
    ['an error of any code', () => ({ error: { code: -32601, message: 'Method not found' } })],
    ['an error of its own', () => ({ error: { code: -32000, message: 'Not initialized' } })],
    [
      'an error of an old draft',
      () => ({ error: { code: -32004, message: '?', data: { supported: ['2026-07-28'] } } }),
    ],
    ['the newest code without its data', () => ({ error: { code: -32022, message: '?' } })],
    ['a result that is nothing', () => ({ result: {} })],
  ])('treats %s as legacy [C-020, C-021]', async (_, first) => {
    const server = probedServer(first)
    await using client = await connect(server)
    expect(client.revision).toBe('2025-11-25')
    expect(server.heard.map(({ method }) => method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
    ])
  })

  it('treats silence as legacy, and does not remember it [C-021]', async () => {
    const server = legacy()
    const eraMemory = createEraMemory()
    const connector = connectorTo(
      () => ({
        respond: (message, exchange) =>
          message.method === 'server/discover' ? new Promise<never>(() => {}) : server.respond(message, exchange),
      }),
      { probeTimeout: 20, peer: 'silent' },
    )
    await using client = await connect(connector, { eraMemory })
    expect(client.era).toBe('legacy')
    expect(connector.connections).toBe(1)
    expect(eraMemory.get('silent')).toBeUndefined()
  })

  it.each([
    ['to the probe', undefined, 'server/discover', 'No response to server/discover within 20 ms'],
    ['of a server that was legacy', 'legacy', 'initialize', 'No response to initialize within 20 ms'],
  ] as const)('fails for silence %s if the connector says so [C-026]', async (_, known, asked, message) => {
    const eraMemory = createEraMemory()
    if (known !== undefined) await eraMemory.set('silent', known)
    const methods: string[] = []
    const connector = connectorTo(
      () => ({
        respond(message) {
          methods.push(message.method)
          return new Promise<never>(() => {})
        },
      }),
      { probeTimeout: 20, peer: 'silent', silence: 'nothing' },
    )
    await expect(connect(connector, { eraMemory, timeout: 20 })).rejects.toMatchObject({ reason: 'timeout', message })
    expect(methods).toEqual([asked])
    expect(eraMemory.get('silent')).toBe(known)
  })

  it('connects again to a legacy server that does not survive the probe', async () => {
    const server = legacy()
    const connector = connectorTo((count) => ({
      respond(message, exchange) {
        if (count > 1) return server.respond(message, exchange)
        void connector.server.close()
        return new Promise<never>(() => {})
      },
    }))
    await using client = await connect(connector)
    expect(client.era).toBe('legacy')
    expect(connector.connections).toBe(2)
    await client.callTool('add')
  })

  it('connects again to a legacy server that answers the probe and exits', async () => {
    const server = legacy()
    const connector = connectorTo((count) => ({
      respond(message, exchange) {
        if (count > 1) return server.respond(message, exchange)
        if (message.method !== 'server/discover') void connector.server.close()
        return server.respond(message, exchange)
      },
    }))
    await using client = await connect(connector)
    expect(client.era).toBe('legacy')
    expect(connector.connections).toBe(2)
  })

  /** A bridge that opens a session of its own for the probe, and then refuses another one. */
  function bridge(extra: Partial<Connector> = {}, initializesLater = true) {
    const server = legacy()
    const connector = connectorTo((count) => {
      let isInitialized = count > 1 && !initializesLater
      return {
        respond(message, exchange) {
          if ('id' in message && message.method === 'initialize' && isInitialized) {
            server.heard.push(message)
            const error = { code: -32600, message: 'Invalid Request: Server already initialized' }
            return { jsonrpc: '2.0', id: message.id, error } as never
          }
          isInitialized = true
          return server.respond(message, exchange)
        },
      }
    }, extra)
    const handshakes = () => server.heard.map(({ method }) => method).filter((method) => !method.startsWith('not'))
    return { connector, handshakes }
  }

  it('starts a server again that answers the probe and then refuses initialize, with a warning', async () => {
    const { connector, handshakes } = bridge()
    const warnings: Error[] = []
    await using client = await connect(connector, { onWarning: (warning) => void warnings.push(warning) })
    expect(client.era).toBe('legacy')
    expect(handshakes()).toEqual(['server/discover', 'initialize', 'initialize'])
    expect(connector.connections).toBe(2)
    expect(warnings).toMatchObject([
      {
        reason: 'refused',
        message: 'The server refused initialize after server/discover: it was started again without server/discover',
        cause: { code: -32600 },
      },
    ])
  })

  it('starts a server again once, and rejects with its last refusal', async () => {
    const { connector, handshakes } = bridge({}, false)
    const warnings: Error[] = []
    const connecting = connect(connector, { onWarning: (warning) => void warnings.push(warning) })
    await expect(connecting).rejects.toMatchObject({ name: 'RpcError', code: -32600 })
    expect(handshakes()).toEqual(['server/discover', 'initialize', 'initialize'])
    expect(connector.connections).toBe(2)
    expect(warnings).toEqual([])
  })

  it('does not connect again over a network when initialize is refused', async () => {
    const { connector, handshakes } = bridge({ silence: 'nothing' })
    await expect(connect(connector)).rejects.toMatchObject({ name: 'RpcError', code: -32600 })
    expect(handshakes()).toEqual(['server/discover', 'initialize'])
    expect(connector.connections).toBe(1)
  })

  it('repeats the probe in the revision that a modern server names [C-007, C-022]', async () => {
    const server = probedServer(() => ({ error: speaksOnly('2026-07-28', ['2027-01-01', '2026-07-28']) }), modern())
    await using client = await connect(server)
    expect(client.revision).toBe('2026-07-28')
    expect(server.asked('server/discover')).toHaveLength(2)
    expect(server.asked('initialize')).toHaveLength(0)
  })

  it('does not repeat the probe twice [C-007]', async () => {
    let count = 0
    const connector = connectorWith(async () => {
      count += 1
      throw speaksOnly('2026-07-28', ['2026-07-28'])
    })
    await expect(connect(connector)).rejects.toMatchObject({ code: -32022 })
    expect(count).toBe(2)
    expect(connector.closes).toBe(1)
  })

  it.each([
    ['a refusal', () => ({ error: speaksOnly('2026-07-28', ['2024-11-05', '2025-06-18']) })],
    ['a discovery', () => ({ result: { supportedVersions: ['2025-06-18'], capabilities: {} } })],
  ])('opens a legacy session when %s names only legacy revisions', async (_, first) => {
    const server = probedServer(first, scriptedServer('2025-06-18'))
    await using client = await connect(server)
    expect(client.revision).toBe('2025-06-18')
    expect(server.asked('initialize')[0]?.params?.protocolVersion).toBe('2025-06-18')
  })

  it.each([-32020, -32021])('stays modern when the server refuses with %i [C-022]', async (code) => {
    const server = probedServer(() => ({ error: { code, message: 'no' } }))
    await expect(connect(server)).rejects.toMatchObject({ name: 'RpcError', code })
    expect(server.asked('initialize')).toHaveLength(0)
  })

  it('rejects when there is no mutual revision', async () => {
    const server = probedServer(() => ({ result: { supportedVersions: ['2031-01-01'], capabilities: {} } }))
    await expect(connect(server)).rejects.toMatchObject({
      reason: 'unsupported',
      message: expect.stringContaining('2031'),
    })
    const refusing = probedServer(() => ({ error: speaksOnly('2026-07-28', ['2031-01-01']) }))
    await expect(connect(refusing)).rejects.toMatchObject({ code: -32022 })
  })

  it('rejects when the response to server/discover has the wrong shape', async () => {
    const server = probedServer(() => ({ result: { supportedVersions: '2026-07-28', capabilities: {} } }))
    await expect(connect(server)).rejects.toMatchObject({ reason: 'invalid-message' })
  })

  it.each([401, 403, 407, 408, 429, 500, 503])('fails for status %i [C-026]', async (status) => {
    const methods: string[] = []
    const connector = connectorWith(async (method) => {
      methods.push(method)
      throw new ConnectionError('refused', `Status ${status}`, { status })
    })
    await expect(connect(connector)).rejects.toMatchObject({ reason: 'refused', status })
    expect(methods).toEqual(['server/discover'])
    expect(connector.closes).toBe(1)
  })

  it.each(['unreachable', 'limit'] as const)('fails for a connection that is "%s"', async (reason) => {
    const connector = connectorWith(async () => {
      throw new ConnectionError(reason, 'no')
    })
    await expect(connect(connector)).rejects.toMatchObject({ reason })
  })

  it.each([400, 404, 405, 406])('treats status %i as legacy', async (status) => {
    const connector = connectorWith(async (method) => {
      if (method === 'server/discover') throw new ConnectionError('refused', `Status ${status}`, { status })
      return { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 's', version: '1' } }
    })
    await using client = await connect(connector)
    expect(client.revision).toBe('2025-03-26')
  })

  it('fails for a mute server within connectTimeout, and quotes what it sent instead', async () => {
    const methods: string[] = []
    const silent = connectorTo(
      () => ({
        respond(message) {
          methods.push(message.method)
          return new Promise<never>(() => {})
        },
      }),
      { probeTimeout: 20 },
    )
    const noisy: Connector = {
      ...silent,
      connect(options) {
        options.onWarning(new ConnectionError('invalid-message', 'The server wrote a line: "http://127.0.0.1:3000"'))
        return silent.connect(options)
      },
    }
    const warnings: string[] = []
    const begun = performance.now()
    const connecting = connect(noisy, { connectTimeout: 60, onWarning: ({ message }) => warnings.push(message) })
    await expect(connecting).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'timeout',
      message:
        'No response to server/discover within 20 ms, nor to initialize within 40 ms. The server wrote a line: "http://127.0.0.1:3000"',
      hint: 'Check that the command starts an MCP server that writes only messages to its standard output; or pass a longer connectTimeout.',
      cause: { reason: 'invalid-message' },
    })
    expect(performance.now() - begun).toBeLessThan(2_000)
    expect(methods).toEqual(['server/discover', 'initialize'])
    expect(warnings).toEqual(['The server wrote a line: "http://127.0.0.1:3000"'])
  })

  it('names a mute server, not its era, when the modern era is required', async () => {
    const connector = connectorTo(() => ({ respond: () => new Promise<never>(() => {}) }))
    await expect(connect(connector, { era: 'modern', connectTimeout: 20 })).rejects.toMatchObject({
      reason: 'timeout',
      message: 'No response to server/discover within 20 ms',
    })
  })

  it.each([
    [{}, [5_000, 25_000]],
    [{ probeTimeout: 20_000 }, [20_000, 10_000]],
    [{ probeTimeout: 60_000 }, [15_000, 15_000]],
    [{ probeTimeout: 10_000, silence: 'nothing' }, [10_000]],
    [{ probeTimeout: 60_000, silence: 'nothing' }, [30_000]],
  ] as const)('gives a silent server 30 s in all (%j)', async (extra, times) => {
    const given: unknown[] = []
    const connector = connectorWith(async (_, __, options) => {
      given.push(options?.timeout)
      throw new ConnectionError('timeout', 'no answer')
    }, extra)
    await expect(connect(connector)).rejects.toMatchObject({ reason: 'timeout' })
    expect(given).toEqual(times)
  })

  it('reconnects although the signal for connecting has fired since', async () => {
    const stop = new AbortController()
    const connector = connectorTo(modern)
    await using client = await connect(connector, { signal: stop.signal })
    stop.abort()
    await client.callTool('add')
    await connector.server.close()
    await new Promise((resolve) => setTimeout(resolve))
    await client.callTool('add')
    expect(connector.connections).toBe(2)
  })

  it('can be cancelled', async () => {
    const stop = new AbortController()
    const connecting = connect(
      connectorTo(() => ({ respond: () => new Promise<never>(() => {}) })),
      { signal: stop.signal },
    )
    stop.abort()
    await expect(connecting).rejects.toMatchObject({ reason: 'cancelled' })
  })
})

describe('the legacy handshake', () => {
  it('announces no cancellation, and neither does the probe', async () => {
    const announced: [string, boolean | undefined][] = []
    const connector = connectorWith(async (method, _params, options) => {
      announced.push([method, options?.announceCancel])
      throw new ConnectionError('timeout', 'no answer')
    })
    await expect(connect(connector)).rejects.toMatchObject({ reason: 'timeout' })
    expect(announced).toEqual([
      ['server/discover', false],
      ['initialize', false],
    ])
  })

  it('disconnects when the server selects an unknown revision', async () => {
    const server = scriptedServer('2025-11-25', {
      answers: {
        initialize: () => ({
          protocolVersion: '2023-01-01',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        }),
      },
    })
    const connector = connectorTo(() => server)
    await expect(connect(connector)).rejects.toMatchObject({ reason: 'unsupported' })
    await connector.server.closed
    expect(server.heard.at(-1)?.method).toBe('initialize')
  })

  it.each([
    ['2024-10-07', '2024-11-05'],
    ['2025-01-01', '2024-11-05'],
    ['2025-10-31', '2025-06-18'],
  ])(
    'continues with an older revision when the server selects the unknown %s, with a warning',
    async (selected, spoken) => {
      const serverInfo = { name: 's', version: '1' }
      const answers = { initialize: () => ({ protocolVersion: selected, capabilities: {}, serverInfo }) }
      const warnings: string[] = []
      const onWarning = ({ message }: Error) => void warnings.push(message)
      await using client = await connect(scriptedServer('2025-11-25', { answers }), { onWarning })
      expect(client.revision).toBe(spoken)
      expect(warnings).toEqual([
        `The server selected the unknown protocol version "${selected}": ${spoken} is used instead`,
      ])
      const pinned = connect(scriptedServer('2025-11-25', { answers }), { era: '2025-06-18' })
      await expect(pinned).rejects.toMatchObject({ reason: 'unsupported' })
    },
  )

  it('offers the revision that a server names in its refusal', async () => {
    const offers: unknown[] = []
    const serverInfo = { name: 's', version: '1' }
    const server = scriptedServer('2024-11-05', {
      answers: {
        initialize({ params: { protocolVersion } }) {
          offers.push(protocolVersion)
          if (protocolVersion !== '2024-11-05') {
            throw new RpcError(-32602, 'Unsupported', { data: { supported: ['2024-11-05'] } })
          }
          return { protocolVersion, capabilities: {}, serverInfo }
        },
      },
    })
    await using client = await connect(server)
    expect(offers).toEqual(['2025-11-25', '2024-11-05'])
    expect(client.revision).toBe('2024-11-05')
  })

  it('passes the negotiated revision to the transport', async () => {
    const server = legacy()
    const base = connectorTo(() => server)
    const told: string[] = []
    await using _client = await connect({
      async connect(options) {
        const connection = await base.connect(options)
        return Object.assign(connection, {
          negotiated(revision: string) {
            told.push(revision)
          },
        })
      },
    })
    expect(told).toEqual(['2025-11-25'])
  })
})

describe('a pinned era', () => {
  it('needs no probe when it is legacy [C-027]', async () => {
    const server = legacy()
    await using _client = await connect(server, { era: 'legacy' })
    expect(server.heard[0]?.method).toBe('initialize')
  })

  it('never falls back to legacy', async () => {
    const server = legacy()
    await expect(connect(server, { era: 'modern' })).rejects.toMatchObject({ reason: 'unsupported' })
    expect(server.asked('initialize')).toHaveLength(0)
  })

  it('can be a revision, which the server must accept', async () => {
    const server = scriptedServer('2025-03-26')
    await using client = await connect(server, { era: '2025-03-26' })
    expect(server.asked('initialize')[0]?.params?.protocolVersion).toBe('2025-03-26')
    expect(client.revision).toBe('2025-03-26')
    await expect(connect(scriptedServer('2025-03-26'), { era: '2025-06-18' })).rejects.toMatchObject({
      reason: 'unsupported',
    })
    await using newer = await connect(modern(), { era: '2026-07-28' })
    expect(newer.revision).toBe('2026-07-28')
  })
})

describe('a remembered era', () => {
  it('makes the probe of a legacy server unnecessary [C-024]', async () => {
    const server = legacy()
    const eraMemory = createEraMemory()
    const connector = connectorTo(() => server, { peer: 'here' })
    await (await connect(connector, { eraMemory })).close()
    await (await connect(connector, { eraMemory })).close()
    expect(server.asked('server/discover')).toHaveLength(1)
    expect(server.asked('initialize')).toHaveLength(2)
    expect(eraMemory.get('here')).toBe('legacy')
  })

  it('is detected again when it is no longer right [C-024]', async () => {
    const eraMemory = createEraMemory()
    await eraMemory.set('here', 'legacy')
    const server = modern()
    await using client = await connect(
      connectorTo(() => server, { peer: 'here' }),
      { eraMemory },
    )
    expect(client.era).toBe('modern')
    expect(eraMemory.get('here')).toBe('modern')
  })

  it('is detected again when a legacy server is replaced under an open client', async () => {
    let isNew = false
    const old = legacy()
    const replacement = modern()
    const connector = connectorTo(
      () => ({
        async respond(message, exchange) {
          if (!isNew) return old.respond(message, exchange)
          if (claimsModern(message) || !('id' in message)) return replacement.respond(message, exchange)
          return { jsonrpc: '2.0', id: message.id, error: speaksOnly('none', ['2026-07-28']) }
        },
      }),
      { peer: 'here' },
    )
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(client.era).toBe('legacy')
    isNew = true
    await expect(client.callTool('add')).rejects.toMatchObject({ code: -32022 })
    await client.callTool('add')
    expect(client.era).toBe('modern')
  })
})

describe('a connection that is lost', () => {
  it.each([
    ['legacy', legacy()],
    ['modern', modern()],
  ] as const)('is opened again by the next call (%s)', async (era, server) => {
    const connector = connectorTo(() => server)
    await using client = await connect(connector)
    await client.callTool('add')
    const before = connector.connections
    await connector.server.close()
    await new Promise((resolve) => setTimeout(resolve))
    await Promise.all([client.callTool('add'), client.callTool('add')])
    expect(connector.connections).toBeLessThanOrEqual(before + 1)
    expect(client.era).toBe(era)
  })
})

describe('a modern server', () => {
  it('receives the facts about the client with each request', async () => {
    const server = modern()
    await using client = await connect(server, { clientInfo: false })
    await client.callTool('add')
    for (const { params } of server.heard) {
      const { progressToken, ...meta } = (params?._meta ?? {}) as JsonObject
      const capabilities = { extensions: { [`${META}tasks`]: {} } }
      expect(meta).toEqual({ [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: capabilities })
    }
  })

  it('that refuses the revision of a call receives it once more [C-007]', async () => {
    let refusals = 0
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/call': () => {
          if (refusals++ % 3 < 1) throw speaksOnly('2026-07-28', ['2026-07-28'])
          return { content: [] }
        },
      },
    })
    await using client = await connect(server)
    await client.callTool('add')
    expect(server.asked('tools/call')).toHaveLength(2)
  })

  it.each([
    ['an unknown type', 'tools/call', { resultType: 'task', content: [] }],
    ['a number', 'tools/call', { resultType: 7, content: [] }],
    ['questions where there are none', 'tools/list', { resultType: 'input_required', requestState: 's', tools: [] }],
  ])('must not send %s as the resultType [C-006]', async (_, method, result) => {
    const server = scriptedServer('2026-07-28', { answers: { [method]: () => result } })
    await using client = await connect(server)
    await expect(client.request(method, { name: 'add' })).rejects.toMatchObject({ reason: 'invalid-message' })
  })

  it('can send a resultType of an extension that the caller supports', async () => {
    const server = scriptedServer('2026-07-28', { answers: { 'tools/call': () => ({ resultType: 'task', id: 1 }) } })
    await using client = await connect(server)
    const result = await client.request('tools/call', { name: 'add' }, { resultTypes: ['task'] })
    expect(result).toMatchObject({ resultType: 'task', id: 1 })
  })

  it('can omit the resultType [C-006]', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: { 'tools/call': () => ({ resultType: undefined, content: [] }) },
    })
    await using client = await connect(server)
    expect(await client.callTool('add')).toMatchObject({ content: [] })
  })

  it('has no ping, but a legacy server has', async () => {
    await using client = await connect(modern())
    await expect(client.ping()).rejects.toMatchObject({ reason: 'unsupported' })
    await using older = await connect(legacy())
    await older.ping()
  })
})

describe('a server that starts slowly', () => {
  /** Answers nothing until it has started. */
  function startingIn(ms: number, server: ReturnType<typeof modern>) {
    const started = new Promise((resolve) => setTimeout(resolve, ms))
    const respond: typeof server.respond = async (message, exchange) => {
      await started
      return server.respond(message, exchange)
    }
    return { ...server, respond }
  }

  it('is spoken to in the modern era when it refuses the handshake', async () => {
    const memory = createEraMemory()
    const connector = connectorTo(() => startingIn(200, modern()), { probeTimeout: 50, peer: 'slow' })
    await using client = await connect(connector, { eraMemory: memory })
    expect(client.era).toBe('modern')
    expect(connector.connections).toBe(1)
    expect(memory.get('slow')).toBe('modern')
  })

  it.each(['a timeout', 'a signal'])('that does not accept the end of the handshake is given up by %s', async (end) => {
    const memory = connectorTo(legacy)
    const connector: Connector = {
      async connect(options) {
        return Object.assign(await memory.connect(options), { notify: () => new Promise<void>(() => {}) })
      },
    }
    const options = end === 'a signal' ? { signal: AbortSignal.timeout(50) } : { connectTimeout: 50 }
    await expect(connect(connector, { era: 'legacy', ...options })).rejects.toMatchObject(
      end === 'a signal'
        ? { reason: 'cancelled' }
        : { reason: 'timeout', message: 'No response to notifications/initialized within 50 ms' },
    )
  })

  it('that does not answer logging/setLevel is given up after connectTimeout', async () => {
    const server = scriptedServer('2025-11-25', {
      capabilities: { logging: {} },
      answers: { 'logging/setLevel': () => new Promise(() => {}) },
    })
    await expect(connect(server, { era: 'legacy', logLevel: 'info', connectTimeout: 50 })).rejects.toMatchObject({
      reason: 'timeout',
      message: 'No response to logging/setLevel within 50 ms',
    })
  })
})

describe('a memory of eras that fails', () => {
  it('is a warning', async () => {
    const warnings: string[] = []
    const fail = () => {
      throw new Error('no memory')
    }
    await using client = await connect(
      connectorTo(() => modern(), { peer: 'here' }),
      { eraMemory: { get: fail, set: async () => fail() }, onWarning: ({ message }) => void warnings.push(message) },
    )
    expect(client.era).toBe('modern')
    expect(warnings).toEqual(['no memory', 'no memory'])
  })
})

describe('a call that needs a new connection', () => {
  it('ends when its signal fires while the server does not answer', async () => {
    const mute = { respond: () => new Promise<undefined>(() => {}) }
    const connector = connectorTo((count) => (count === 1 ? modern() : mute))
    await using client = await connect(connector)
    await connector.server.close()
    await new Promise((resolve) => setTimeout(resolve))
    const stop = new AbortController()
    const { signal } = stop
    const calls = [
      client.callTool('add', {}, { signal }),
      client.callTool('add', {}, { signal, onLog: () => {} }),
      client.discover({ signal }),
    ]
    setTimeout(() => stop.abort(), 20)
    const results = await Promise.allSettled(calls)
    expect(results).toMatchObject(Array(3).fill({ status: 'rejected', reason: { reason: 'cancelled' } }))
    expect(results[0]).toMatchObject({ reason: { message: 'tools/call "add" was cancelled' } })
  })
})
