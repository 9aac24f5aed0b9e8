import { describe, expect, it } from 'vitest'
import { closeAll, connect, connectRaw, text } from './peers.fixture.ts'
import { createServer } from './server.ts'

const MODERN = '2026-07-28'
const build = () =>
  createServer({ name: 'modern', version: '1' }).tool('ask', {}, async (_, ctx) => {
    const answer = await ctx.elicit('name', { message: 'Who?', schema: { type: 'object', properties: {} } })
    return text(answer.action)
  })

describe('a server of the modern era alone', () => {
  it('answers modern clients, and asks them', async () => {
    const peer = await connect(build(), MODERN, { 'elicitation/create': () => ({ action: 'decline' }) })
    expect(await peer.call('tools/call', { name: 'ask' })).toMatchObject(text('decline'))
    await closeAll()
  })

  it('refuses "initialize", and says which revisions are served', async () => {
    const peer = await connectRaw(build())
    const params = { protocolVersion: 'x', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const error = await peer.raw('initialize', params)
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN] } })
    await closeAll()
  })

  it('has no feed that only the other era has', () => {
    const server = build()
    expect(server.watchChanges).toBeUndefined()
    expect(server.sessionEnded).toBeUndefined()
    expect(server.legacy).toBe(false)
  })

  it('has the methods of every server, each of which gives the server back', () => {
    const server = build()
    expect(server.use((_request, _ctx, next) => next())).toBe(server)
    expect(server.resource('a:b', {}, '')).toBe(server)
    expect(server.prompt('p', {}, () => '')).toBe(server)
    expect(server.mount('inner', build())).toBe(server)
    expect(server.removePrompt('p')).toBe(true)
  })
})
