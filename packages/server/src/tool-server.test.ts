import { REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, connect, connectRaw } from './peers.fixture.ts'
import { RegistrationError } from './index.ts'
import { info, testToolServer } from './tool-server.fixture.ts'
import { createServer } from './server.ts'
import { type ToolServerOptions } from './tools.ts'

afterEach(closeAll)

const MODERN = '2026-07-28'

for (const revision of REVISIONS) testToolServer('tools', createServer, revision)

describe('a server of tools alone', () => {
  it('has no more than a server of tools needs', () => {
    const server = createServer(info)
    for (const name of ['resource', 'prompt', 'mount', 'removeResource', 'removePrompt', 'resourceUpdated'])
      expect(name in server).toBe(false)
    expect(server.sessionEnded).toBeUndefined()
    expect(server.use((_request, _ctx, next) => next())).toBe(server)
    expect(server.tool('t', {}, () => '')).toBe(server)
    expect([server.removeTool('t'), server.removeTool('t')]).toEqual([true, false])
  })

  it('refuses a handler, which the types refuse as well', () => {
    const handler = { listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) } as ToolServerOptions
    expect(() => createServer(info, handler)).toThrow(RegistrationError)
  })

  it('reports what decides on who sees a tool, and fails', async () => {
    const faults: unknown[] = []
    const visible = () => {
      throw new Error('undecided')
    }
    const server = createServer(info, { onError: (error) => void faults.push(error) }).tool('t', { visible }, () => '')
    expect(await server.inputSchemaOf?.('t', { auth: undefined } as never)).toBeUndefined()
    expect(String(faults)).toBe('Error: undecided')
  })

  it('tells modern clients of its list, until it is closed', async () => {
    const server = createServer(info).tool('a', {}, () => '')
    const peer = await connect(server, MODERN)
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:b'] }
    const ended = peer.call('subscriptions/listen', { notifications }, { progress: true })
    await expect.poll(() => peer.heard.map(({ params }) => params?.notifications)).toEqual([{ toolsListChanged: true }])
    server.tool('b', {}, () => '')
    await expect.poll(() => peer.heard.at(-1)?.method).toBe('notifications/tools/list_changed')
    server.close()
    expect(await ended).toMatchObject({ resultType: 'complete' })
  })

  it('says which parameter of "subscriptions/listen" is wrong', async () => {
    const peer = await connect(createServer(info), MODERN)
    expect(await peer.call('subscriptions/listen', { notifications: 1 })).toMatchObject({
      message: 'params.notifications: expected object, got number',
    })
  })

  it('tells each session of a legacy client of its list', async () => {
    const server = createServer(info).tool('a', {}, () => '')
    const peer = await connect(server, '2025-11-25')
    server.tool('b', {}, () => '')
    await expect.poll(() => peer.heard.map(({ method }) => method)).toEqual(['notifications/tools/list_changed'])
  })

  it('keeps the log level of a session, and refuses what is none', async () => {
    const server = createServer(info).tool('t', {}, (_args, { log }) => log.info('written'))
    const peer = await connect(server, '2025-11-25')
    expect(await peer.call('logging/setLevel', { level: 'loud' })).toMatchObject({ code: -32602 })
    expect(await peer.call('logging/setLevel', { level: 'error' })).toEqual({})
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard).toEqual([])
  })

  it('says which parameter of "initialize" is wrong to older clients', async () => {
    const peer = await connectRaw(createServer(info))
    const error = await peer.raw('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    expect(error).toMatchObject({ code: -32602, message: 'params.clientInfo: expected object, got nothing' })
  })

  it('serves no older client when it is not to', async () => {
    const older = { protocolVersion: 'x', capabilities: {}, clientInfo: info }
    const server = createServer(info, { legacy: false })
    expect(server.legacy).toBe(false)
    const error = await (await connectRaw(server)).raw('initialize', older)
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN] } })
  })
})
