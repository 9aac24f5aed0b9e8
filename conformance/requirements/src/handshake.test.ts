import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectLegacy, connectWire, turn } from './wire.ts'

afterEach(closeAll)

const older = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const hello = (protocolVersion: string, capabilities = {}) => ({
  protocolVersion,
  capabilities,
  clientInfo: { name: 'wire', version: '1' },
})

describe('the handshake', () => {
  it.each([
    ...older.map((version) => [version, version]),
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['2031-01-01', '2025-11-25'],
    ['', '2025-11-25'],
  ])('that asks for %j is answered with %s [S-150]', async (asked, answered) => {
    const wire = connectWire(createFullServer({ instructions: 'Be brief' }))
    expect((await wire.ask('initialize', hello(asked))).result).toMatchObject({
      protocolVersion: answered,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'full', version: '1.0.0' },
      instructions: 'Be brief',
    })
  })

  it('is over before anything is told', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    await wire.ask('initialize', hello('2025-11-25', { roots: {}, elicitation: {} }))
    server.tool('late', {}, () => '')
    server.resourceUpdated('config://app')
    await turn(5)
    expect(wire.heard).toHaveLength(1)
  })

  it('may be preceded and followed by a ping, which is answered with nothing [S-153]', async () => {
    const wire = connectWire(createFullServer())
    for (const params of [undefined, {}]) {
      expect(await wire.ask('ping', params, 'p')).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
    }
    await wire.ask('initialize', hello('2025-06-18'))
    expect(await wire.ask('ping', undefined, 'q')).toEqual({ jsonrpc: '2.0', id: 'q', result: {} })
  })
})

describe('a session', () => {
  it.each(older)('of %s has the methods and members of that revision alone [S-152]', async (version) => {
    const wire = await connectLegacy(createFullServer(), version)
    for (const method of ['server/discover', 'subscriptions/listen', 'tasks/list']) {
      expect([method, (await wire.ask(method, {})).error?.code]).toEqual([method, -32601])
    }
    const { result } = await wire.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })
    for (const member of ['resultType', 'ttlMs', '_meta']) expect(result).not.toHaveProperty(member)
    expect(result?.structuredContent).toEqual(version < '2025-06-18' ? undefined : { text: 'hi' })
    const list = await wire.ask('tools/list', {})
    for (const member of ['resultType', 'ttlMs', 'cacheScope']) expect(list.result).not.toHaveProperty(member)
  })

  it('asks only what was declared in the handshake [S-152]', async () => {
    const asked: string[] = []
    const answer = (method: string) => {
      asked.push(method)
      return method === 'roots/list' ? { roots: [{ uri: 'file:///w' }] } : { action: 'decline' }
    }
    const bare = await connectLegacy(createFullServer(), '2025-11-25', { answer })
    expect((await bare.ask('tools/call', { name: 'twice' })).result?.isError).toBe(true)
    expect(asked).toEqual([])
    const able = await connectLegacy(createFullServer(), '2025-11-25', {
      answer,
      capabilities: { elicitation: {}, roots: {} },
    })
    expect((await able.ask('tools/call', { name: 'twice' })).result?.content).toEqual([
      { type: 'text', text: 'file:///w' },
    ])
    expect(asked).toEqual(['elicitation/create', 'roots/list'])
  })

  it('refuses levels that there are none, and subscriptions where none are offered [S-154]', async () => {
    const wire = await connectLegacy(createFullServer())
    for (const level of ['loud', '', 5, undefined]) {
      expect((await wire.ask('logging/setLevel', { level })).error?.code).toBe(-32602)
    }
    expect((await wire.ask('logging/setLevel', { level: 'alert' })).result).toEqual({})
    expect((await wire.ask('resources/subscribe', { uri: 'note://1' })).result).toEqual({})
    const plain = await connectLegacy(createServer({ name: 's', version: '1' }).resource('a:b', {}, 'x'))
    expect((await plain.ask('resources/subscribe', { uri: 'a:b' })).error?.code).toBe(-32601)
  })

  it('has no experimental tasks, and says so [S-155]', async () => {
    const wire = connectWire(createFullServer())
    const { result } = await wire.ask('initialize', hello('2025-11-25', { tasks: { list: {} } }))
    expect(result?.capabilities).not.toHaveProperty('tasks')
    for (const method of ['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel']) {
      expect((await wire.ask(method, { taskId: 'x' })).error?.code).toBe(-32601)
    }
  })
})
