import type { Responder, Session } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { closeAll, connect, connectRaw, text } from './peers.fixture.ts'
import { createServer } from './server.ts'

/** The members that transports call. */
const asResponder = (server: Responder): Responder => server

const MODERN = '2026-07-28'
const build = () =>
  createServer({ name: 'modern', version: '1' }, { legacy: false }).tool('ask', {}, async (_, ctx) => {
    const answer = await ctx.elicit('name', { message: 'Who?', schema: { type: 'object', properties: {} } })
    return text(answer.action)
  })

describe('a server with `legacy: false`', () => {
  it('answers modern clients and sends them input requests', async () => {
    const peer = await connect(build(), MODERN, { 'elicitation/create': () => ({ action: 'decline' }) })
    expect(await peer.call('tools/call', { name: 'ask' })).toMatchObject(text('decline'))
    await closeAll()
  })

  it('rejects "initialize" with the supported revisions', async () => {
    const peer = await connectRaw(build())
    const params = { protocolVersion: 'x', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const error = await peer.raw('initialize', params)
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN] } })
    await closeAll()
  })

  it('has no sessions and sends no changes to them', async () => {
    const server = build()
    expect(asResponder(server).legacy).toBe(false)
    const sent: unknown[] = []
    const stop = await asResponder(server).watchChanges?.(
      { state: {} } as Session,
      async (message) => void sent.push(message),
    )
    server.removeTool('ask')
    await new Promise((resolve) => setTimeout(resolve, 5))
    stop?.()
    expect(sent).toEqual([])
    expect(
      await asResponder(server).sessionEnded?.({ state: { subscriptions: ['a:b'] } } as unknown as Session),
    ).toBeUndefined()
  })

  it('has all methods of a server, which return the server', () => {
    const server = build()
    expect(server.use((_request, _ctx, next) => next())).toBe(server)
    expect(server.resource('a:b', {}, '')).toBe(server)
    expect(server.prompt('p', {}, () => '')).toBe(server)
    expect(server.mount('inner', build())).toBe(server)
    expect(server.removePrompt('p')).toBe(true)
  })
})
