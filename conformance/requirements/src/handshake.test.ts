import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectLegacyRawClient, connectRawClient, turn } from './raw-client.ts'

afterEach(closeAll)

const legacyRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const hello = (protocolVersion: string, capabilities = {}) => ({
  protocolVersion,
  capabilities,
  clientInfo: { name: 'wire', version: '1' },
})

describe('the handshake', () => {
  it.each([
    ...legacyRevisions.map((version) => [version, version]),
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['2031-01-01', '2025-11-25'],
    ['', '2025-11-25'],
  ])('with the version %j is answered with %s [S-150]', async (requestsOf, answered) => {
    const client = connectRawClient(createFullServer({ instructions: 'Be brief' }))
    expect((await client.ask('initialize', hello(requestsOf))).result).toMatchObject({
      protocolVersion: answered,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'full', version: '1.0.0' },
      instructions: 'Be brief',
    })
  })

  it('ends before notifications are sent', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await client.ask('initialize', hello('2025-11-25', { roots: {}, elicitation: {} }))
    server.tool('late', {}, () => '')
    server.resourceUpdated('config://app')
    await turn(5)
    expect(client.received).toHaveLength(1)
  })

  it('may be preceded and followed by a ping, which returns an empty result [S-153]', async () => {
    const client = connectRawClient(createFullServer())
    for (const params of [undefined, {}]) {
      expect(await client.ask('ping', params, 'p')).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
    }
    await client.ask('initialize', hello('2025-06-18'))
    expect(await client.ask('ping', undefined, 'q')).toEqual({ jsonrpc: '2.0', id: 'q', result: {} })
  })
})

describe('a session', () => {
  it.each(legacyRevisions)('of %s has only the methods and members of that revision [S-152]', async (version) => {
    const client = await connectLegacyRawClient(createFullServer(), version)
    for (const method of ['server/discover', 'subscriptions/listen', 'tasks/list']) {
      expect([method, (await client.ask(method, {})).error?.code]).toEqual([method, -32601])
    }
    const { result } = await client.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })
    for (const member of ['resultType', 'ttlMs', '_meta']) expect(result).not.toHaveProperty(member)
    expect(result?.structuredContent).toEqual(version < '2025-06-18' ? undefined : { text: 'hi' })
    const list = await client.ask('tools/list', {})
    for (const member of ['resultType', 'ttlMs', 'cacheScope']) expect(list.result).not.toHaveProperty(member)
  })

  it('sends only input requests that were declared in the handshake [S-152]', async () => {
    const requestsOf: string[] = []
    const answer = (method: string) => {
      requestsOf.push(method)
      return method === 'roots/list' ? { roots: [{ uri: 'file:///w' }] } : { action: 'decline' }
    }
    const bare = await connectLegacyRawClient(createFullServer(), '2025-11-25', { answer })
    expect((await bare.ask('tools/call', { name: 'twice' })).result?.isError).toBe(true)
    expect(requestsOf).toEqual([])
    const able = await connectLegacyRawClient(createFullServer(), '2025-11-25', {
      answer,
      capabilities: { elicitation: {}, roots: {} },
    })
    expect((await able.ask('tools/call', { name: 'twice' })).result?.content).toEqual([
      { type: 'text', text: 'file:///w' },
    ])
    expect(requestsOf).toEqual(['elicitation/create', 'roots/list'])
  })

  it('rejects unknown log levels, and subscriptions on servers without them [S-154]', async () => {
    const client = await connectLegacyRawClient(createFullServer())
    for (const level of ['loud', '', 5, undefined]) {
      expect((await client.ask('logging/setLevel', { level })).error?.code).toBe(-32602)
    }
    expect((await client.ask('logging/setLevel', { level: 'alert' })).result).toEqual({})
    expect((await client.ask('resources/subscribe', { uri: 'note://1' })).result).toEqual({})
    const plain = await connectLegacyRawClient(createServer({ name: 's', version: '1' }).resource('a:b', {}, 'x'))
    expect((await plain.ask('resources/subscribe', { uri: 'a:b' })).error?.code).toBe(-32601)
  })

  it('does not declare or support experimental tasks [S-155]', async () => {
    const client = connectRawClient(createFullServer())
    const { result } = await client.ask('initialize', hello('2025-11-25', { tasks: { list: {} } }))
    expect(result?.capabilities).not.toHaveProperty('tasks')
    for (const method of ['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel']) {
      expect((await client.ask(method, { taskId: 'x' })).error?.code).toBe(-32601)
    }
  })
})
