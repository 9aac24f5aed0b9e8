import type { Context, Handler } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { deriveContext } from './index.ts'
import { closeAll, connect, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)
const MODERN = '2026-07-28'

describe('a derived context', () => {
  it('has the changed members and all others of the original', async () => {
    const inner: Handler['callTool'] = async (_, ctx) => {
      const { action } = await ctx.elicit('who', { message: 'Who?', schema: { type: 'object', properties: {} } })
      ctx.log.info('asked')
      return text([action, ctx.auth?.subject, ctx.signal.aborted, ctx.client.info?.name])
    }
    const server = oneTool((_, ctx) =>
      inner({ name: 't' }, deriveContext(ctx, { auth: { subject: 'ada', scopes: [] } })),
    )
    const peer = await connect(server, MODERN, { 'elicitation/create': () => ({ action: 'decline' }) })
    expect(await peer.call('tools/call', { name: 't' })).toMatchObject(text(['decline', 'ada', false, 'test']))
  })

  it('may be derived again, and assigned to a context', async () => {
    let seen: Context | undefined
    const server = oneTool((_, ctx) => {
      const once = deriveContext(ctx, { requestState: 'mine' })
      seen = deriveContext(once, { ...once, auth: { subject: 'bob', scopes: [] } })
      return text([seen.requestState, seen.auth?.subject, typeof seen.step, seen.signal === ctx.signal])
    })
    const peer = await connect(server, MODERN)
    expect(await peer.call('tools/call', { name: 't' })).toMatchObject(text(['mine', 'bob', 'function', true]))
  })
})
