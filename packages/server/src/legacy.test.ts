import { eraOf, type JsonObject, REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, inputRequired, RpcError } from './index.ts'
import { closeAll, connect, connectRaw, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

const legacyRevisions = REVISIONS.filter((revision) => eraOf(revision) === 'legacy')

describe('the legacy era', () => {
  it.each(legacyRevisions)('negotiates %s and sends only members of that revision [S-150, S-152]', async (revision) => {
    const server = createServer(
      { name: 's', version: '1', title: 'S' },
      { instructions: 'be kind', listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) },
    )
    const peer = await connectRaw(server)
    const result = await peer.raw('initialize', {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    expect(result).toMatchObject({
      protocolVersion: revision,
      capabilities: { tools: {} },
      instructions: 'be kind',
    })
    expect(result.serverInfo?.title).toBe(revision < '2025-06-18' ? undefined : 'S')
    expect(result).not.toHaveProperty('resultType')
  })

  it.each(['2026-07-28', '1999-01-01', 'x'])(
    'offers its newest revision to a client that requests %s [S-150]',
    async (protocolVersion) => {
      const peer = await connectRaw(oneTool(() => text(1)))
      const result = await peer.raw('initialize', {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      })
      expect(result.protocolVersion).toBe('2025-11-25')
    },
  )

  it('answers only ping before the handshake, and accepts one handshake [S-153]', async () => {
    const peer = await connectRaw(oneTool(() => text(1)))
    expect(await peer.raw('ping')).toEqual({})
    expect(await peer.raw('tools/list')).toMatchObject({ code: -32600, message: expect.stringContaining('initialize') })
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect(await peer.raw('initialize', {})).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.'),
    })
    expect(await peer.raw('initialize', hello)).toMatchObject({ protocolVersion: '2025-11-25' })
    expect(await peer.raw('initialize', hello)).toMatchObject({
      code: -32600,
      message: expect.stringContaining('already'),
    })
    expect(await peer.raw('ping')).toEqual({})
  })

  it('accepts a handshake of 64 Ki characters, and refuses more by name', async () => {
    const handshake = (capability: number, name: number) => ({
      protocolVersion: '2025-11-25',
      capabilities: { experimental: { a: { b: 'x'.repeat(capability) } } },
      clientInfo: { name: 'c', version: '1', note: 'x'.repeat(name) },
    })
    const large = await connectRaw(oneTool(() => text(1)))
    expect(await large.raw('initialize', handshake(65_000, 65_000))).toMatchObject({ protocolVersion: '2025-11-25' })
    const refused = await connectRaw(oneTool(() => text(1)))
    for (const [capability, name, member] of [
      [65_536, 1, 'capabilities'],
      [1, 65_536, 'clientInfo'],
    ] as const) {
      expect(await refused.raw('initialize', handshake(capability, name))).toMatchObject({
        code: -32602,
        message: expect.stringMatching(`params.${member}: expected at most 65536 characters of JSON, got 655\\d\\d`),
      })
    }
    expect(await refused.raw('initialize', handshake(1, 1))).toMatchObject({ protocolVersion: '2025-11-25' })
  })

  it('refuses subscriptions to more than 256 Ki characters of URIs, but not the same ones again', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      {
        listResources: () => ({ resources: [] }),
        readResource: () => ({ contents: [] }),
        subscribe: () => {},
        unsubscribe: () => {},
      },
    )
    const peer = await connect(server, '2025-11-25')
    const uriOf = (index: number) => `a://${index}`.padEnd(8_192, 'x')
    for (let index = 0; index < 32; index++) {
      expect(await peer.call('resources/subscribe', { uri: uriOf(index) })).toEqual({})
    }
    expect(await peer.call('resources/subscribe', { uri: 'b://x' })).toMatchObject({
      code: -32600,
      message: 'Too many subscriptions: at most 262144 characters of URIs for a session; unsubscribe from some',
    })
    expect(await peer.call('resources/subscribe', { uri: uriOf(0) })).toEqual({})
    expect(await peer.call('resources/unsubscribe', { uri: uriOf(0) })).toEqual({})
    expect(await peer.call('resources/subscribe', { uri: 'b://x' })).toEqual({})
  })

  it('enforces the limit of subscriptions on concurrent requests, and ends refused subscriptions', async () => {
    const subscribed = new Set<string>()
    const server = createServer(
      { name: 's', version: '1' },
      {
        limits: { subscriptions: 5 },
        listResources: () => ({ resources: [] }),
        readResource: () => ({ contents: [] }),
        async subscribe({ uri }) {
          await Promise.resolve()
          subscribed.add(uri)
        },
        unsubscribe: ({ uri }) => void subscribed.delete(uri),
      },
    )
    const peer = await connect(server, '2025-11-25')
    const subscribing = Array.from({ length: 20 }, (_, n) => peer.call('resources/subscribe', { uri: `a://${n}` }))
    const refused = (await Promise.all(subscribing)).filter(({ code }) => code !== undefined)
    expect(refused).toHaveLength(15)
    expect(refused[0]).toMatchObject({ code: -32600, message: expect.stringContaining('at most 5 for a session') })
    expect(subscribed.size).toBe(5)
  })

  it('converts an error for missing capabilities that has no data', async () => {
    const failing = async () => {
      throw new RpcError(-32021, 'The client must show forms')
    }
    const peer = await connect(oneTool(failing), '2025-11-25')
    const message = 'The client cannot be asked. The client must show forms'
    expect(await peer.call('tools/call', { name: 't' })).toMatchObject({ isError: true, content: [{ text: message }] })
  })

  it('sends logs at or above the level of the session', async () => {
    const server = oneTool(
      async (_, { log }) => {
        await log.debug('d')
        await log.warning('w', 'here')
        await log.error({ e: 1 })
        return text(1)
      },
      { logging: true },
    )
    const peer = await connect(server, '2025-11-25')
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard.map(({ params }) => params)).toEqual([
      { level: 'warning', logger: 'here', data: 'w' },
      { level: 'error', data: { e: 1 } },
    ])
    expect(await peer.call('logging/setLevel', { level: 'error' })).toEqual({})
    peer.heard.length = 0
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard.map(({ params }) => params?.level)).toEqual(['error'])
    expect(await peer.call('logging/setLevel', { level: 'loud' })).toMatchObject({ code: -32602 })
  })

  it('adds an id to a URL elicitation and notifies its completion', async () => {
    const server = oneTool(async (_, ctx) =>
      text(await ctx.openUrl('u', { message: 'go', url: 'https://example.com' })),
    )
    let seen: JsonObject = {}
    const peer = await connect(server, '2025-11-25', {
      'elicitation/create'(params) {
        seen = params
        return { action: 'accept' }
      },
    })
    await peer.call('tools/call', { name: 't' })
    expect(seen).toMatchObject({ mode: 'url', url: 'https://example.com', elicitationId: expect.any(String) })
    expect(peer.heard).toMatchObject([
      { method: 'notifications/elicitation/complete', params: { elicitationId: seen.elicitationId } },
    ])
  })

  it('notifies the completion of all URLs of a call, also of those in inputRequired() and in earlier runs', async () => {
    const openUrl = (url: string) =>
      ({ method: 'elicitation/create', params: { mode: 'url', message: 'go', url } }) as const
    const server = oneTool(async (_, ctx) => {
      if (ctx.requestState !== undefined) return text(1)
      await ctx.openUrl('u', { message: 'go', url: 'https://example.com/1' })
      return inputRequired({ v: openUrl('https://example.com/2') }, 'again')
    })
    const seen: unknown[] = []
    const peer = await connect(server, '2025-11-25', {
      'elicitation/create'({ elicitationId }) {
        seen.push(elicitationId)
        return { action: 'accept' }
      },
    })
    await peer.call('tools/call', { name: 't' })
    expect(seen).toHaveLength(2)
    expect(peer.heard.map(({ params }) => params?.elicitationId)).toEqual(seen)
  })
})
